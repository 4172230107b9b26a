/**
 * Preloaded into a runner of JavaScript tests (`node --require`), so that a debugger which stops at
 * uncaught errors stops where a test fails.
 *
 * A runner catches what its tests throw. V8 predicts at the throw whether an error will be caught: it looks
 * for `try` blocks around it, and for handlers on the promise of the async function around it. So each test
 * and each hook runs in an async function whose promise has no handler until it is settled. What a test
 * catches itself, in a `try` or an assertion like `toThrow`, stays caught. In a runner of another structure
 * the tests just run.
 *
 * Each change is a row of `patching.cjs`. A test never runs within its `try`, which V8 would take for one that catches.
 */
'use strict';

const { AsyncResource } = require('node:async_hooks');
const { EventEmitter } = require('node:events');
const Module = require('node:module');
const { apply, attempt, enter, passOn, set } = require('./patching.cjs');

// Captured, because tests may replace it by a fake timer.
const soon = queueMicrotask;
const NEVER = 2 ** 31 - 1; // milliseconds: a person who looks at a test takes their time
const ours = new WeakSet();

/**
 * Return a function that runs `test` so that V8 sees its errors as uncaught. `arity` is the number of arguments
 * that the runner passes, without a callback. With `fail`, errors are reported to that function only.
 */
function shown(test, arity = 0, fail = undefined) {
  if (typeof test !== 'function' || ours.has(test) || test.constructor.name === 'GeneratorFunction') {
    return test;
  }
  const called = test.length > arity ? promised(test) : test;
  const body = bodyOf(test.constructor.constructor);
  function run(...given) {
    return new Promise((resolve, reject) => {
      const failed = fail ? (error) => resolve(fail(error)) : reject;
      const settled = () => soon(() => running.then(resolve, failed));
      let running;
      // Since Node.js 22 V8 also looks for a `try` in the callers, the runner's: here there are none.
      soon(() => {
        running = body(() => called.apply(this, given), settled);
      });
    });
  }
  ours.add(run);
  return run;
}

/** Return a function that runs a test in the test's own realm: V8 does not follow promises across realms. */
function bodyOf(realm) {
  if (!bodies.has(realm)) {
    bodies.set(realm, realm(`return ${BODY}`)());
  }
  return bodies.get(realm);
}

const bodies = new Map();
const BODY = `async (test, settled) => {
  try {
    return await test();
  } finally {
    settled();
  }
}`;

/** Return a function that returns a promise where `test` takes a callback as its last argument. */
function promised(test) {
  return function (...given) {
    return new Promise((resolve, reject) => {
      test.call(this, ...given, (error) => (error ? reject(error) : resolve()));
    });
  };
}

/** Enter the row of a runner: its tests stop where they fail. */
function row(whose, tried, patch) {
  return enter({ name: `tests-of-${whose}`, whose, tried, lost: `The program does not stop where a test of ${whose} fails.`, apply: patch });
}

/** Patch node:test, which runs each test and hook in an async scope of its own. */
function inNode(row) {
  const { runInAsyncScope } = AsyncResource.prototype;
  set(row, AsyncResource.prototype, 'runInAsyncScope', function (fn, ...rest) {
    const run = attempt(row, () => (isTest(this) ? ofNode(row, fn, this) : fn), fn);
    return Reflect.apply(runInAsyncScope, this, [run, ...rest]);
  });
}

/** Whether an async scope of node:test's runs a test or hook whose failure counts. */
function isTest(scope) {
  return ['Test', 'TestHook'].includes(scope.constructor.name) && !scope.isTodo;
}

/** Return what runs a test of node:test instead of it. */
function ofNode(row, fn, test) {
  const run = shown(fn, 1, failing(row, test));
  return fn.length > 1 ? withCallback(run) : run;
}

/** Return a function that takes a callback where `run` returns a promise. */
function withCallback(run) {
  return function (context, callback) {
    run.call(this, context).then(() => callback());
  };
}

/** Return a function that makes a test fail. A rejection would be a second unhandled error. */
function failing(row, test) {
  return (error) => {
    test.pass = () => {
      throw error;
    };
  };
}

/** Patch Mocha, which runs each test and hook by the same method. */
function inMocha(row, { prototype }) {
  const { run } = prototype;
  set(row, prototype, 'run', function (...given) {
    attempt(row, () => {
      this.fn = shown(this.fn);
      this.async = 0;
    });
    return Reflect.apply(run, this, given);
  });
}

