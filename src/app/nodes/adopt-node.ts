import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { keepUnder, type Once } from '../kept-answer.js'
import { ok, type Result, refuse, toProblem } from '../result.js'

/** Takes over the tasks and councils of a node that has gone for good. */
export async function adoptNode(
  app: App,
  node: string,
  by: { readonly actor: string; readonly once: Once | undefined; readonly reason: string },
): Promise<Result<JsonObject>> {
  const { cluster } = app.ledger
  if (cluster === undefined) return refuse('conflict', 'This server is alone: its ledger is in SQLite.')
  if (node === cluster.nodeId) return refuse('conflict', `${node} is the server that was asked.`)
  const streams = await cluster.adopt(node)
  if (streams === 'unknown') return refuse('not_found', `There is no node ${JSON.stringify(node)}.`)
  if (streams === 'alive') return refuse('conflict', `${node} is alive. Stop it first, and wait until its lease ends.`)
  const answer = { node, adopted_by: cluster.nodeId, streams }
  const fact = { type: 'node_adopted', node, by: cluster.nodeId, reason: by.reason } as const
  const remember = keepUnder(by.once, 200, () => ({ body: answer }))
  const refusal = await app.ledger.record(fact, { now: app.now(), actor: by.actor }, { remember })
  return refusal === null ? ok(answer) : toProblem(refusal)
}
