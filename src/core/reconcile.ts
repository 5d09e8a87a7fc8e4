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
  const own = new Map(changed.map((one) => [one.path, one.agentCli]))
  const isOwn = (path: string): boolean => own.get(path)?.problem === null
  const found = blockedPaths(
    state,
    refused.map((one) => one.path).filter((path) => !isOwn(path)),
    {
      severity: reconcile === 'warn' ? 'warning' : 'blocking',
      reasonOf: (path) => own.get(path)?.problem ?? null,
    },
  )
  const harmless = refused.filter(({ path }) => isOwn(path))
  return [...found, ...harmless.map(({ path }) => writtenByCli(path, own.get(path)?.cli ?? ''))]
}

function blockedPaths(
  state: TaskState,
  paths: readonly string[],
  about: { readonly severity: BlockerFound['severity']; readonly reasonOf: (path: string) => string | null },
): readonly BlockerFound[] {
  if (paths.length === 0) return []
  const named = paths.slice(0, PATHS_NAMED_MAX).map((path) => {
    const reason = about.reasonOf(path)
    return reason === null ? path : `${path} (${reason})`
  })
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : ''
  return [
    blocker('unledgered_change', {
      severity: about.severity,
      message: `Changed without an allowed call: ${named.join(', ')}${more}`,
      remedy: `Undo the change with a tool that ${state.phase} allows, or ask an operator to revert it (phaselock revert ${state.id}) or to accept it with a reason.`,
    }),
  ]
}

// Named, so that nobody wonders what it is, and nothing to do about.
function writtenByCli(path: string, cli: string): BlockerFound {
  return blocker('unledgered_change', {
    severity: 'warning',
    message: `${cli} wrote ${path} for itself: only permissions.allow has grown`,
    remedy: 'Nothing has to be done: git_commit leaves the file out, and nothing in it switches Phaselock off.',
  })
}
