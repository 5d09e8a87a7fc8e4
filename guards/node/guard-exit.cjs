'use strict'
const { realpathSync } = require('node:fs')
const { pathToFileURL } = require('node:url')
const { hold, isCalledByRunner, pin } = require('./freeze.cjs')
const { mainFile } = require('./lock-loading.cjs')

const EXIT_CODE = 1
const IMPORT_MS_MAX = 1000

/** Lets the process of a test file end with exit code 0 only when the file was evaluated to its end and its tests ended. */
function guardExit(watch) {
  const state = { early: null, isEvaluated: false, isAsked: false, isTold: false }
  const setCode = Object.getOwnPropertyDescriptor(process, 'exitCode')?.set
  const problem = () => {
    if (state.early !== null) return state.early
    if (!mainFile.isLoaded && !state.isEvaluated) return 'the test file was not evaluated to its end'
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
        if (event === 'beforeExit' && !state.isAsked) {
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
    if (!isForcedByRunner()) state.early ??= `process.exit(${Number(code) || 0}) was called before the tests ended`
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

function isForcedByRunner() {
  const options = `${process.env.NODE_OPTIONS ?? ''} ${process.execArgv.join(' ')}`
  return options.includes('--test-force-exit') && isCalledByRunner()
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
