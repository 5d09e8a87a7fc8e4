import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { openChannel } = require('./channel.cjs')
const { takeBackOptions } = require('./tell-runs.cjs')
const { watchTests } = require('./written-tests.cjs')
const STATUS = { passed: 'passed', pass: 'passed', failed: 'failed', fail: 'failed', todo: 'todo' }

/** Reports to Phaselock the tests that the main process of vitest knows. */
export default class {
  constructor() {
    takeBackOptions()
    this.channel = openChannel('vitest')
  }

  /** Since vitest 3. */
  onTestRunStart(specifications) {
    this.changed = watchTests(specifications.map(({ moduleId }) => moduleId))
  }

  onPathsCollected(paths = []) {
    this.changed ??= watchTests(paths)
  }

  onTestRunEnd(modules) {
    for (const module of modules) {
      if (module.state() === 'failed' && module.errors().length > 0) this.channel?.test(module.moduleId, 'failed', true)
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        const status = test.options.mode === 'todo' ? 'todo' : (STATUS[state] ?? 'skipped')
        // Reporters differ in whether a test that is expected to fail counts as passed.
        this.channel?.test(test.name, status, test.options.fails === true)
      }
    }
    this.#end()
    this.isDone = true
  }

  onFinished(files) {
    if (this.isDone) return
    for (const file of files) this.#tell(file)
    this.#end()
  }

  #end() {
    const late = this.changed?.() ?? null
    if (late !== null) this.channel?.test(late, 'failed', true)
    this.channel?.end()
  }

  #tell(task) {
    if (task.type === 'test') this.channel?.test(task.name, STATUS[task.result?.state] ?? 'skipped')
    else if (task.result?.errors?.length > 0) this.channel?.test(task.name, 'failed', true)
    for (const one of task.tasks ?? []) this.#tell(one)
  }
}
