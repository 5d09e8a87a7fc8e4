'use strict'
const Module = require('node:module')
const { join } = require('node:path')
const { apply, defineProperty, hold, pin } = require('./freeze.cjs')

/** Whether the file that the process was started with was loaded to its end. */
const mainFile = { isLoaded: false, isBegun: false }

/** Imports of the assertions always get the real ones, whatever was done to the loader meanwhile. */
function lockLoading(real, { isTestFile, onLoaded }) {
  hold(
    Module.prototype,
    'require',
    (load) =>
      function require(id) {
        return real(id) ?? apply(load, this, [id])
      },
  )
  const load = Module.prototype.load
  // The file that a process was started with is loaded in the same turn as this module, or later as a module.
  let isFirstTurn = true
  queueMicrotask(() => {
    isFirstTurn = false
  })
  Module.prototype.load = function (filename) {
    // The `require` of a file cannot be replaced for that file alone.
    defineProperty(this, 'require', { get: () => Module.prototype.require, set: () => undefined })
    const isMain = isFirstTurn && !mainFile.isBegun && process.mainModule === this
    if (isMain) mainFile.isBegun = true
    const result = apply(load, this, [filename])
    if (isMain) mainFile.isLoaded = true
    onLoaded(filename, this.exports)
    return result
  }
  const getBuiltin = process.getBuiltinModule
  if (typeof getBuiltin === 'function') pin(process, 'getBuiltinModule', (id) => real(id) ?? getBuiltin(id))
  if (isTestFile) lockHooks()
}

// Hooks of the loader could return other assertions. Those that the command names itself are loaded before the project.
function lockHooks() {
  const own = join(__dirname, 'guard.cjs')
  const named = [`--require "${own}"`, `--require=${own}`].reduce(
    (text, words) => text.replaceAll(words, ''),
    `${process.env.NODE_OPTIONS ?? ''} ${process.execArgv.join(' ')}`,
  )
  if (/--(import|require|loader|experimental-loader)\b|(^|\s)-r\b/.test(named)) return
  for (const name of ['register', 'registerHooks'])
    if (typeof Module[name] === 'function')
      pin(Module, name, () => {
        throw new Error(`phaselock: module.${name} is not available in an observed test run`)
      })
}

module.exports = { lockLoading, mainFile }
