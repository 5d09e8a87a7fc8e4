import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { toIsoTime } from '../wire.js'

/** The servers on this ledger; none where it is in SQLite. */
export async function listNodes(app: Pick<App, 'ledger'>): Promise<readonly JsonObject[]> {
  const { cluster } = app.ledger
  const nodes = (await cluster?.listNodes()) ?? []
  return nodes.map(({ id, isAlive, url, programVersion, startedAt, seenAt, sharedTrees: shared }) => ({
    ...{ id, own: id === cluster?.nodeId, alive: isAlive, url, program_version: programVersion },
    ...{ started_at: toIsoTime(startedAt), seen_at: toIsoTime(seenAt) },
    // What no node wrote is not shown.
    shared_trees: shared === null || shared === 'forged' ? null : { id: shared.id, folder: shared.folder },
  }))
}
