'use strict'
const { realpathSync } = require('node:fs')
const { pathToFileURL } = require('node:url')
const { isModuleNamespaceObject } = require('node:util').types
const { apply, defineProperty, free, hold, pin } = require('./freeze.cjs')
const { mainFile } = require('./lock-loading.cjs')

const EXIT_CODE = 1
const IMPORT_MS_MAX = 1000
const { getOwnPropertyDescriptor } = Object
const { clearTimeout, setTimeout } = globalThis
const { _rawDebug } = process
const PROMISES = Promise.prototype
const ownThen = PROMISES.then
const ownConstructor = PROMISES.constructor
const then = free(ownThen)
const mainPath = process.argv[1]

/**
 * Lets the process end with exit code 0 only if `watch` reports no problem, nobody ended the process early, and the
 * test file it was started with, if any, ran to its end. A problem without text is one that the runner reports itself.
 */
function guardExit(watch) {
  const state = { early: null, isEvaluated: false, isAsked: false, isTold: false }
  const setCode = getOwnPropertyDescriptor(process, 'exitCode').set
  const problem = () => {
    if (state.early !== null) return state.early
    if (watch.isTestFile && !mainFile.isLoaded && !state.isEvaluated) return 'the test file did not run to its end'
    return watch.problem()
  }
  const settle = () => {
    const found = problem()
    if (found === null) return
    apply(setCode, process, [failing(process.exitCode)])
    tell(state, found)
  }
  const guarded = (emit) =>
    function (event) {
      if (event === 'beforeExit' && watch.isTestFile && !state.isAsked) {
        state.isAsked = true
        askEvaluated(state)
      }
      try {
        // biome-ignore lint/complexity/noArguments: spreading asks an iterator, which can be replaced.
        return apply(emit, this, arguments)
      } finally {
        if (event === 'exit') settle()
      }
    }
  hold(process, 'emit', guarded)
  const end = process.reallyExit
  process.reallyExit = (code) => {
    if (!watch.mayExit()) state.early ??= 'the process ended before its tests did'
    else state.isEvaluated = true
    const found = problem()
    if (found !== null) tell(state, found)
    apply(end, process, [found === null ? code : failing(code)])
  }
  if (typeof process.execve === 'function')
    pin(process, 'execve', () => {
      throw new Error('phaselock: a test process cannot become another program')
    })
}

function failing(code) {
  return typeof code === 'number' && code !== 0 ? code : EXIT_CODE
}

// A module that was evaluated is not evaluated again: importing it reports how that ended.
function askEvaluated(state) {
  if (mainFile.isBegun || mainPath === undefined) return
  const timer = setTimeout(() => undefined, IMPORT_MS_MAX)
  // The result goes through `then`, which the project may have replaced.
  const replaced = [useOwn('then', ownThen), useOwn('constructor', ownConstructor)]
  const done = (isEvaluated) => {
    state.isEvaluated = isEvaluated
    clearTimeout(timer)
    defineProperty(PROMISES, 'then', replaced[0])
    defineProperty(PROMISES, 'constructor', replaced[1])
  }
  then(
    import(pathToFileURL(realpathSync(mainPath)).href),
    (found) => done(isModuleNamespaceObject(found)),
    () => done(false),
  )
}

// Throws if the project made its own unchangeable: then assume that nothing was evaluated.
function useOwn(name, value) {
  const before = getOwnPropertyDescriptor(PROMISES, name)
  defineProperty(PROMISES, name, { value, writable: true, configurable: true, enumerable: false })
  return before
}

function tell(state, found) {
  if (state.isTold || found === '') return
  state.isTold = true
  _rawDebug(`phaselock: ${found}; this file counts as failed`)
}

module.exports = { guardExit }
