import { voidRun } from '../../checks/observed-runs/observe.js'
import { judgePassing } from '../../checks/red-green/green-run.js'
import { canBeCompared, findFirstMissing } from '../../checks/test-files/declared-tests.js'
import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import type { Baseline, ObservedRun } from '../../core/evidence/observed-run.js'
import type { TaskState } from '../../core/task/state.js'
import { invertInThread } from '../../inverter/invert-in-thread.js'
import type { App } from '../app.js'
import type { ComposedView } from './compose-view.js'
import { readTestTexts } from './inverted-files.js'

/** The run, voided if new or changed Go or Rust test files declare a test that the run does not name. */
export async function holdAgainstSources(
  app: App,
  contract: Contract,
  state: TaskState,
  {
    run,
    command,
    composed,
    baseline,
  }: {
    readonly run: ObservedRun
    readonly command: ObservedCommand
    readonly composed: ComposedView | null
    readonly baseline: Baseline | null
  },
): Promise<ObservedRun> {
  if (composed === null || !/^(?:go|cargo) /.test(command.run.trim())) return run
  // Failures from before the task do not excuse a report without the new tests.
  const isGreen = run.exitCode === 0 || judgePassing(run, { pinned: null, baseline }).result === 'holds'
  if (!isGreen) return run
  const { tests } = await readTestTexts(app, contract, state, { composition: composed.composition, named: [] })
  const compared = tests.filter((file) => canBeCompared(command.run, file))
  const parsed = await invertInThread(compared.map(({ path, text }) => ({ path, text, seed: '' })))
  const files = compared.map(({ path, text }, index) => ({ path, text, tests: parsed[index]?.tests ?? [] }))
  const missing = findFirstMissing(run, files)
  if (missing === null) return run
  const ended = run.exitCode === 0 ? '' : ENDED
  return voidRun(run, `${missing} is not in the report, but other tests that are compiled with it are${ended}`)
}

const ENDED = '. If a test from before the task ends the program (a panic, os.Exit), mend or skip that test first'
