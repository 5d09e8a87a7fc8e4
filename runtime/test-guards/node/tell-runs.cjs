'use strict'
const { existsSync, readFileSync, realpathSync } = require('node:fs')
const { join } = require('node:path')
const { Readable } = require('node:stream')
const { apply, caller, defineProperty, getPrototypeOf, hold, startsWith } = require('./freeze.cjs')
const { openChannel } = require('./channel.cjs')

const VITEST = /[\\/]vitest[\\/](?:vitest\.mjs|dist[\\/]cli\.js)$/
const JEST = /[\\/]jest(?:-cli)?[\\/]bin[\\/]jest\.js$/
const WITHOUT_TESTS = ['bench', 'init', 'list']

/**
 * In the main process of a runner: makes it report its tests to Phaselock, in addition to its own report. Returns which
 * runner it is.
 */
function tellRuns() {
  if (process.execArgv.includes('--test')) return tellNodeTest()
  const program = programOf(process.argv[1])
  if (VITEST.test(program) && !WITHOUT_TESTS.includes(process.argv[2]))
    return addReporter('--reporter', 'vitest-reporter.mjs', /^(?:vitest|vite)\.(?:config|workspace)\./)
  if (!JEST.test(program)) return null
  addReporter('--reporters', 'jest-reporter.cjs', /^jest\.config\./)
  return 'jest'
}

function programOf(path) {
  try {
    return path === undefined ? '' : realpathSync(path)
  } catch {
    return ''
  }
}

/** For `node --test`: each file runs in a separate process, and this one runs none of them. */
function tellNodeTest() {
  const channel = openChannel('node')
  if (channel === null) return
  let isHeard = false
  hold(
    Readable.prototype,
    'on',
    (on) =>
      function (event) {
        const isReport = typeof event === 'string' && startsWith(event, 'test:')
        if (isReport && !isHeard && startsWith(caller(isEvents), 'node:internal/')) {
          isHeard = true
          hear(this, channel)
        }
        // biome-ignore lint/complexity/noArguments: spreading asks an iterator, which can be replaced.
        return apply(on, this, arguments)
      },
  )
  process.on('exit', () => channel.end())
}

function isEvents(file) {
  return startsWith(file, 'node:events')
}

function hear(stream, channel) {
  const emit = getPrototypeOf(stream).emit
  let before = 0
  defineProperty(stream, 'emit', {
    value(type, data) {
      if (type === 'test:pass' || type === 'test:fail') {
        // Parts of a test are reported before the test itself.
        channel.test(String(data.name), statusOf(type, data), isUncounted(data, before))
        before = data.nesting
      }
      // biome-ignore lint/complexity/noArguments: spreading asks an iterator, which can be replaced.
      return apply(emit, this, arguments)
    },
  })
}

// Reporters differ in whether they count these.
function isUncounted({ nesting, details, expectFailure }, before) {
  return before > nesting || details?.type === 'suite' || (expectFailure !== undefined && expectFailure !== false)
}

function statusOf(type, { skip, todo }) {
  if (skip !== undefined && skip !== false) return 'skipped'
  if (todo !== undefined && todo !== false) return 'todo'
  return type === 'test:pass' ? 'passed' : 'failed'
}

// A reporter on the command line replaces those of the configuration: if the configuration names some, none is added.
function addReporter(option, file, configuration) {
  const { argv } = process
  const at = argv.indexOf('--')
  const end = at < 0 ? argv.length : at
  const isNamed = argv.slice(2, end).some((word) => word === option || word.startsWith(`${option}=`))
  if (
    !isNamed &&
    (isConfigured(configuration) || argv.some((word) => /^(?:-c|-r|--config|--root|--rootDir)\b/.test(word)))
  )
    return
  const added = [...(isNamed ? [] : [`${option}=default`]), `${option}=${join(__dirname, file)}`]
  argv.splice(end, 0, ...added)
  defineProperty(argv, ADDED, { value: { at: end, count: added.length }, configurable: true })
}

// This file may be loaded again.
const ADDED = Symbol.for('phaselock.added')

/** Called by our reporter, when the runner has read its options: tests that read them see those of the command. */
function takeBackOptions() {
  const { argv } = process
  const added = argv[ADDED]
  if (added === undefined) return
  delete argv[ADDED]
  argv.splice(added.at, added.count)
}

function isConfigured(configuration) {
  const { readdirSync } = require('node:fs')
  const texts = readdirSync(process.cwd())
    .filter((name) => configuration.test(name))
    .map((name) => readFileSync(name, 'utf8'))
  const own = existsSync('package.json') ? JSON.parse(readFileSync('package.json', 'utf8')).jest : undefined
  return [...texts, JSON.stringify(own ?? '')].some((text) => /reporters|preset|extends|['"]\.\.?\//.test(text))
}

module.exports = { takeBackOptions, tellRuns }
