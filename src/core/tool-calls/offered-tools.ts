import type { Contract, Phase } from '../contract/contract.js'
import { BUILT_IN_TOOLS } from './built-in-tools.js'

/**
 * True when an executor, upstream server or agent CLI could provide the tool under this contract. Names are compared
 * exactly.
 */
export function isKnownTool(contract: Contract, tool: string): boolean {
  return BUILT_IN_TOOLS.has(tool) || contract.extraTools.includes(tool)
}

/** True when the phase offers the tool: listed, and not forbidden (forbidden wins). */
export function isOffered(phase: Phase, tool: string): boolean {
  if (phase.forbiddenTools.includes(tool)) return false
  return phase.allowedTools === 'all' || phase.allowedTools.includes(tool)
}

/** The tools an agent may use in the phase, in the order of the contract. */
export function listOfferedTools(contract: Contract, phase: Phase): readonly string[] {
  const listed = phase.allowedTools === 'all' ? [...BUILT_IN_TOOLS.keys(), ...contract.extraTools] : phase.allowedTools
  return listed.filter((tool) => isOffered(phase, tool))
}

/** The phase of that id. A task is only ever in a phase of its own contract, so a missing one is a fault. */
export function requirePhase(contract: Contract, id: string): Phase {
  const phase = contract.phases.get(id)
  if (phase === undefined) throw new Error(`contract ${contract.hash} has no phase ${JSON.stringify(id)}`)
  return phase
}

const COMMAND_TOOLS: readonly string[] = ['bash', 'run_tests', 'git_status', 'git_diff', 'git_log', 'git_commit']

/** True when a phase of the contract offers a tool that runs a command of the machine. */
export function offersCommandTool(contract: Contract): boolean {
  const starts = [...COMMAND_TOOLS, ...contract.extraTools]
  return [...contract.phases.values()].some((phase) => starts.some((tool) => isOffered(phase, tool)))
}
