import type { ObservedRun } from '../core/evidence/observed-run.js'
import type { CheckOutcome } from '../core/task/command.js'
import { type Check, errs, fails, field, holds } from './check-inputs.js'
import { commandOf } from './observed-runs/gate-commands.js'
import { namesText } from './observed-runs/run-text.js'
import { movedSetup, movedTestSetup } from './test-setup/moved-setup.js'

export const commandSucceeds: Check = async (inputs) => {
  const one = commandOf(inputs.contract, inputs.params)
  const run = one === null ? undefined : inputs.observed.get(one.key)
  if (one === null || run === undefined) return errs('the command was not run', 'observed')
  if (run.wasStopped) return fails(run.problem ?? 'it was stopped', 'observed', run.trouble)
  if (run.exitCode !== 0) return commandFailed(run)
  const moved = await movedSetup(inputs, one.key, one.command)
  return moved.length > 0 ? fails(moved.join(', '), 'observed') : holds(`${run.command} succeeded`, 'observed')
}

function commandFailed({ command, exitCode, trouble }: ObservedRun): CheckOutcome {
  const isNamed = trouble !== undefined && !trouble.detail.startsWith('exit code')
  const why = isNamed ? ` (${trouble.cause}: ${trouble.detail})` : ''
  return fails(`${command} ended with exit code ${exitCode}${why}`, 'observed', trouble)
}

export const coverageThresholdMet: Check = async (inputs) => {
  const { observed, params } = inputs
  const threshold = field(params, 'threshold')
  if (typeof threshold !== 'number') return errs('the check gives no threshold', 'observed')
  const run = observed.get('coverage')
  if (run === undefined) return errs('the contract has no command "coverage"', 'observed')
  if (run.exitCode !== 0 && run.explainedBy === undefined) return commandFailed(run)
  if (run.coverage === null) return fails(run.problem ?? 'no coverage was reported', 'observed', run.trouble)
  const moved = await movedTestSetup(inputs)
  if (moved.length > 0) return fails(moved.join(', '), 'observed')
  const text = `${Math.round(run.coverage * 100) / 100} % of the lines, ${threshold} % asked for`
  const { explainedBy = [] } = run
  const notes = explainedBy.length === 0 ? [] : [`Failed before the task too${namesText(explainedBy)}`]
  return run.coverage >= threshold ? holds(text, 'observed', notes) : fails(text, 'observed')
}
