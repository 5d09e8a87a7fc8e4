import type { Confinement, JobCache } from '../../confinement/confinement.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { findSeedFolders } from '../test-runs/build-caches.js'

/** What earlier commands of a task left for the next one, beside the tree. */
interface TaskLayers {
  /** Files at ignored paths, to be laid over the tree. */
  readonly layer: string | null
  readonly cache: JobCache | null
  /** About files that could not be kept; after the command. */
  listNotes(): readonly (string | null)[]
}

/**
 * Prepares the layers for a command of an agent. Nobody else has them: observed runs use caches that no agent can write,
 * and a reviewer must not trust what the author of the changes built.
 */
export async function openTaskLayers(
  app: Pick<App, 'buildCaches' | 'scratch' | 'goCache'>,
  { state, bearer }: Pick<AgentCall<Bearer>, 'state' | 'bearer'>,
  { provider }: Pick<Confinement, 'provider'>,
): Promise<TaskLayers> {
  const seeds = findSeedFolders(app, state.workspace)
  // Without a sandbox all commands share one cache folder.
  const isCached = provider !== 'none'
  if (bearer.kind === 'review')
    return { layer: null, cache: isCached ? { layer: null, seeds, keep: null } : null, listNotes: () => [] }
  const scratch = await app.scratch.prepare(state.id, state.workspace)
  if (!isCached) return { layer: scratch.layer, cache: null, listNotes: () => [scratch.note] }
  const cached = await app.buildCaches.prepare(state.id, state.workspace)
  let dropped: string | null = null
  const keep: JobCache['keep'] = async ({ list, isCut, view }) => {
    const plan = app.buildCaches.plan(state.id, list, isCut)
    if (plan === null) return
    dropped = plan.dropped
    await app.buildCaches.save(plan, view)
  }
  return {
    layer: scratch.layer,
    cache: { layer: cached.layer, seeds, keep },
    listNotes: () => [scratch.note, cached.note, dropped],
  }
}
