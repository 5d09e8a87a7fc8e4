'use strict'
const { ChildProcess } = require('node:child_process')
const { existsSync } = require('node:fs')
const { basename, join } = require('node:path')

const ENTER = join(__dirname, '..', 'enter', 'run')
const SHELLS = ['sh', 'bash', 'dash', 'zsh']

/**
 * In npm and in the main process of a runner: the shells and Node.js processes that it starts cannot reach into its memory.
 * Other programs are started as ever, so that one that is missing is still said to be missing.
 */
function separateChildren() {
  if (!existsSync('/usr/bin/perl') || !existsSync(ENTER)) return
  const { spawn } = ChildProcess.prototype
  ChildProcess.prototype.spawn = function (options) {
    const { file, args } = options
    if (!Array.isArray(args) || (file !== process.execPath && !SHELLS.includes(basename(String(file)))))
      return spawn.call(this, options)
    return spawn.call(this, { ...options, file: ENTER, args: [ENTER, file, ...args.slice(1)] })
  }
}

module.exports = { separateChildren }
