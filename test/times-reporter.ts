import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { isFullDepth } from './depth.js'
import { type Depth, getTestName, readTimes } from './times.js'

const SHOWN = 20

/** Prints which test files took longest and, with PHASELOCK_TIMES=write, writes the times of all that passed. */
export default class TimesReporter implements Reporter {
  #root = ''

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const measured = modules.map((module) => ({
      name: getTestName(this.#root, module.moduleId),
      seconds: measureSeconds(module),
      depth: (isFullDepth() || module.project.name === 'named' ? 'full' : 'usual') as Depth,
      isWhole: module.ok() && [...module.children.allTests()].some((test) => test.result().state === 'passed'),
    }))
    const longest = measured.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN)
    const lines = longest.map(({ name, seconds }) => `${seconds.toFixed(0).padStart(6)} s  ${name}`)
    process.stderr.write(`\nThe files that took longest:\n${lines.join('\n')}\n`)
    if (process.env.PHASELOCK_TIMES !== 'write') return
    let times = readTimes()
    for (const depth of ['usual', 'full'] as const) {
      const whole = measured.filter((file) => file.isWhole && file.depth === depth)
      const seconds = new Map(whole.map((file) => [file.name, file.seconds]))
      times = times.update(seconds, depth, (name) => existsSync(join(this.#root, 'test', `${name}.test.ts`)))
    }
    times.write()
    process.stderr.write('Written to test/times.json.\n')
  }
}

/** What the file took of its worker, with what it loads. */
function measureSeconds(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic()
  return (environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration) / 1000
}