/** Patch Jest, which sends events of its tests to a test environment. */
function inJest(row, { prototype }) {
  const { handleTestEvent } = prototype;
  set(row, prototype, 'handleTestEvent', async function (event, state) {
    attempt(row, () => {
      const starting = { test_start: event.test, hook_start: event.hook }[event.name];
      if (starting !== undefined && !starting.failing) {
        starting.fn = shown(starting.fn);
        starting.timeout = NEVER;
      }
    });
    await handleTestEvent?.call(this, event, state);
  });
}

/**
 * Patch Vitest: what makes a test is called by `test.apply`, through a chain that has its properties (`test.only.each`, say).
 * `beforeAll` and `beforeEach` note on each hook how long its result may take.
 */
function inVitest(row) {
  const { assign } = Object;
  const hook = Symbol.for('VITEST_CLEANUP_TIMEOUT');
  set(row, Object, 'assign', function (chain, ...sources) {
    const changed = attempt(row, () => {
      const [makes] = sources;
      if (typeof chain === 'function' && Object.getOwnPropertySymbols(Object(makes)).includes(hook)) {
        return shown(chain, Infinity);
      }
      if (typeof makes === 'function' && typeof chain === 'function' && makes.skipIf && makes.extend) {
        Object.defineProperty(makes, 'apply', { value: makesTests(row), configurable: true });
      }
      return chain;
    }, chain);
    return Reflect.apply(assign, this, [changed, ...sources]);
  });
}

/** Return the `apply` of what makes a test of Vitest. */
function makesTests(row) {
  return function (context, given) {
    const wanted = () => {
      const fails = context?.fails || given.some((each) => each?.fails);
      return fails ? given : given.map((each, place) => (place > 0 ? disguised(each) : each));
    };
    return Reflect.apply(this, context, attempt(row, wanted, given));
  };
}

/** Return a function that runs `test` so, and looks like it: Vitest reads its text, and notes things on it. */
function disguised(test) {
  const run = shown(test, 1);
  if (run !== test) {
    const { prototype: _, ...own } = Object.getOwnPropertyDescriptors(test);
    Object.defineProperties(run, own);
    Object.defineProperty(run, 'toString', { value: () => Function.prototype.toString.call(test) });
  }
  return run;
}

const known = new WeakSet();

/** Patch what a runner has, once. */
function adapt(runner, target) {
  if (typeof target === 'function' && !known.has(target)) {
    known.add(target);
    apply(runner, target);
  }
}

/** Look at each test that Mocha tells of before it runs: Mocha's modules are of several kinds. */
function watchEvents(row) {
  const { emit } = EventEmitter.prototype;
  set(row, EventEmitter.prototype, 'emit', function (name, ...given) {
    attempt(row, () => {
      if (name === 'test' || name === 'hook') {
        adapt(mocha, ancestors(given[0]).find((each) => each.name === 'Runnable'));
      }
    });
    return Reflect.apply(emit, this, [name, ...given]);
  });
}

/** Return the classes of an object, its own first. */
function ancestors(object) {
  const found = [];
  for (let each = Object(object); each !== null; each = Object.getPrototypeOf(each)) {
    const own = Object.getOwnPropertyDescriptor(each, 'constructor')?.value;
    found.push(...(typeof own === 'function' ? [own] : []));
  }
  return found;
}

/** Look at each module that is loaded: it may be Jest's. */
function watchModules(row) {
  const load = Module._load;
  set(row, Module, '_load', function (...given) {
    const loaded = Reflect.apply(load, this, given);
    try {
      adapt(jest, loaded?.TestEnvironment);
    } catch {
      // A module may throw when its properties are read.
    }
    return loaded;
  });
}

const jest = row('Jest', ['30'], inJest);
const mocha = row('Mocha', ['11', '12'], inMocha);
apply(enter({ name: 'tests-told', whose: 'Node.js', tried: ['20', '22'], lost: 'What is off in a process of a test runner is not told.', apply: passOn }));
apply(row('node:test', ['20', '22'], inNode));
apply(row('Vitest', ['3', '5'], inVitest));
apply(row('runners', ['20', '22'], watchModules));
apply(row('events', ['20', '22'], watchEvents));
