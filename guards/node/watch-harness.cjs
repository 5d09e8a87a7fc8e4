'use strict'
const asyncHooks = require('node:async_hooks')
const { syncBuiltinESMExports } = require('node:module')
const { EventEmitter } = require('node:events')
const { Readable } = require('node:stream')
const { hold, isCalledByRunner, keepProperties, pin } = require('./freeze.cjs')

/** Counts what node:test itself reports, at the place where it reports it, and keeps the project away from its inner objects. */
function watchHarness() {
  const seen = { begun: 0, ended: 0, failed: 0 }
  hideTests()
  closeInspector()
  closeObjectPrototype()
  const captured = new WeakSet()
  hold(
    Readable.prototype,
    'on',
    (on) =>
      function (event, ...rest) {
        const isReport = typeof event === 'string' && event.startsWith('test:')
        if (isReport && !captured.has(this) && isCalledByRunner()) {
          captured.add(this)
          capture(this, seen)
        }
        return Reflect.apply(on, this, [event, ...rest])
      },
  )
  return {
    isTestFile: true,
    mayExit: isForcedByRunner,
    /** Why the run of this file cannot count as passed; null when nothing is known against it. */
    problem: () => {
      if (seen.failed > 0) return `${seen.failed} tests failed`
      return seen.ended < seen.begun ? `${seen.begun - seen.ended} tests did not end` : null
    },
  }
}

function isForcedByRunner() {
  const options = `${process.env.NODE_OPTIONS ?? ''} ${process.execArgv.join(' ')}`
  return options.includes('--test-force-exit') && isCalledByRunner()
}

function capture(reporter, seen) {
  const { emit } = EventEmitter.prototype
  const { push } = Readable.prototype
  keepProperties(Object.getPrototypeOf(reporter))
  Object.defineProperty(reporter, 'push', { value: push })
  Object.defineProperty(reporter, 'emit', {
    value(type, data, ...rest) {
      const isTodo = data?.todo !== undefined && data.todo !== false
      if (type === 'test:enqueue') seen.begun++
      if (type === 'test:pass' || type === 'test:fail') seen.ended++
      if (type === 'test:fail' && !isTodo) seen.failed++
      return Reflect.apply(emit, this, [type, data, ...rest])
    },
  })
}

// Tests are resources of async_hooks: whoever gets hold of one can give it another function to run.
function hideTests() {
  const { AsyncResource, createHook, executionAsyncResource } = asyncHooks
  const isTest = (value) => {
    if (!(value instanceof AsyncResource)) return false
    const { name } = value.constructor ?? {}
    return name === 'Test' || name === 'Suite' || name === 'TestHook' || name === 'FileTest'
  }
  for (const name of Object.getOwnPropertyNames(AsyncResource.prototype))
    pin(AsyncResource.prototype, name, AsyncResource.prototype[name])
  Object.preventExtensions(AsyncResource.prototype)
  pin(asyncHooks, 'createHook', (callbacks) => {
    const init = callbacks?.init
    if (typeof init !== 'function') return createHook(callbacks)
    return createHook({
      ...callbacks,
      init(id, type, trigger, resource) {
        return Reflect.apply(init, this, [id, type, trigger, isTest(resource) ? {} : resource])
      },
    })
  })
  pin(asyncHooks, 'executionAsyncResource', () => {
    const resource = executionAsyncResource()
    return isTest(resource) ? {} : resource
  })
  syncBuiltinESMExports()
}

// An inspector reads and sets the variables of any function.
function closeInspector() {
  if (!process.features.inspector) return
  const { Session } = require('node:inspector')
  for (const name of ['connect', 'connectToMainThread'])
    if (typeof Session.prototype[name] === 'function')
      pin(Session.prototype, name, () => {
        throw new Error('phaselock: there is no inspector in an observed test run')
      })
}

// A setter on Object.prototype would see every field that the runner sets. Libraries in the style of "should" get their place.
function closeObjectPrototype() {
  if (!Object.hasOwn(Object.prototype, 'should'))
    Object.defineProperty(Object.prototype, 'should', { value: undefined, writable: true, configurable: true })
  Object.preventExtensions(Object.prototype)
}

module.exports = { watchHarness, closeObjectPrototype }
