// Loaded into a server under test (`node --require`): ends the process, as a power cut would end it, right before the
// n-th step that changes something on disk or is sent. PHASELOCK_STEPS names a file that says which: {"id": 1, "thread": "main",
// "endAt": 7}. A new id begins the count again. With "within" only the steps in the function of that name count. Nothing
// in the product knows of it.
'use strict'
const fs = require('node:fs')
const { Socket } = require('node:net')
const Module = require('node:module')
const { isMainThread } = require('node:worker_threads')

const FILE = process.env.PHASELOCK_STEPS
const THREAD = isMainThread ? 'main' : 'worker'
const { readFileSync, writeFileSync } = fs
const kill = process.kill.bind(process, process.pid, 'SIGKILL')

let id = null
let count = 0
let isCounting = true

function countStep(name) {
  if (!isCounting) return
  isCounting = false
  let order = null
  try {
    order = JSON.parse(readFileSync(FILE, 'utf8'))
  } catch {
    // Not asked for, or just being written.
  }
  isCounting = true
  if (order === null || order.thread !== THREAD) return
  if (order.within !== undefined && !new Error(name).stack.includes(` ${order.within} `)) return
  if (order.id !== id) {
    id = order.id
    count = 0
  }
  count += 1
  if (count !== order.endAt) return
  isCounting = false
  writeFileSync(`${FILE}.ended`, `${name}\n${new Error(name).stack}`)
  kill()
  for (;;);
}

function patch(object, name, isStep = () => true) {
  const original = object[name]
  if (typeof original !== 'function') return
  object[name] = function (...args) {
    if (isStep(args)) countStep(name)
    return original.apply(this, args)
  }
  // `util.promisify` finds its own version of some functions here.
  for (const key of Object.getOwnPropertySymbols(original)) object[name][key] = patchCustom(original[key], name)
}

function patchCustom(value, name) {
  if (typeof value !== 'function') return value
  return function (...args) {
    countStep(name)
    return value.apply(this, args)
  }
}

const CHANGES = [
  'rename',
  'link',
  'unlink',
  'rmdir',
  'mkdir',
  'symlink',
  'chmod',
  'rm',
  'writeFile',
  'copyFile',
  'truncate',
]
const OPEN_FILES = ['write', 'fsync', 'fdatasync', 'ftruncate', 'fchmod']
const isFile = (args) => typeof args[0] !== 'number' || args[0] > 2
for (const name of [...CHANGES, 'appendFile', 'mkdtemp']) {
  patch(fs, `${name}Sync`)
  patch(fs, name)
  patch(fs.promises, name)
}
for (const name of OPEN_FILES) {
  patch(fs, `${name}Sync`, isFile)
  patch(fs, name, isFile)
}

// What is sent to PostgreSQL, and the answers of the server.
patch(Socket.prototype, 'write')

// The store writes in transactions that it ends with `exec`.
const load = Module._load
const wrapped = new Map()
Module._load = function (request, ...rest) {
  const loaded = load.call(this, request, ...rest)
  if (request !== '@photostructure/sqlite' && request !== 'node:sqlite') return loaded
  if (!wrapped.has(request)) wrapped.set(request, { ...loaded, DatabaseSync: wrapDatabase(loaded.DatabaseSync) })
  return wrapped.get(request)
}

function wrapDatabase(Database) {
  return class extends Database {
    exec(sql) {
      if (/^\s*COMMIT/i.test(sql)) countStep('COMMIT')
      return super.exec(sql)
    }
  }
}

Module.syncBuiltinESMExports()
