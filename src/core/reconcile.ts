import { blocker } from './blockers.js'
import type { Command, Context, GateFacts } from './command.js'
import type { Contract } from './contract.js'
import type { BlockerFound } from './event.js'
import { type Decision, decided } from './refusal.js'
import type { TaskState } from './state.js'
import { type RefusedPath, refusedPaths } from './writable.js'

const PATHS_NAMED_MAX = 20
const PATHS_TOLD_MAX = 200

type Changed = NonNullable<GateFacts['unledgered']>

/** Changes of the tree that no allowed call explains and that the phase does not permit. Others are simply taken over. */
export function unledgeredBlockers(
  contract: Contract,
  state: TaskState,
  changed: Changed,
  context: Context,
): readonly BlockerFound[] {
  const refused = refusedChanges(contract, state, changed, context)
  if (refused.length === 0) return []
  const named = refused.slice(0, PATHS_NAMED_MAX).map((one) => one.path)
  const more = refused.length > named.length ? ` and ${refused.length - named.length} more` : ''
  return [
    blocker('unledgered_change', {
      severity: contract.enforcement.reconcile === 'warn' ? 'warning' : 'blocking',
      message: `Changed without an allowed call: ${named.join(', ')}${more}`,
      remedy: `Undo the change with a tool that ${state.phase} allows, or ask an operator to revert it (phaselock revert ${state.id}) or to accept it with a reason.`,
    }),
  ]
}

/** Records what a comparison of the tree found when a claim was resumed. It refuses nothing: the next transition does. */
export function reportUnledgered(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'report_unledgered' },
  context: Context,
): Decision {
  const [found] = unledgeredBlockers(contract, state, command.changed, context)
  if (found === undefined) return decided([])
  const refused = refusedChanges(contract, state, command.changed, context)
  return decided([
    {
      type: 'unledgered_change_found',
      agentId: state.held?.agentId ?? '',
      code: 'unledgered_change',
      detail: found.message,
      paths: refused.slice(0, PATHS_TOLD_MAX).map((one) => one.path),
      pathCount: refused.length,
    },
  ])
}

function refusedChanges(
  contract: Contract,
  state: TaskState,
  changed: Changed,
  context: Context,
): readonly RefusedPath[] {
  if (contract.enforcement.reconcile === 'off') return []
  const paths = changed.map(({ path, kind }) => ({ path, kind, type: 'file', problem: null }) as const)
  return refusedPaths(contract, state, paths, { context, git: 'none' })
}
