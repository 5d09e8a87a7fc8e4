import { blocker } from './blockers.js'
import type { Context, GateFacts } from './command.js'
import type { Contract } from './contract.js'
import type { BlockerFound } from './event.js'
import type { TaskState } from './state.js'
import { refusedPaths } from './writable.js'

const PATHS_NAMED_MAX = 20

/** Changes of the tree that no allowed call explains and that the phase does not permit. Others are simply taken over. */
export function unledgeredBlockers(
  contract: Contract,
  state: TaskState,
  facts: GateFacts,
  context: Context,
): readonly BlockerFound[] {
  const { reconcile } = contract.enforcement
  const changed = facts.unledgered ?? []
  if (reconcile === 'off' || changed.length === 0) return []
  const paths = changed.map(({ path, kind }) => ({ path, kind, type: 'file', problem: null }) as const)
  const refused = refusedPaths(contract, state, paths, { context, git: 'none' })
  if (refused.length === 0) return []
  const named = refused.slice(0, PATHS_NAMED_MAX).map((one) => one.path)
  const more = refused.length > named.length ? ` and ${refused.length - named.length} more` : ''
  return [
    blocker('unledgered_change', {
      severity: reconcile === 'warn' ? 'warning' : 'blocking',
      message: `Changed without an allowed call: ${named.join(', ')}${more}`,
      remedy: `Undo the change with a tool that ${state.phase} allows, or ask an operator to revert it (phaselock revert ${state.id}) or to accept it with a reason.`,
    }),
  ]
}
