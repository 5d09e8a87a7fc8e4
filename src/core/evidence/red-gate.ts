import type { CheckName, Contract, Phase } from '../contract/contract.js'

/** Whether a gate of the phase demands failing tests. */
export function isRedPhase(phase: Phase | undefined): boolean {
  return hasCheck(phase, ['tests_are_failing'])
}

function hasCheck(phase: Phase | undefined, names: readonly CheckName[]): boolean {
  const checks = [
    ...(phase?.gates.flatMap((gate) => gate.blockers) ?? []),
    ...(phase?.requiredArtifacts.flatMap((artifact) => artifact.checks) ?? []),
  ]
  return checks.some(({ check }) => names.includes(check))
}

/** Whether a gate compares test results with those before the task: then the tests of the starting tree are run too. */
export function comparesWithStart(contract: Contract): boolean {
  const names = ['tests_are_failing', 'tests_not_worse', 'coverage_not_lower'] as const
  return [...contract.phases.values()].some((phase) => hasCheck(phase, names))
}

/** Whether a gate compares the coverage with that of the starting tree. */
export function comparesCoverage(contract: Contract): boolean {
  return [...contract.phases.values()].some((phase) => hasCheck(phase, ['coverage_not_lower']))
}
