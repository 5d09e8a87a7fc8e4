'use strict'
// Loaded by NODE_OPTIONS before anything of the project, in every Node.js process of an observed run.
const { isMainThread } = require('node:worker_threads')
const { lockAssertions } = require('./lock-assertions.cjs')
const { lockLibraries, lockVitest } = require('./lock-libraries.cjs')
const { lockLoading } = require('./lock-loading.cjs')

// A program that a test starts inherits both names from the test process, and may end as it likes.
const OWNER = 'PHASELOCK_TEST_PROCESS'

function start() {
  if (process.env[OWNER] !== undefined) return
  const isTestFile = process.env.NODE_TEST_CONTEXT !== undefined
  const real = lockAssertions()
  lockLoading(real, { isTestFile, onLoaded: lockLibraries })
  lockVitest()
  if (!isTestFile || !isMainThread) return
  process.env[OWNER] = '1'
  const { parentStartedMs, refuseLateTests, startedWith } = require('./written-tests.cjs')
  const [file, startedMs] = [startedWith(), parentStartedMs()]
  if (file !== null && startedMs !== null) refuseLateTests(file, startedMs)
  const { watchHarness } = require('./watch-harness.cjs')
  const { guardExit } = require('./guard-exit.cjs')
  guardExit(watchHarness())
}

start()
