/**
 * Preloaded into a runner of JavaScript tests (`node --require`), so that a debugger which stops at
 * uncaught errors stops where a test fails.
 *
 * A runner catches what its tests throw. V8 predicts at the throw whether an error will be caught: it looks
 * for `try` blocks around it, and for handlers on the promise of the async function around it. So each test
 * and each hook runs in an async function whose promise has no handler until it is settled. What a test
 * catches itself, in a `try` or an assertion like `toThrow`, stays caught. In a runner of another structure
 * the tests just run.
 */
'use strict';

const { AsyncResource } = require('node:async_hooks');
const Module = require('node:module');

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
      const running = body(() => called.apply(this, given), settled);
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

/** Patch node:test, which runs each test and hook in an async scope of its own. */
function inNode() {
  const { runInAsyncScope } = AsyncResource.prototype;
  AsyncResource.prototype.runInAsyncScope = function (fn, ...rest) {
    const wanted = ['Test', 'TestHook'].includes(this.constructor.name) && !this.isTodo;
    if (!wanted) {
      return Reflect.apply(runInAsyncScope, this, [fn, ...rest]);
    }
    const run = shown(fn, 1, failing(this));
    return Reflect.apply(runInAsyncScope, this, [fn.length > 1 ? withCallback(run) : run, ...rest]);
  };
}

/** Return a function that takes a callback where `run` returns a promise. */
function withCallback(run) {
  return function (context, callback) {
    run.call(this, context).then(() => callback());
  };
}

/** Return a function that makes a test fail. A rejection would be a second unhandled error. */
function failing(test) {
  return (error) => {
    test.pass = () => {
      throw error;
    };
  };
}

/** Patch Mocha, which runs each test and hook by the same method. */
function inMocha({ prototype }) {
  const { run } = prototype;
  prototype.run = function (...given) {
    this.fn = shown(this.fn);
    this.async = 0;
    return Reflect.apply(run, this, given);
  };
}

/** Patch Jest, which sends events of its tests to a test environment. */
function inJest({ prototype }) {
  const { handleTestEvent } = prototype;
  prototype.handleTestEvent = async function (event, state) {
    const starting = { test_start: event.test, hook_start: event.hook }[event.name];
    if (starting !== undefined && !starting.failing) {
      starting.fn = shown(starting.fn);
      starting.timeout = NEVER;
    }
    await handleTestEvent?.call(this, event, state);
  };
}

/** Patch Vitest, which keeps the function of a test in a weak map. */
function inVitest() {
  const { set } = WeakMap.prototype;
  WeakMap.prototype.set = function (key, value) {
    const test = typeof value === 'function' && 'mode' in key && 'each' in key && !key.fails;
    return Reflect.apply(set, this, [key, test ? shown(value, 1) : value]);
  };
}

const known = new WeakSet();

function adapt(loaded) {
  const isFunction = typeof loaded === 'function';
  const environment = loaded?.TestEnvironment;
  const target = isFunction && loaded.name === 'Runnable' ? loaded : environment;
  if (typeof target !== 'function' || known.has(target)) {
    return;
  }
  known.add(target);
  (target === environment ? inJest : inMocha)(target);
}

const load = Module._load;
Module._load = function (...given) {
  const loaded = Reflect.apply(load, this, given);
  try {
    adapt(loaded);
  } catch {
    // A module may throw when its properties are read.
  }
  return loaded;
};
inNode();
inVitest();
