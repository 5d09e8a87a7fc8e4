'use strict'
const { ChildProcess } = require('node:child_process')
const { existsSync } = require('node:fs')
const { basename, join } = require('node:path')

const ENTER = join(__dirname, '..', 'enter', 'run')
const SHELLS = ['sh', 'bash', 'dash', 'zsh']

/**
 * In npm and in the main process of a runner: shells and Node.js processes that it starts cannot access its memory.
 * Other programs are started unchanged, so that a missing one is still reported as missing.
 */
function separateChildren() {
  const canEnter = existsSync('/usr/bin/perl') && existsSync(ENTER)
  const { spawn } = ChildProcess.prototype
  const { NODE_OPTIONS } = process.env
  ChildProcess.prototype.spawn = function (options) {
    const { file, args } = options
    if (!Array.isArray(args) || (file !== process.execPath && !SHELLS.includes(basename(String(file)))))
      return spawn.call(this, options)
    // The main process of jest has no trace of the guard, because it may run tests itself; its workers are guarded.
    const isJestWorker = options.envPairs?.some((pair) => pair.startsWith('JEST_WORKER_ID='))
    const envPairs = isJestWorker ? [...options.envPairs, `NODE_OPTIONS=${NODE_OPTIONS}`] : options.envPairs
    const entered = canEnter ? { file: ENTER, args: [ENTER, file, ...args.slice(1)] } : {}
    const result = spawn.call(this, { ...options, envPairs, ...entered })
    this.spawnfile = file
    this.spawnargs = args
    return result
  }
}

module.exports = { separateChildren }
