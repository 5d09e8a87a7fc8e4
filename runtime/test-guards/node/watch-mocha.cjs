'use strict'
const { resolve } = require('node:path')
const { openChannel } = require('./channel.cjs')
const { compileEarly, keepHooksFromProject } = require('./compile-early.cjs')
const { apply, keepFromProject } = require('./freeze.cjs')
const { guardExit } = require('./guard-exit.cjs')
const { leaveNoTrace } = require('./leave-no-trace.cjs')
const { watchTests } = require('./written-tests.cjs')

const INTERFACE = (
  'describe context it specify before after beforeEach afterEach xdescribe xcontext xit xspecify ' +
  'suite test setup teardown suiteSetup suiteTeardown run'
).split(' ')
const PARALLEL = /[\\/]mocha[\\/]lib[\\/]nodejs[\\/]worker\.js$/
let isWatched = false

/**
 * Counts failures where mocha counts them, and lets the process end with exit code 0 only after mocha ended without
 * any.
 */
function watchMocha(Mocha, beforeFiles) {
  if (typeof Mocha?.prototype?.loadFilesAsync !== 'function' || isWatched) return
  isWatched = true
  const seen = { hasEnded: false, failed: 0, suite: null, channel: null }
  const { fail, run } = Mocha.Runner.prototype
  Mocha.Runner.prototype.fail = function (test, ...rest) {
    if (!test?.isPending?.() || rest[1] === true) seen.failed++
    return apply(fail, this, [test, ...rest])
  }
  Mocha.Runner.prototype.run = function (done, ...rest) {
    const noted = (failures) => {
      seen.hasEnded = true
      seen.failed = Math.max(seen.failed, failures)
      return done?.(seen.failed)
    }
    if (this.suite === seen.suite) tellTests(this, seen.channel)
    return apply(run, this, [noted, ...rest])
  }
  holdFiles(Mocha, seen, beforeFiles)
  for (const part of [Mocha.Runner, Mocha.Runnable, Mocha.Test, Mocha.Suite, Mocha.Hook, Mocha.Context, Mocha])
    if (part?.prototype !== undefined)
      keepFromProject(
        part.prototype,
        Object.getOwnPropertyNames(part.prototype).filter((name) => name !== 'constructor'),
      )
}

function holdFiles(Mocha, seen, beforeFiles) {
  const { loadFilesAsync } = Mocha.prototype
  Mocha.prototype.loadFilesAsync = async function (...rest) {
    begin(seen, this.suite)
    await beforeFiles()
    const changed = watchTests(this.files)
    const files = this.files.map((file) => [file, compileEarly(resolve(file))])
    for (const [file, run] of files)
      if (run === null) await apply(loadFilesAsync, Object.create(this, { files: { value: [file] } }), rest)
      else await runFile(this, file, run)
    this.lazyLoadFiles(true)
    const late = changed()
    if (late !== null) throw new Error(`phaselock: ${late}`)
  }
}

// As mocha does it.
async function runFile(mocha, file, run) {
  const { suite } = mocha
  suite.emit('pre-require', globalThis, file, mocha)
  suite.emit('require', await run(), file, mocha)
  suite.emit('post-require', globalThis, file, mocha)
}

// The runner that runs the files of the command; a test may make others.
function tellTests(runner, channel) {
  const tell = (status) => (test) => channel?.test(test.title, status, test.type === 'hook')
  runner.on('pass', tell('passed'))
  runner.on('fail', tell('failed'))
  runner.on('pending', tell('skipped'))
  runner.on('end', () => channel?.end())
}

function begin(seen, suite) {
  if (seen.suite !== null) return
  seen.suite = suite
  // With --bail the tests after the first failure would be missing, and look as if somebody had removed them.
  suite.bail?.(false)
  // With --parallel each worker runs many files, and none of them knows all tests.
  if (!PARALLEL.test(process.argv[1] ?? '')) seen.channel = openChannel('mocha')
  const { closeInspector, closeObjectPrototype } = require('./watch-harness.cjs')
  leaveNoTrace()
  closeInspector()
  closeObjectPrototype()
  keepFromProject(globalThis, INTERFACE)
  keepHooksFromProject()
  guardExit({
    isTestFile: false,
    mayExit: () => seen.hasEnded,
    problem: () => (seen.hasEnded ? (seen.failed > 0 ? '' : null) : 'mocha did not finish'),
  })
}

module.exports = { watchMocha }
