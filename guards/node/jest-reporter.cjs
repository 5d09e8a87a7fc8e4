'use strict'
const { openChannel } = require('./channel.cjs')

/** Tells Phaselock what the main process of jest knows of its tests. */
module.exports = class {
  constructor() {
    this.channel = openChannel('jest')
  }

  onTestResult(_, { testResults, testExecError, testFilePath }) {
    if (testExecError != null) this.channel?.test(testFilePath, 'failed', true)
    for (const { title, status } of testResults)
      this.channel?.test(title, status === 'passed' || status === 'failed' || status === 'todo' ? status : 'skipped')
  }

  onRunComplete() {
    this.channel?.end()
  }
}
