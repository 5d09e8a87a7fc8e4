'use strict'
const { openChannel } = require('./channel.cjs')
const { takeBackOptions } = require('./tell-runs.cjs')
const { lateTest } = require('./written-tests.cjs')

const { now } = Date

/** Reports to Phaselock the tests that the main process of jest knows. */
module.exports = class {
  constructor() {
    takeBackOptions()
    this.channel = openChannel('jest')
    this.startedMs = now()
    this.files = new Set()
  }

  onRunStart() {
    this.startedMs = now()
  }

  onTestFileStart({ path }) {
    this.files.add(path)
  }

  onTestResult(_, { testResults, testExecError, testFilePath }) {
    if (testExecError != null) this.channel?.test(testFilePath, 'failed', true)
    for (const { title, status } of testResults)
      this.channel?.test(title, status === 'passed' || status === 'failed' || status === 'todo' ? status : 'skipped')
  }

  onRunComplete() {
    for (const file of this.files) {
      const late = lateTest(file, this.startedMs)
      if (late !== null) this.channel?.test(late, 'failed', true)
    }
    this.channel?.end()
  }
}
