'use strict'
const asyncHooks = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const { syncBuiltinESMExports } = require('node:module')
const { Readable } = require('node:stream')
const { apply, defineProperty, free, getPrototypeOf, hold, isCalledByRunner, pin, startsWith } = require('./freeze.cjs')
const { keepProperties, ownKeys } = require('./freeze.cjs')

const { getOwnPropertyDescriptor, hasOwn } = Object
const { emit } = EventEmitter.prototype
const { push } = Readable.prototype
const isParentOf = free(Object.prototype.isPrototypeOf)
const has = free(WeakSet.prototype.has)
const add = free(WeakSet.prototype.add)
const mayForceExit = `${process.env.NODE_OPTIONS} ${process.execArgv}`.includes('--test-force-exit')

/** Counts what node:test itself reports, where it reports it, and keeps the project away from its internal objects. */
function watchHarness() {
  const seen = { begun: 0, ended: 0, failed: 0 }
  hideTests()
  closeInspector()
  closeObjectPrototype()
  const captured = new WeakSet()
  const watching = (on) =>
    function (event) {
      const isReport = typeof event === 'string' && startsWith(event, 'test:')
      if (isReport && !has(captured, this) && isCalledByRunner()) {
        add(captured, this)
        capture(this, seen)
      }
      // biome-ignore lint/complexity/noArguments: spreading asks an iterator, which can be replaced.
      return apply(on, this, arguments)
    }
  hold(Readable.prototype, 'on', watching)
  return {
    isTestFile: true,
    mayExit: () => mayForceExit && isCalledByRunner(),
    problem: () => {
      if (seen.failed > 0) return ''
      return seen.ended < seen.begun ? `${seen.begun - seen.ended} tests did not end` : null
    },
  }
}

function capture(reporter, seen) {
  keepProperties(getPrototypeOf(reporter))
  defineProperty(reporter, 'push', { value: push })
  defineProperty(reporter, 'emit', {
    value(type, data) {
      const isTodo = data?.todo !== undefined && data.todo !== false
      if (type === 'test:enqueue') seen.begun++
      if (type === 'test:pass' || type === 'test:fail') seen.ended++
      if (type === 'test:fail' && !isTodo) seen.failed++
      // biome-ignore lint/complexity/noArguments: spreading asks an iterator, which can be replaced.
      return apply(emit, this, arguments)
    },
  })
}

// Tests are resources of async_hooks: code that gets hold of one could replace the function it runs.
function hideTests() {
  const { AsyncResource, createHook, executionAsyncResource } = asyncHooks
  const isTest = (value) => {
    if (!isParentOf(AsyncResource.prototype, value)) return false
    const { name } = value.constructor ?? {}
    return name === 'Test' || name === 'Suite' || name === 'TestHook' || name === 'FileTest'
  }
  createHook({
    init(_id, _type, _trigger, resource) {
      if (isTest(resource)) pinTest(resource, AsyncResource.prototype)
    },
  }).enable()
  for (const name of ownKeys(AsyncResource.prototype)) pin(AsyncResource.prototype, name, AsyncResource.prototype[name])
  Object.preventExtensions(AsyncResource.prototype)
  pin(asyncHooks, 'createHook', (callbacks) => {
    const init = callbacks?.init
    if (typeof init !== 'function') return createHook(callbacks)
    return createHook({
      ...callbacks,
      init(id, type, trigger, resource) {
        return apply(init, this, [id, type, trigger, isTest(resource) ? {} : resource])
      },
    })
  })
  pin(asyncHooks, 'executionAsyncResource', () => {
    const resource = executionAsyncResource()
    return isTest(resource) ? {} : resource
  })
  syncBuiltinESMExports()
}

// Code that finds a test anyway can neither replace its function nor make it forget that it failed.
function pinTest(test, end) {
  if (test.constructor.name !== 'Test') return
  for (let level = getPrototypeOf(test); level !== end && level !== null; level = getPrototypeOf(level)) {
    const names = ownKeys(level)
    for (let index = 0; index < names.length; index++) {
      const name = names[index]
      const value = getOwnPropertyDescriptor(level, name)?.value
      if (name !== 'constructor' && typeof value === 'function' && !hasOwn(test, name))
        defineProperty(test, name, { value: name === 'fail' ? failing(value) : value })
    }
  }
  let fn
  defineProperty(test, 'fn', {
    get: () => fn,
    set(value) {
      fn ??= value
    },
  })
}

function failing(fail) {
  return function (error) {
    const result = apply(fail, this, [error])
    if (this.passed === false && this.error !== null) {
      pin(this, 'passed', false)
      pin(this, 'error', this.error)
    }
    return result
  }
}

// An inspector reads and sets the variables of any function.
function closeInspector() {
  if (!process.features.inspector) return
  const { Session } = require('node:inspector')
  for (const name of ['connect', 'connectToMainThread'])
    if (typeof Session.prototype[name] === 'function')
      pin(Session.prototype, name, () => {
        throw new Error('phaselock: the inspector is not available in an observed test run')
      })
}

// A setter on Object.prototype would see every field that the runner sets. Libraries in the style of "should" keep
// working.
function closeObjectPrototype() {
  if (!hasOwn(Object.prototype, 'should'))
    defineProperty(Object.prototype, 'should', { value: undefined, writable: true, configurable: true })
  Object.preventExtensions(Object.prototype)
}

module.exports = { watchHarness, closeInspector, closeObjectPrototype }
