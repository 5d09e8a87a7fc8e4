'use strict'
// Everything here is taken before the project runs: what it replaces later is not used.
const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, isFrozen } = Object
const { apply, ownKeys } = Reflect
const { isArray } = Array
const { captureStackTrace } = Error
const { call } = Function.prototype
/** The method as a function of its object, out of reach of whoever changes the prototype later. */
const free = call.bind.bind(call)
const startsWith = free(String.prototype.startsWith)
const includes = free(String.prototype.includes)
const matches = free(RegExp.prototype.exec)
const fileNameOf = free(Object.getPrototypeOf(sitesOf()[0]).getFileName)

const DEPTH_MAX = 4

/** Freezes a value and what can be reached from it by its own properties, functions and prototypes first of all. */
function freezeDeep(value, depth = 0) {
  if (depth > DEPTH_MAX || value === null || (typeof value !== 'object' && typeof value !== 'function')) return
  if (isShared(value) || isFrozen(value)) return
  freeze(value)
  for (const key of ownKeys(value)) {
    const found = getOwnPropertyDescriptor(value, key)
    if (found !== undefined && 'value' in found) freezeDeep(found.value, depth + 1)
  }
}

// Objects of the language and of everybody: freezing them would break honest programs.
const SHARED = new Set([Object, Function, Error, Promise, Object.prototype, Function.prototype, Error.prototype])
function isShared(value) {
  return SHARED.has(value)
}

/** What is there stays; names that are not there yet can be added. */
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
 * Makes `target[name]` answer with what `wrap` makes of the last value that somebody set. Programs that replace the function, as
 * some packages do, go on working behind it.
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

/** `target[name]` stays `value`; setting it changes nothing, setting it on an heir gives the heir its own. */
function pin(target, name, value) {
  const get = () => value
  // Where packages that look for functions of the language find the one behind a getter.
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

/** The nearest file on the stack for which `isPassed` does not hold; '' when there is none or somebody prevents looking. */
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
 * What is there can be replaced by installed packages only; for everybody else setting it changes nothing. Packages in `through` only
 * pass on what others ask of them.
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
