'use strict'
const { freezeDeep, keepProperties, pin } = require('./freeze.cjs')

/** Freezes the test modules of Node.js. Returns a function that gives the real module of a name. */
function lockAssertions() {
  const assert = require('node:assert')
  const strict = require('node:assert/strict')
  const test = require('node:test')
  freezeDeep(assert)
  freezeDeep(strict)
  lockTest(test)
  const real = Object.freeze({
    __proto__: null,
    assert,
    'assert/strict': strict,
    'node:assert': assert,
    'node:assert/strict': strict,
    'node:test': test,
  })
  return (name) => (typeof name === 'string' ? real[name] : undefined)
}

function lockTest(test) {
  for (const name of Object.getOwnPropertyNames(test)) {
    const found = Object.getOwnPropertyDescriptor(test, name)
    if (found?.get === undefined || !found.configurable) continue
    const value = test[name]
    if (name === 'mock') {
      // Only the tracker itself: what it mocks belongs to the tests.
      Object.freeze(value)
      keepProperties(Object.getPrototypeOf(value))
    } else if (name === 'assert') lockRegister(value)
    else freezeDeep(value)
  }
  freezeDeep(test)
}

// New assertions may be added to the context of tests, but must not replace known ones.
function lockRegister(custom) {
  const register = custom?.register
  if (typeof register !== 'function') return
  const known = new Set([...Object.keys(require('node:assert')), 'snapshot', 'fileSnapshot'])
  pin(custom, 'register', (name, fn) => {
    if (known.has(name)) throw new TypeError(`phaselock: the assertion "${name}" cannot be replaced`)
    known.add(name)
    return register(name, fn)
  })
}

module.exports = { lockAssertions }
