import { setImmediate as nextTurn } from 'node:timers/promises'
import vm from 'node:vm'
import { Environment } from '@marcbachmann/cel-js'
import type { Json } from '../core/json.js'
import { abortCheck, type Check, type CheckInputs, failCheck, getField, isText, passCheck } from './check-inputs.js'
import { findChangedSetup } from './test-setup/moved-setup.js'

const EVALUATION_MS_MAX = 250
/** The limit is of the clock: on a busy machine an evaluation may hardly get to run in that time. */
const TRIES_MAX = 3
const environment = new Environment({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false })
for (const name of ['artifacts', 'evidence', 'task', 'observed', 'changes'])
  environment.registerVariable(name, name === 'changes' ? 'dyn' : 'map')

const runInside = new vm.Script('evaluate()')

/** A CEL expression over the submitted artifacts and evidence is true. Anything but a plain `true` closes the gate. */
export const checkExpression: Check = async (inputs) => {
  const { all, changes, evidence, observedView, params, task } = inputs
  const when = getField(params, 'when')
  if (!isText(when)) return abortCheck('the check gives no expression')
  if (/\bchanges\b/.test(when)) {
    if (changes === undefined || changes === null)
      return abortCheck('the changes of this phase are unknown', 'observed')
    if (!changes.isComplete)
      return abortCheck('a call of this phase changed more paths than the ledger lists', 'observed')
  }
  const variables = {
    artifacts: toCel(Object.fromEntries(all)),
    evidence: toCel(evidence),
    task: toCel(task),
    observed: toCel(observedView),
    changes: (changes?.list ?? []).map(({ path, change }) => ({ path, change })),
  }
  try {
    const value = await evaluateInTime(() => environment.evaluate(when, variables))
    if (value === true) {
      const moved = await findChangedSetupFor(inputs, when)
      return moved.length === 0 ? passCheck(when) : failCheck(moved.join(', '), 'observed')
    }
    return failCheck(value === false ? `${when} is false` : `${when} gives ${typeof value}, not true or false`)
  } catch (error) {
    return abortCheck(`${when} cannot be evaluated (${takeFirstLine(error)})`)
  }
}

// CEL's `matches` uses a backtracking matcher and comprehensions nest: the time limit is what bounds both.
async function evaluateInTime(evaluate: () => unknown): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    try {
      return runInside.runInContext(vm.createContext({ evaluate }), { timeout: EVALUATION_MS_MAX })
    } catch (error) {
      const isLate = error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
      if (!isLate) throw error
      if (tries === TRIES_MAX) throw new Error(`it takes longer than ${EVALUATION_MS_MAX} ms`, { cause: error })
      // Other calls get their turn.
      await nextTurn()
    }
  }
}

// A run counts only if its test setup is unchanged.
async function findChangedSetupFor(inputs: CheckInputs, when: string): Promise<readonly string[]> {
  const { contract, observed } = inputs
  const moved: string[] = []
  const readsTests = /\btest_run_result\b/.test(when) && observed.has('tests')
  for (const [key, command] of contract.commands) {
    const isRead = observed.has(key) && (key === 'tests' && readsTests ? true : mentionsRun(when, key))
    if (isRead) moved.push(...(await findChangedSetup(inputs, key, command)))
  }
  return [...new Set(moved)]
}

// However it is spelled: `observed.size`, `observed["size"]`, or by a comprehension over all runs.
function mentionsRun(when: string, key: string): boolean {
  if (!/\bobserved\b/.test(when)) return false
  return when.includes(key) || !/\bobserved\s*[.[]/.test(when)
}

// CEL distinguishes integers from doubles; JSON does not.
function toCel(value: Json): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (Array.isArray(value)) return value.map(toCel)
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toCel(one)]))
  return value
}

function takeFirstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
