import type { Contract, Phase } from '../contract/contract.js'

/** Whether a gate of the phase demands failing tests. */
export function isRedPhase(phase: Phase | undefined): boolean {
  const checks = [
    ...(phase?.gates.flatMap((gate) => gate.blockers) ?? []),
    ...(phase?.requiredArtifacts.flatMap((artifact) => artifact.checks) ?? []),
  ]
  return checks.some(({ check }) => check === 'tests_are_failing')
}

/** Whether any gate demands failing tests: then the tests that failed before the task must be known. */
export function hasRedGate(contract: Contract): boolean {
  return [...contract.phases.values()].some(isRedPhase)
}
