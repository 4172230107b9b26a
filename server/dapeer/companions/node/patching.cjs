/**
 * The register of what dapeer changes in other people's JavaScript; the twin of `dapeer_debuggee/patching.py`.
 *
 * A row has `name`, `whose`, `tried` (versions), `lost` (one sentence) and `apply`, which throws where its probe does not hold; `secures`
 * where others can reach the program without it, which is told even where the user has switched it off. Where a
 * replaced function of ours throws, the stock one does the work, and the row is off from then on. Each row that is off is written to
 * stderr, of an adapter's process or of the program, where dapeer reads it.
 */
'use strict';

const { ChildProcess } = require('node:child_process');
const fs = require('node:fs');
const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads');

const MARK = 'dapeer-patch-off ';
const WORD = 'DAPEER_WORD';
// The word by which dapeer knows a line of ours from one that the program prints; the program does not get it.
const word = [process.env[WORD], getEnvironmentData(WORD)].find((each) => /^[0-9a-f]+$/.test(each));
delete process.env[WORD];
const rows = [];
const undoes = new Map();

/** Whether the user runs without a row. */
function isSwitchedOff(name) {
  const words = (process.env.DAPEER_PATCHES || '').split(/[\s,]+/);
  return words.includes('off') || words.includes(`-${name}`);
}

/** Enter a row, and return it. */
function enter(row) {
  const made = { ...row, off: 'unused: what it changes is not loaded' };
  rows.push(made);
  undoes.set(made, []);
  return made;
}

/** Apply a row; `given` is what it changes. */
function apply(row, ...given) {
  if (isSwitchedOff(row.name)) {
    row.off = 'switched off by DAPEER_PATCHES';
    if (row.secures) {
      tell(row, row.off);
    }
    return;
  }
  row.off = '';
  try {
    row.apply(row, ...given);
  } catch (error) {
    undo(row);
    fail(row, error);
  }
}

/** Switch a row off for what one of its functions has thrown. */
function fail(row, error) {
  if (row.off) {
    return;
  }
  row.off = `failed: ${error}`;
  tell(row, String(error).slice(0, 300));
}

function tell({ name, lost }, why) {
  if (!word) {
    return;
  }
  try {
    fs.writeSync(2, `\n${MARK}${word} ${JSON.stringify({ name, lost, why })}\n`);
  } catch {
    // A program may have closed it.
  }
}

/** Return what a function of ours makes; `stock` where that throws, and from then on. */
function attempt(row, make, stock) {
  if (row.off) {
    return stock;
  }
  try {
    return make();
  } catch (error) {
    fail(row, error);
    return stock;
  }
}

/** Set a property of other software until the row is undone. */
function set(row, owner, name, value) {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  owner[name] = value;
  undoes.get(row).push(() => (before ? Object.defineProperty(owner, name, before) : delete owner[name]));
}

/** Replace a function: `ours` gets the stock one, the object, and the arguments. */
function replace(row, owner, name, ours) {
  const stock = owner[name];
  if (typeof stock !== 'function') {
    throw new Error(`there is no function ${name}`);
  }
  set(row, owner, name, function (...given) {
    if (row.off) {
      return Reflect.apply(stock, this, given);
    }
    const done = [];
    const thrown = [];
    const original = (self, passed) => {
      try {
        done[0] = Reflect.apply(stock, self, passed);
      } catch (error) {
        thrown.push(error);
        throw error;
      }
      return done[0];
    };
    try {
      return ours(original, this, given);
    } catch (error) {
      if (thrown.length > 0) {
        throw thrown[0];
      }
      fail(row, error);
      return done.length > 0 ? done[0] : Reflect.apply(stock, this, given);
    }
  });
}

/** Put back what was there. */
function undo(row) {
  for (const each of undoes.get(row).reverse()) {
    each();
  }
}

/** Give the word to threads and processes of Node.js that are started from here: runners have tests in them. */
function passOn(row) {
  const { spawn } = ChildProcess.prototype;
  setEnvironmentData(WORD, word);
  set(row, ChildProcess.prototype, 'spawn', function (options, ...rest) {
    attempt(row, () => {
      if (word && options.file === process.execPath) {
        options.envPairs = [...options.envPairs, `${WORD}=${word}`];
      }
    });
    return Reflect.apply(spawn, this, [options, ...rest]);
  });
}

/** Return all rows, as `dapeer doctor --patches` shows them. */
function listed() {
  return rows.map(({ name, whose, tried, lost, off }) => ({ name, whose, tried: tried.join(' to '), lost, off }));
}

module.exports = { apply, attempt, enter, fail, listed, passOn, replace, set };
