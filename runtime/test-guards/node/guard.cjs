'use strict'
// Loaded by NODE_OPTIONS before anything of the project, in every Node.js process of an observed run.
const { isMainThread } = require('node:worker_threads')
const Module = require('node:module')
const { leaveNoTrace } = require('./leave-no-trace.cjs')
const { lockAssertions } = require('./lock-assertions.cjs')
const { isVitestWorker, lockComparing, lockContexts, lockLibraries, lockVitest } = require('./lock-libraries.cjs')
const { lockLoading } = require('./lock-loading.cjs')

function start() {
  const isTestFile = process.env.NODE_TEST_CONTEXT !== undefined
  if (isTestFile && !isMainThread) return
  const real = lockAssertions()
  lockLoading(real, { isTestFile, onLoaded: lockLibraries })
  if (isTestFile) {
    const { parentStartedMs, refuseLateTests, startedWith } = require('./written-tests.cjs')
    const [file, startedMs] = [startedWith(), parentStartedMs()]
    if (file !== null && startedMs !== null) refuseLateTests(file, startedMs)
    const { watchHarness } = require('./watch-harness.cjs')
    const { guardExit } = require('./guard-exit.cjs')
    guardExit(watchHarness())
    lockComparing()
  } else if (isVitestWorker()) lockVitest()
  else if (isMainThread) {
    const { separateChildren } = require('./separate.cjs')
    const { tellRuns } = require('./tell-runs.cjs')
    separateChildren()
    // Of the runners named here only jest may run tests in this process.
    if (tellRuns() !== 'jest' && process.env.JEST_WORKER_ID === undefined) return
    lockContexts()
  }
  leaveNoTrace()
}

// Node.js 24 names the options of its parent to test files once more, so that they load this file twice.
const isStarted = Object.getOwnPropertyDescriptor(Module.prototype, 'require')?.configurable === false
if (isStarted) leaveNoTrace()
else start()
