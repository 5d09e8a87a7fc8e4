'use strict'
// Everything here is captured before the project runs, so later replacements are not used.
const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, isFrozen } = Object
const { apply, ownKeys } = Reflect
const { isArray } = Array
const { captureStackTrace } = Error
const { call } = Function.prototype
/** The method as a function of its object, unaffected by later changes of the prototype. */
const free = call.bind.bind(call)
const startsWith = free(String.prototype.startsWith)
const includes = free(String.prototype.includes)
const matches = free(RegExp.prototype.exec)
const fileNameOf = free(Object.getPrototypeOf(sitesOf()[0]).getFileName)

const DEPTH_MAX = 4

/** Freezes a value and everything reachable through its own properties, functions and prototypes first. */
function freezeDeep(value, depth = 0) {
  if (depth > DEPTH_MAX || value === null || (typeof value !== 'object' && typeof value !== 'function')) return
  if (isShared(value) || isFrozen(value)) return
  freeze(value)
  for (const key of ownKeys(value)) {
    const found = getOwnPropertyDescriptor(value, key)
    if (found !== undefined && 'value' in found) freezeDeep(found.value, depth + 1)
  }
}

// Shared objects of the language: freezing them would break honest programs.
const SHARED = new Set([Object, Function, Error, Promise, Object.prototype, Function.prototype, Error.prototype])
function isShared(value) {
  return SHARED.has(value)
}

/** Existing properties cannot be changed; new ones can be added. */
function keepProperties(target) {
  const keys = ownKeys(target)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]
    const found = getOwnPropertyDescriptor(target, key)
    if (found === undefined || !found.configurable) continue
    defineProperty(target, key, 'value' in found ? { writable: false, configurable: false } : { configurable: false })
  }
}

/**
 * Makes `target[name]` return `wrap` of the last value that was set. Programs that replace the function, as some
 * packages do, keep working.
 */
function hold(target, name, wrap) {
  let current = wrap(target[name])
  defineProperty(target, name, {
    configurable: false,
    enumerable: getOwnPropertyDescriptor(target, name)?.enumerable ?? true,
    get: () => current,
    set(value) {
      if (this !== target) defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true })
      else if (typeof value === 'function') current = wrap(value)
    },
  })
}

/** `target[name]` stays `value`; setting it has no effect, setting it on an heir gives the heir its own. */
function pin(target, name, value) {
  const get = () => value
  // Where packages that look for built-in functions find the one behind a getter.
  get.originalValue = value
  freeze(get)
  defineProperty(target, name, {
    configurable: false,
    enumerable: getOwnPropertyDescriptor(target, name)?.enumerable ?? true,
    get,
    set(other) {
      if (this === target) return
      defineProperty(this, name, { value: other, writable: true, configurable: true, enumerable: true })
    },
  })
}

/**
 * The nearest file on the stack for which `isPassed` does not hold; '' if there is none or the stack cannot be read.
 */
function caller(isPassed) {
  const sites = sitesOf()
  if (!isArray(sites)) return ''
  for (let index = 0; index < sites.length; index++) {
    const file = fileNameOf(sites[index]) ?? ''
    if (!startsWith(file, __dirname) && !isPassed(file)) return file
  }
  return ''
}

function sitesOf() {
  const before = getOwnPropertyDescriptor(Error, 'prepareStackTrace')
  const limit = getOwnPropertyDescriptor(Error, 'stackTraceLimit')
  try {
    defineProperty(Error, 'prepareStackTrace', { value: (_, sites) => sites, writable: true, configurable: true })
    defineProperty(Error, 'stackTraceLimit', { value: 20, writable: true, configurable: true })
    const holder = {}
    captureStackTrace(holder)
    return holder.stack
  } catch {
    return null
  } finally {
    restore('prepareStackTrace', before)
    restore('stackTraceLimit', limit)
  }
}

function restore(name, descriptor) {
  try {
    if (descriptor === undefined) delete Error[name]
    else defineProperty(Error, name, descriptor)
  } catch (error) {
    process._rawDebug(`phaselock: ${error}`)
  }
}

/**
 * Only installed packages can replace existing properties; for all other code setting them has no effect. Packages in
 * `through` only forward calls of others.
 */
function keepFromProject(target, names, through = /^$/) {
  for (const name of names) {
    const found = getOwnPropertyDescriptor(target, name)
    if (found !== undefined && (!found.configurable || !('value' in found))) continue
    let current = found?.value
    defineProperty(target, name, {
      configurable: false,
      enumerable: found?.enumerable ?? true,
      get: () => current,
      set(value) {
        if (this !== target && this !== undefined && target !== globalThis)
          defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true })
        else if (isCalledByPackage(through)) current = value
      },
    })
  }
}

function isCalledByPackage(through) {
  return includes(
    caller((file) => matches(through, file) !== null),
    '/node_modules/',
  )
}

/** True when the function that asks was called by the test runner of Node.js itself. */
function isCalledByRunner() {
  return startsWith(caller(isPlumbing), 'node:internal/test_runner/')
}

function isPlumbing(file) {
  return startsWith(file, 'node:events') || startsWith(file, 'node:internal/process')
}

module.exports = {
  apply,
  caller,
  defineProperty,
  free,
  freezeDeep,
  getPrototypeOf,
  hold,
  includes,
  isCalledByRunner,
  keepFromProject,
  keepProperties,
  ownKeys,
  pin,
  startsWith,
}
