import vm from 'node:vm'
import { Environment } from '@marcbachmann/cel-js'
import type { Json } from '../core/json.js'
import { type Check, type CheckInputs, errs, fails, field, holds, isText } from './check-inputs.js'
import { movedSetup } from './test-setup/moved-setup.js'

const EVALUATION_MS_MAX = 250
const environment = new Environment({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false })
for (const name of ['artifacts', 'evidence', 'task', 'observed', 'changes'])
  environment.registerVariable(name, name === 'changes' ? 'dyn' : 'map')

const runInside = new vm.Script('evaluate()')

/** A CEL expression over what was handed in is true. Anything but a plain `true` closes the gate. */
export const expression: Check = async (inputs) => {
  const { all, changes, evidence, observedView, params, task } = inputs
  const when = field(params, 'when')
  if (!isText(when)) return errs('the check gives no expression')
  if (/\bchanges\b/.test(when)) {
    if (changes === undefined || changes === null) return errs('what changed in this phase is not known', 'observed')
    if (!changes.isComplete) return errs('a call of this phase changed more paths than the ledger lists', 'observed')
  }
  const variables = {
    artifacts: celOf(Object.fromEntries(all)),
    evidence: celOf(evidence),
    task: celOf(task),
    observed: celOf(observedView),
    changes: (changes?.list ?? []).map(({ path, change }) => ({ path, change })),
  }
  try {
    // CEL's `matches` uses a backtracking matcher and comprehensions nest: the time limit is what bounds both.
    const context = vm.createContext({ evaluate: () => environment.evaluate(when, variables) })
    const value: unknown = runInside.runInContext(context, { timeout: EVALUATION_MS_MAX })
    if (value === true) {
      const moved = await movedFor(inputs, when)
      return moved.length === 0 ? holds(when) : fails(moved.join(', '), 'observed')
    }
    return fails(value === false ? `${when} is false` : `${when} gives ${typeof value}, not true or false`)
  } catch (error) {
    return errs(`${when} cannot be evaluated (${firstLine(error)})`)
  }
}

// A run says something only where what decides about it is as it was.
async function movedFor(inputs: CheckInputs, when: string): Promise<readonly string[]> {
  const { contract, observed } = inputs
  const moved: string[] = []
  const readsTests = /\btest_run_result\b/.test(when) && observed.has('tests')
  for (const [key, command] of contract.commands) {
    const isRead = observed.has(key) && (key === 'tests' && readsTests ? true : readsRun(when, key))
    if (isRead) moved.push(...(await movedSetup(inputs, key, command)))
  }
  return [...new Set(moved)]
}

// However it is spelled: `observed.size`, `observed["size"]`, or by a comprehension over all runs.
function readsRun(when: string, key: string): boolean {
  if (!/\bobserved\b/.test(when)) return false
  return when.includes(key) || !/\bobserved\s*[.[]/.test(when)
}

// CEL tells integers from doubles; JSON does not.
function celOf(value: Json): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (Array.isArray(value)) return value.map(celOf)
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, celOf(one)]))
  return value
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
