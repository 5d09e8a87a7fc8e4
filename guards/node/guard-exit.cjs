'use strict'
const { realpathSync } = require('node:fs')
const { pathToFileURL } = require('node:url')
const { hold, pin } = require('./freeze.cjs')
const { mainFile } = require('./lock-loading.cjs')

const EXIT_CODE = 1
const IMPORT_MS_MAX = 1000

/**
 * Lets the process end with exit code 0 only when nothing speaks against it: `watch` knows of no problem, nobody ended the process
 * early, and, where it was started with a test file, that file was evaluated to its end.
 */
function guardExit(watch) {
  const state = { early: null, isEvaluated: false, isAsked: false, isTold: false }
  const setCode = Object.getOwnPropertyDescriptor(process, 'exitCode')?.set
  const problem = () => {
    if (state.early !== null) return state.early
    if (watch.isTestFile && !mainFile.isLoaded && !state.isEvaluated)
      return 'the test file was not evaluated to its end'
    return watch.problem()
  }
  const settle = () => {
    const found = problem()
    if (found === null) return
    tell(state, found)
    if (setCode === undefined) process.exitCode = EXIT_CODE
    else Reflect.apply(setCode, process, [process.exitCode || EXIT_CODE])
  }
  hold(
    process,
    'emit',
    (emit) =>
      function (event, ...rest) {
        if (event === 'beforeExit' && watch.isTestFile && !state.isAsked) {
          state.isAsked = true
          askEvaluated(state)
        }
        try {
          return Reflect.apply(emit, this, [event, ...rest])
        } finally {
          if (event === 'exit') settle()
        }
      },
  )
  const end = process.reallyExit
  process.reallyExit = (code) => {
    if (!watch.mayExit()) state.early ??= `process.exit(${Number(code) || 0}) was called before the tests ended`
    else state.isEvaluated = true
    const found = problem()
    if (found !== null) tell(state, found)
    Reflect.apply(end, process, [found === null ? code : Number(code) || EXIT_CODE])
  }
  if (typeof process.execve === 'function')
    pin(process, 'execve', () => {
      throw new Error('phaselock: a test process cannot become another program')
    })
}

// A module that was evaluated is not evaluated again: asking for it tells how that ended.
function askEvaluated(state) {
  if (mainFile.isLoaded || process.argv[1] === undefined) return
  const timer = setTimeout(() => undefined, IMPORT_MS_MAX)
  import(pathToFileURL(realpathSync(process.argv[1])).href)
    .then(
      () => {
        state.isEvaluated = true
      },
      () => undefined,
    )
    .then(() => clearTimeout(timer))
}

function tell(state, found) {
  if (state.isTold || found.endsWith('tests failed')) return
  state.isTold = true
  process._rawDebug(`phaselock: ${found}; this file counts as failed`)
}

module.exports = { guardExit }
