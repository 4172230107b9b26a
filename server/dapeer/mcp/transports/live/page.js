// The live page: what programs collect, as it comes. Values are the programs' own, so all of them are set as text, never
// as HTML.
const SVG = 'http://www.w3.org/2000/svg';
const form = document.querySelector('form');
const note = document.querySelector('p');

function made(name, text, ...inside) {
  const element = document.createElement(name);
  element.textContent = text;
  element.append(...inside);
  return element;
}

// A line up and down between the least and the greatest number at each place; none where there is no number.
function plot({ name, low, high, band }) {
  const drawing = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
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
  drawing.append(path);
  return [made('h3', `${name}: ${low} … ${high}`), drawing];
}

function point({ title, plots, columns, rows }) {
  const cells = (row, kind) => made('tr', '', ...row.map((text) => made(kind, text)));
  const table = made('table', '', cells(['', ...columns], 'th'), ...rows.map((row) => cells(row, 'td')));
  return [made('h3', title), ...plots.flatMap(plot), table];
}

function show({ programs }) {
  note.textContent = programs.length ? '' : 'Nothing was collected yet.';
  const shown = programs.flatMap(({ name, state, points }) => [made('h2', `${name} (${state})`), ...points.flatMap(point)]);
  document.querySelector('main').replaceChildren(...shown);
}

async function read(token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch('/live/rows', { headers });
  form.hidden = answer.status !== 401;
  if (!answer.ok) {
    note.textContent = answer.status === 401 ? 'The server asks for its token.' : `The server answers ${answer.status}.`;
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
