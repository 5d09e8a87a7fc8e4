import { findCommand } from '../../checks/observed-runs/gate-commands.js'
import { CHECKS_OF_TEST_RUN } from '../../core/contract/check-artifacts.js'
import type { Contract, ObservedCommand } from '../../core/contract/contract.js'
import { findObservedSource } from '../../core/evidence/observed-evidence.js'
import { comparesWithStart } from '../../core/evidence/red-gate.js'
import type { Needs } from '../../core/gates/needs.js'
import { asksGit } from '../../core/gates/open-so-far.js'

export function needsGit(contract: Contract, needed: Needs): boolean {
  return needed.checks.some(({ blocker }) => asksGit(contract, blocker.check))
}

/** True when a check of this gate needs a run. */
export function selectCommands(contract: Contract, needed: Needs): ReadonlyMap<string, ObservedCommand> {
  const wanted = new Map<string, ObservedCommand>()
  const want = (name: string): void => {
    const command = contract.commands.get(name)
    if (command !== undefined) wanted.set(name, command)
  }
  for (const { blocker } of needed.checks) {
    const { check, params } = blocker
    if (CHECKS_OF_TEST_RUN.has(check) || check === 'tests_exist_for_acceptance_criteria') want('tests')
    if (check === 'test_files_load') want('tests')
    if (check === 'coverage_threshold_met' || check === 'coverage_not_lower') want('coverage')
    if (check === 'expression' && /\bobserved\b/.test(String(params.when ?? '')))
      for (const name of contract.commands.keys()) want(name)
    const one = check === 'command_succeeds' ? findCommand(contract, params) : null
    if (one !== null) wanted.set(one.key, one.command)
  }
  if (needed.artifacts.some((artifact) => artifact.type === 'test_run_result')) want('tests')
  for (const [name, field] of needed.evidence)
    if (field.grade === 'observed') want(findObservedSource(contract.commands.keys(), name, field.type)?.command ?? '')
  // A failure in the coverage command also shows in a test run.
  if (wanted.has('coverage') && comparesWithStart(contract)) want('tests')
  return wanted
}
