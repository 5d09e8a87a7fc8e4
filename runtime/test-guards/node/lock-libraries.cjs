'use strict'
const { existsSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const vm = require('node:vm')
const { isMainThread } = require('node:worker_threads')
const { freezeDeep, keepFromProject, keepProperties, pin } = require('./freeze.cjs')
const { watchMocha } = require('./watch-mocha.cjs')

const MOCHA = /[\\/]node_modules[\\/]mocha[\\/]lib[\\/]mocha\.[cm]?js$/
const CHAI = /[\\/]node_modules[\\/]chai[\\/](?:chai|index|lib[\\/]chai)\.[cm]?js$/
const VITEST_WORKER = /[\\/]vitest[\\/]dist[\\/]workers[\\/]/
const WAIT_TURNS_MAX = 200_000

/** Called with every file that was required, after it was loaded. */
function lockLibraries(filename, exported) {
  if (CHAI.test(filename)) lockChai(exported, filename)
  if (MOCHA.test(filename)) watchMocha(exported, lockBeforeFiles)
}

function lockBeforeFiles() {
  lockComparing()
  return lockInstalledChai(process.cwd())
}

// Existing assertions cannot be changed; `chai.use` may add some. Chai-as-promised replaces nearly everything, so
// nothing is locked if it is used.
function lockChai(chai, filename) {
  const { Assertion } = chai ?? {}
  if (Assertion?.prototype === undefined || existsSync(join(folderOf(filename), '..', 'chai-as-promised'))) return
  keepProperties(Assertion.prototype)
  keepProperties(Assertion)
  freezeDeep(chai.AssertionError)
  // The namespace of a module cannot be changed anyway.
  if (Object.isExtensible(chai)) keepFromProject(chai, ['expect', 'assert', 'should', 'Assertion', 'AssertionError'])
  for (const one of [chai.expect, chai.assert]) if (typeof one === 'function') keepProperties(one)
}

function folderOf(filename) {
  return filename.slice(0, filename.lastIndexOf(`node_modules`) + 'node_modules/chai'.length)
}

// Since version 5 chai is an ES module: import it before the test files do.
async function lockInstalledChai(folder) {
  try {
    const found = createRequire(join(folder, 'package.json')).resolve('chai')
    lockChai(await import(pathToFileURL(found).href), found)
  } catch (error) {
    if (error?.code !== 'MODULE_NOT_FOUND' && error?.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
  }
}

// The functions that matchers and conditions of tests compare with. Functions that programs mock, such as time, random
// numbers and output, are left out.
const COMPARING = [
  [
    'Object',
    'is keys values entries assign getOwnPropertyNames getOwnPropertySymbols getOwnPropertyDescriptor getPrototypeOf',
  ],
  ['Object.prototype', 'toString hasOwnProperty propertyIsEnumerable isPrototypeOf'],
  ['Function.prototype', 'call apply bind'],
  ['Reflect', 'apply get has ownKeys getPrototypeOf getOwnPropertyDescriptor'],
  ['Array', 'isArray from'],
  ['Array.prototype', 'includes indexOf some every'],
  ['String.prototype', 'includes startsWith endsWith'],
  ['RegExp.prototype', 'test'],
  ['Map.prototype', 'has get'],
  ['Set.prototype', 'has'],
  ['Number', 'isNaN isFinite isInteger'],
]

/** Nobody may replace the language functions that decide whether two values are equal. */
function lockComparing(find = vm.runInThisContext) {
  for (const [path, names] of COMPARING) {
    const target = find(path)
    for (const name of names.split(' ')) if (isReplaceable(target, name)) pin(target, name, target[name])
  }
}

/** jest runs tests in contexts that have these functions for themselves: they are locked when a context is made. */
function lockContexts() {
  const { createContext, runInContext } = vm
  vm.createContext = (...words) => {
    const context = createContext(...words)
    lockComparing((path) => runInContext(path, context))
    return context
  }
}

function isReplaceable(target, name) {
  // A context of the project may have something else under the name.
  if (target === null || (typeof target !== 'object' && typeof target !== 'function')) return false
  return Object.getOwnPropertyDescriptor(target, name)?.configurable === true
}

const isWorker = () => VITEST_WORKER.test(process.argv[1] ?? '')
// A thread does not know yet which file it will run.
const isThread = !isMainThread && process.env.VITEST !== undefined

function isVitestWorker() {
  return isWorker() || isThread
}

/** In a worker of vitest: locks its matchers once they are loaded, which is before the first test file. */
function lockVitest() {
  const wait = async () => {
    if (isThread) await turnOfLoop()
    if (!isWorker()) return
    const found = findChai(createRequire(process.argv[1]))
    const chai = await import(pathToFileURL(found).href)
    for (let turn = 0; turn < WAIT_TURNS_MAX && !('toBe' in chai.Assertion.prototype); turn++) await turnOfLoop()
    lockChai(chai, found)
    lockComparing()
  }
  wait().catch((error) => {
    process._rawDebug(`phaselock: the assertions of vitest cannot be guarded: ${error}`)
    process.reallyExit(1)
  })
}

// Until version 4 the matchers are a package beside vitest; since version 5 they are part of it.
function findChai(worker) {
  try {
    return createRequire(worker.resolve('@vitest/expect')).resolve('chai')
  } catch (error) {
    if (error?.code !== 'MODULE_NOT_FOUND') throw error
    return worker.resolve('chai')
  }
}

function turnOfLoop() {
  return new Promise((next) => setImmediate(next).unref())
}

module.exports = { isVitestWorker, lockComparing, lockContexts, lockLibraries, lockVitest }
