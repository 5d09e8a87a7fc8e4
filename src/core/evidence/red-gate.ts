import type { Contract, Phase } from '../contract/contract.js'

/** Whether the phase is left by a gate that demands that tests fail. */
export function isRedPhase(phase: Phase | undefined): boolean {
  const checks = [
    ...(phase?.gates.flatMap((gate) => gate.blockers) ?? []),
    ...(phase?.requiredArtifacts.flatMap((artifact) => artifact.checks) ?? []),
  ]
  return checks.some(({ check }) => check === 'tests_are_failing')
}

/** Whether some gate demands that tests fail first: then it has to be known which of them failed before the task. */
export function hasRedGate(contract: Contract): boolean {
  return [...contract.phases.values()].some(isRedPhase)
}
