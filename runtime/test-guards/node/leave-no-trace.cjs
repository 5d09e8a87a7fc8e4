'use strict'
const { delimiter, join } = require('node:path')

const PYTHON = join(__dirname, '..', 'python')
const OURS = /--require "(?:[^"\\]|\\.)*[\\/]test-guards[\\/]node[\\/]guard\.cjs" ?/g

/** In a process that runs tests: programs that they start are not guarded, and neither variables nor modules name the guard. */
function leaveNoTrace() {
  for (const name of ['NODE_OPTIONS', 'npm_config_node_options'])
    setOrDelete(name, process.env[name]?.replace(OURS, ''))
  const folders = process.env.PYTHONPATH?.split(delimiter).filter((folder) => folder !== PYTHON)
  setOrDelete('PYTHONPATH', folders?.join(delimiter))
  // Node.js 24 repeats the options of the runner in the arguments of its test files.
  const own = `--require=${join(__dirname, 'guard.cjs')}`
  process.execArgv = process.execArgv.filter((word) => word !== own)
  for (const file of Object.keys(require.cache)) if (file.startsWith(__dirname)) delete require.cache[file]
}

function setOrDelete(name, value) {
  if (value === undefined || value.trim() === '') delete process.env[name]
  else process.env[name] = value
}

module.exports = { leaveNoTrace }
