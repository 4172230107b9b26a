// The live page: what programs collect, as it comes. Values are the programs' own, so all of them are set as text, never
// as HTML.
const SVG = 'http://www.w3.org/2000/svg';
const form = document.querySelector('form');
const note = document.querySelector('#note');

function made(name, text, ...inside) {
  const element = document.createElement(name);
  element.textContent = text;
  element.append(...inside);
  return element;
}

function short(number) {
  return Number.isInteger(number) ? number : Number(number.toPrecision(6));
}

// What stands under the mouse: a plot by its name, and a share of its width. The plots are made anew as rows come.
let pointed = { name: '', share: 0 };

// Tells the numbers of the place under the mouse, else of which hits the plot is.
function tell(name, { low, high, band, hits }, caption, mark) {
  const own = pointed.name === name;
  const place = Math.min(band.length - 1, Math.floor(pointed.share * band.length));
  mark.setAttribute('d', own ? `M${place} 0L${place} 100` : '');
  if (!own) {
    caption.textContent = `#${hits[0]} … #${hits.at(-1)}; ${short(low)} … ${short(high)}`;
    return;
  }
  const end = place + 1 < band.length ? hits[place + 1] - 1 : hits.at(-1);
  const rows = end > hits[place] ? `#${hits[place]} … #${end}` : `#${hits[place]}`;
  const [least, most] = band[place] ?? [];
  const numbers = least === most ? [least] : [least, most];
  caption.textContent = `${rows}: ${band[place] ? numbers.map(short).join(' … ') : 'no number'}`;
}

// A line up and down between the least and the greatest number at each place; none where there is no number.
function plot(title, one) {
  const { name, low, high, band } = one;
  const [drawing, path, mark] = ['svg', 'path', 'path'].map((kind) => document.createElementNS(SVG, kind));
  const y = (number) => (high === low ? 50 : 98 - ((number - low) / (high - low)) * 96);
  let pen = 'M';
  const steps = band.map((step, x) => {
    if (!step) {
      pen = 'M';
      return '';
    }
    const line = `${pen}${x} ${y(step[0])}L${x} ${y(step[1])}`;
    pen = 'L';
    return line;
  });
  path.setAttribute('d', steps.join(''));
  drawing.setAttribute('viewBox', `0 0 ${Math.max(1, band.length - 1)} 100`);
  drawing.setAttribute('preserveAspectRatio', 'none');
  drawing.append(path, mark);
  mark.setAttribute('class', 'mark');
  const caption = made('p', '');
  const key = `${title} ${name}`;
  const point = (to) => {
    pointed = to;
    tell(key, one, caption, mark);
  };
  drawing.addEventListener('pointermove', ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect();
    point({ name: key, share: Math.max(0, (clientX - left) / width) });
  });
  drawing.addEventListener('pointerleave', () => point({ name: '', share: 0 }));
  tell(key, one, caption, mark);
  return [made('h3', name), drawing, caption];
}

// A long fraction is short; the mouse shows all of it.
function cell(kind, text) {
  const element = made(kind, /^-?\d+\.\d{6,}(e[-+]?\d+)?$/.test(text) ? short(Number(text)) : text);
  element.title = text;
  return element;
}

function point(key, { title, plots, columns, rows, why }) {
  const cells = (row, kind) => made('tr', '', ...row.map((text) => cell(kind, text)));
  const all = rows.map((row, index) => {
    const line = cells(why[index] ? [...row, `← ${why[index]}`] : row, 'td');
    line.className = why[index] ? 'odd' : '';
    return line;
  });
  const table = made('table', '', cells(['', ...columns], 'th'), ...all);
  return [made('h3', title), ...plots.flatMap((each) => plot(key, each)), table];
}

function show({ programs }) {
  note.textContent = programs.length ? '' : 'No program runs yet.';
  const shown = programs.flatMap(({ name, state, place, awaited, points }) => [
    made('h2', `${name} (${state})`),
    ...(place ? [made('h3', place)] : []),
    ...(points.length || awaited.length ? [] : [made('h3', 'It collects nothing.')]),
    ...awaited.map((each) => made('h3', `${each}: no rows yet`)),
    ...points.flatMap((each, index) => point(`${name} ${index}`, each)),
  ]);
  document.querySelector('main').replaceChildren(...shown);
}

async function read(token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch('/live/rows', { headers });
  form.hidden = answer.status !== 401;
  if (!answer.ok) {
    const asks = token
      ? 'This token is wrong. The server has printed which file holds it.'
      : 'The server asks for its token. It has printed which file holds it.';
    note.textContent = answer.status === 401 ? asks : `The server answers ${answer.status}.`;
    return;
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n');
    rest = lines.pop();
    lines.forEach((line) => show(JSON.parse(line)));
  }
  note.textContent = 'The server has ended.';
}

function begin(token) {
  read(token).catch(() => {
    note.textContent = 'The server has ended.';
  });
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  begin(form.querySelector('input').value);
});
// Behind the `#`, the token is in no request and in no log; nor in the address any longer.
const token = location.hash.slice(1);
history.replaceState(null, '', '/live');
begin(token);
