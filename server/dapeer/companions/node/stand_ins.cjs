/**
 * Preloaded into a program (`node --require`), so that programs of other languages which it starts wait until dapeer debugs
 * them; the twin of `dapeer_debuggee/process/children.py`, which says what is in the variable.
 *
 * `companions/process/stand_in.py` runs in place of such a program, with the same pid, folder, environment and descriptors.
 */
'use strict';

const { ChildProcess } = require('node:child_process');
const { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } = require('node:fs');
const { basename, delimiter, resolve } = require('node:path');
const { apply, attempt, enter, set } = require('./patching.cjs');

const OWN = /^(?:node|nodejs)[\d.]*$/; // js-debug debugs these itself
const ELF_64 = '7f454c460201'; // of little-endian machines
const SECTIONS = ['.debug_info', '.zdebug_info'];
const MAX_FIRST_LINE = 256; // bytes of a script's first line that Linux reads
const IGNORED = '13,25'; // SIGPIPE and SIGXFSZ, which Python ignores and a child of Node.js does not
const DEFAULT_PATH = '/bin:/usr/bin';
const setting = JSON.parse(process.env.DAPEER_CHILDREN || 'null');

/** Return the `file` and `args` of a stand-in for what `options` of a spawn start; undefined: it is not for one. */
function standIn({ file, args, cwd, envPairs, uid, gid }) {
  const found = (uid ?? gid) == null && args?.length > 0 && executableOf(file, cwd || '.', envPairs || []);
  // Python may need its own libraries, and the program perhaps others.
  if (!found || loaderVariables(envPairs || []) !== loaderVariables(pairs(process.env))) {
    return undefined;
  }
  const { python, script, socket, seconds } = setting;
  return { file: python, args: [python, '-I', '-S', script, socket, String(seconds), IGNORED, found, ...args] };
}

/** Return the file that is executed for a name, as it is to be named in `cwd`, if it gets a stand-in. */
function executableOf(file, cwd, envPairs) {
  const named = envPairs.find((each) => each.startsWith('PATH='))?.slice(5) ?? DEFAULT_PATH;
  const tried = file.includes('/') ? [file] : named.split(delimiter).map((each) => `${each || '.'}/${file}`);
  const found = tried.find((each) => isExecutable(resolve(cwd, each)));
  return found !== undefined && isWanted(resolve(cwd, found)) ? found : undefined;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Whether a file is a program that dapeer wants to debug. */
function isWanted(file) {
  let opened;
  try {
    opened = openSync(file, 'r');
    const head = bytesAt(opened, 0, MAX_FIRST_LINE);
    const names = [basename(file), basename(realpathSync(file)), interpreterIn(head)];
    if (names.some((each) => OWN.test(each))) {
      return false;
    }
    const told = setting.names && new RegExp(`^(?:${setting.names})$`);
    return (told && names.some((each) => told.test(each))) || (setting.native && hasLineNumbers(opened, head));
  } catch {
    return false;
  } finally {
    if (opened !== undefined) {
      closeSync(opened);
    }
  }
}

/** Return the name of the interpreter in a script's first line, without its folder; empty: it is no script. */
function interpreterIn(head) {
  const line = head.toString('utf8').split('\n')[0];
  const words = line.startsWith('#!') ? line.slice(2).split(/\s+/) : [];
  const names = words.filter((each) => each && !each.startsWith('-') && !each.includes('=')).map((each) => basename(each));
  return names.find((each) => each !== 'env') ?? '';
}

/** Whether an open file is a program of 64 bits with line numbers. */
function hasLineNumbers(opened, head) {
  if (head.toString('hex', 0, 6) !== ELF_64) {
    return false;
  }
  const size = head.readUInt16LE(0x3a);
  const names = Number(head.readBigUInt64LE(0x28)) + head.readUInt16LE(0x3e) * size;
  const section = bytesAt(opened, names, size);
  const found = bytesAt(opened, Number(section.readBigUInt64LE(0x18)), Number(section.readBigUInt64LE(0x20)));
  return found.toString('latin1').split('\0').some((each) => SECTIONS.includes(each));
}

function bytesAt(opened, place, length) {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(opened, bytes, 0, length, place));
}

/** Return the pairs of an environment by which the system loads libraries. */
function loaderVariables(given) {
  return given.filter((each) => each.startsWith('LD_')).sort().join('\0');
}

function pairs(environment) {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`);
}

/** Have a function that gets the options of a spawn start stand-ins; `told` is called with the object and the program's own options. */
function swapIn(row, owner, name, told) {
  const stock = owner[name];
  if (typeof stock !== 'function') {
    throw new Error(`there is no function ${name}`);
  }
  set(row, owner, name, function (options, ...rest) {
    const swapped = attempt(row, () => standIn(options));
    if (swapped === undefined) {
      return Reflect.apply(stock, this, [options, ...rest]);
    }
    const { file, args } = options;
    try {
      return Reflect.apply(stock, this, [Object.assign(options, swapped), ...rest]);
    } finally {
      Object.assign(options, { file, args });
      told?.(this, { file, args });
    }
  });
}

/** Return what Node.js itself calls to start a process and wait for it; throw where the program would be warned that this is old. */
function synchronous() {
  const words = [process.env.NODE_OPTIONS, ...process.execArgv].join(' ');
  if (process.env.NODE_PENDING_DEPRECATION === '1' || words.includes('--pending-deprecation')) {
    throw new Error('it would print a warning, as --pending-deprecation asks');
  }
  return process.binding('spawn_sync');
}

if (setting) {
  const others = { whose: 'Node.js', tried: ['20', '22'] };
  apply(
    enter({
      name: 'js-children',
      lost: 'Programs of other languages that the program starts are not debugged.',
      ...others,
      apply(row) {
        accessSync(setting.python, constants.X_OK);
        swapIn(row, ChildProcess.prototype, 'spawn', (started, { file, args }) => {
          started.spawnfile = file;
          started.spawnargs = args;
        });
      },
    }),
  );
  apply(
    enter({
      name: 'js-children-awaited',
      lost: 'Programs of other languages that the program starts by spawnSync, execSync or execFileSync are not debugged.',
      ...others,
      apply(row) {
        accessSync(setting.python, constants.X_OK);
        swapIn(row, synchronous(), 'spawn');
      },
    }),
  );
}
