import type { Contract } from '../contract/contract.js'
import { makeBlocker } from '../gates/blockers.js'
import type { Context, GateFacts } from './command.js'
import type { BlockerFound } from './fact-parts.js'
import { findUnledgeredBlockers } from './reconcile.js'
import type { TaskState } from './state.js'

const PATHS_NAMED_MAX = 10

/** What the comparison of the work tree has against leaving the phase. */
export function findTreeBlockers(
  contract: Contract,
  state: TaskState,
  facts: GateFacts,
  context: Context,
): readonly BlockerFound[] {
  return [
    ...findUnledgeredBlockers(contract, state, facts.unledgered ?? [], context),
    ...findLivenessBlockers(state, facts),
  ]
}

/**
 * Files changed, the own tools of the agent are bound by hooks, and the hooks saw none of its calls: they are not
 * active, so that nothing was checked. Also where the phase allows the changes. (REQ-CONNECT-7)
 */
function findLivenessBlockers(state: TaskState, facts: GateFacts): readonly BlockerFound[] {
  if (facts.areHooksSilent !== true) return []
  const paths = (facts.unledgered ?? []).filter(({ agentCli }) => agentCli?.problem !== null).map(({ path }) => path)
  if (paths.length === 0) return []
  const named = paths.slice(0, PATHS_NAMED_MAX).join(', ')
  const more = paths.length > PATHS_NAMED_MAX ? ` and ${paths.length - PATHS_NAMED_MAX} more` : ''
  return [
    makeBlocker('enforcement_not_live', {
      severity: 'blocking',
      message: `Changed in ${state.phase}: ${named}${more}, but the hooks saw no call of agent ${state.held?.agentId ?? ''} there. They are not active, or somebody else changed the files.`,
      remedy: `Check the binding with \`phaselock doctor --agents\`, restart the agent CLI, and look at the changes: an operator reverts them (phaselock revert ${state.id}) or accepts them (phaselock accept ${state.id} --reason TEXT).`,
    }),
  ]
}
