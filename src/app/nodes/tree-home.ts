import type { App } from '../app.js'
import { type Result, refuse } from '../result.js'

/**
 * A shared tree has a home, like a stream: the node whose tasks work in it. Two nodes would each decide what is expected
 * of it. Null: it is this node, or the trees of this server are not shared.
 */
export async function findTreeHome(app: Pick<App, 'ledger' | 'sharedTrees'>, tree: string): Promise<string | null> {
  const { cluster } = app.ledger
  if (app.sharedTrees === null || cluster === undefined) return null
  const home = await cluster.takeTree(app.sharedTrees.id, tree)
  return home === cluster.nodeId ? null : home
}

/** Refuses work in a shared tree whose tasks are on another node. */
export async function refuseTreeElsewhere(
  app: Pick<App, 'ledger' | 'sharedTrees'>,
  tree: string,
): Promise<Extract<Result<never>, { ok: false }> | null> {
  const home = await findTreeHome(app, tree)
  if (home === null) return null
  return refuse('conflict', `Tasks in the shared work tree ${JSON.stringify(tree)} are on ${home}.`, {
    node: home,
    next_step: `Create the task there, or take over its tasks when it has gone for good: phaselock nodes adopt ${home}`,
  })
}
