import type { Contract } from '../contract/contract.js'
import { makeBlocker } from '../gates/blockers.js'
import { findRefusedPaths, type RefusedPath } from '../paths/writable.js'
import type { Command, Context, GateFacts } from './command.js'
import type { BlockerFound } from './fact-parts.js'
import { type Decision, makeDecision, numberRefusal, refuseWithinBudget } from './refusal.js'
import type { TaskState } from './state.js'

const PATHS_NAMED_MAX = 20
const PATHS_TOLD_MAX = 200

type UnledgeredChanges = NonNullable<GateFacts['unledgered']>

/** Tree changes that no allowed call explains and that the phase does not permit. Other changes are accepted. */
export function findUnledgeredBlockers(
  contract: Contract,
  state: TaskState,
  changed: UnledgeredChanges,
  context: Context,
): readonly BlockerFound[] {
  const refused = listRefusedChanges(contract, state, changed, context)
  if (refused.length === 0) return []
  const own = new Map(changed.map((one) => [one.path, one.agentCli]))
  const isOwn = (path: string): boolean => own.get(path)?.problem === null
  const found = makePathBlockers(
    state,
    refused.map((one) => one.path).filter((path) => !isOwn(path)),
    {
      severity: contract.enforcement.reconcile === 'warn' ? 'warning' : 'blocking',
      reasonOf: (path) => own.get(path)?.problem ?? null,
    },
  )
  const harmless = refused.filter(({ path }) => isOwn(path))
  return [...found, ...harmless.map(({ path }) => warnOfCliWrite(path, own.get(path)?.cli ?? ''))]
}

function makePathBlockers(
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
    makeBlocker('unledgered_change', {
      severity: about.severity,
      message: `Changed without an allowed call: ${named.join(', ')}${more}`,
      remedy: `Undo the change with a tool that ${state.phase} allows, or ask an operator to revert it (phaselock revert ${state.id}) or to accept it with a reason.`,
    }),
  ]
}

// Reported for information; needs no action.
function warnOfCliWrite(path: string, cli: string): BlockerFound {
  return makeBlocker('unledgered_change', {
    severity: 'warning',
    message: `${cli} wrote ${path} for itself: only permissions.allow has grown`,
    remedy: 'Nothing has to be done: git_commit leaves the file out, and nothing in it switches Phaselock off.',
  })
}

/**
 * Records the tree comparison when a claim is resumed: it refuses nothing, the next transition does. Where a call of the
 * agent made the changes, it is a refusal that came too late to prevent them.
 */
export function reportUnledgered(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'report_unledgered' },
  context: Context,
): Decision {
  const [found] = findUnledgeredBlockers(contract, state, command.changed, context)
  if (found === undefined) return makeDecision([])
  const refused = listRefusedChanges(contract, state, command.changed, context)
  const fact = {
    type: 'unledgered_change_found',
    agentId: state.held?.agentId ?? '',
    code: 'unledgered_change',
    detail: found.message,
    paths: refused.slice(0, PATHS_TOLD_MAX).map((path) => path.path),
    pathCount: refused.length,
  } as const
  const { by } = command
  if (by === undefined) return makeDecision([fact])
  const named = refused.slice(0, PATHS_NAMED_MAX).map(({ path, reason }) => `${JSON.stringify(path)} ${reason}`)
  const more = refused.length > named.length ? ` and ${refused.length - named.length} more` : ''
  const detail = `${by} changed files that ${state.phase} does not allow: ${named.join('; ')}${more}`
  // Where such changes only warn, they count for nothing.
  if (found.severity === 'warning') return makeDecision([{ ...fact, detail, by }])
  const numbered = numberRefusal(contract, state, { code: fact.code, detail })
  return refuseWithinBudget(contract, state, {
    ...{ ...fact, ...numbered, code: fact.code, by },
    counted: numbered.counted && command.isUncounted !== true,
  })
}

function listRefusedChanges(
  contract: Contract,
  state: TaskState,
  changed: UnledgeredChanges,
  context: Context,
): readonly RefusedPath[] {
  if (contract.enforcement.reconcile === 'off') return []
  const paths = changed.map(({ path, kind }) => ({ path, kind, type: 'file', problem: null }) as const)
  return findRefusedPaths(contract, state, paths, { context, git: 'none' })
}
