import type { ObservedRun } from '../core/evidence/observed-run.js'
import type { CheckOutcome } from '../core/task/command.js'
import { abortCheck, type Check, failCheck, getField, passCheck } from './check-inputs.js'
import { findCommand } from './observed-runs/gate-commands.js'
import { formatNames } from './observed-runs/run-text.js'
import { findChangedSetup, findChangedTestSetup } from './test-setup/moved-setup.js'

export const checkCommandSucceeds: Check = async (inputs) => {
  const one = findCommand(inputs.contract, inputs.params)
  const run = one === null ? undefined : inputs.observed.get(one.key)
  if (one === null || run === undefined) return abortCheck('the command was not run', 'observed')
  if (run.wasStopped) return failCheck(run.problem ?? 'it was stopped', 'observed', run.trouble)
  if (run.exitCode !== 0) return explainFailedRun(run)
  const moved = await findChangedSetup(inputs, one.key, one.command)
  return moved.length > 0 ? failCheck(moved.join(', '), 'observed') : passCheck(`${run.command} succeeded`, 'observed')
}

/** A command that ended with another exit code than 0. */
export function explainFailedRun({ command, exitCode, trouble }: ObservedRun): CheckOutcome {
  const isNamed = trouble !== undefined && !trouble.detail.startsWith('exit code')
  const why = isNamed ? ` (${trouble.cause}: ${trouble.detail})` : ''
  return failCheck(`${command} ended with exit code ${exitCode}${why}`, 'observed', trouble)
}

export const checkCoverageThreshold: Check = async (inputs) => {
  const { observed, params } = inputs
  const threshold = getField(params, 'threshold')
  if (typeof threshold !== 'number') return abortCheck('the check gives no threshold', 'observed')
  const run = observed.get('coverage')
  if (run === undefined) return abortCheck('the contract has no command "coverage"', 'observed')
  if (run.exitCode !== 0 && run.explainedBy === undefined) return explainFailedRun(run)
  if (run.coverage === null) return failCheck(run.problem ?? 'no coverage was reported', 'observed', run.trouble)
  const moved = await findChangedTestSetup(inputs)
  if (moved.length > 0) return failCheck(moved.join(', '), 'observed')
  const text = `${Math.round(run.coverage * 100) / 100} % of the lines, ${threshold} % asked for`
  const { explainedBy = [] } = run
  const notes = explainedBy.length === 0 ? [] : [`Failed before the task too${formatNames(explainedBy)}`]
  return run.coverage >= threshold ? passCheck(text, 'observed', notes) : failCheck(text, 'observed')
}
