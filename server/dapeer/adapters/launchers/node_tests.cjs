/**
 * Preloaded into a runner of JavaScript tests (`node --require`), so that a debugger which stops at
 * uncaught errors stops where a test fails.
 *
 * A runner catches what its tests throw. V8 says at the throw whether anything is going to catch it: it
 * looks at the `try` blocks around it, and at who handles the promise of the async function that it is in.
 * So each test and each hook is run in an async function whose promise nobody handles until it is
 * settled. What a test catches itself, in a `try` or an assertion like `toThrow`, stays caught.
 * Where a runner's inside is not what this knows, tests only run.
 */
'use strict';

const { AsyncResource } = require('node:async_hooks');
const Module = require('node:module');

// Captured: tests replace them by timers of their own.
const soon = queueMicrotask;
const NEVER = 2 ** 31 - 1; // milliseconds: a person who looks at a test takes their time
const ours = new WeakSet();

/**
 * Return a function that does as `test`; `arity` is how many arguments the runner gives it, a callback
 * not counted. With `fail` an error is told there, and to nobody else.
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

/** Return what runs a test in its own realm: V8 does not follow the promises of one realm into another. */
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

/** Return a function with a promise in place of the callback that `test` takes last. */
function promised(test) {
  return function (...given) {
    return new Promise((resolve, reject) => {
      test.call(this, ...given, (error) => (error ? reject(error) : resolve()));
    });
  };
}

/** node:test runs each test and hook in an asynchronous scope of its own. */
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

/** Return a function with a callback in place of its promise. */
function withCallback(run) {
  return function (context, callback) {
    run.call(this, context).then(() => callback());
  };
}

/** Return what makes a test fail; a rejection, passed on by the runner's promises, would count as one more that nobody handles. */
function failing(test) {
  return (error) => {
    test.pass = () => {
      throw error;
    };
  };
}

/** Mocha runs each test and hook by the same method. */
function inMocha({ prototype }) {
  const { run } = prototype;
  prototype.run = function (...given) {
    this.fn = shown(this.fn);
    this.async = 0;
    return Reflect.apply(run, this, given);
  };
}

/** Jest tells the environment of a file's tests what it is about to do. */
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

/** Vitest keeps what a test does in a weak map, by the test. */
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
    // An object that objects to being looked at.
  }
  return loaded;
};
inNode();
inVitest();
