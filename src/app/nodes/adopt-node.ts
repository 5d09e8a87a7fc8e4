import type { JsonObject } from '../../core/json.js'
import type { Cluster, NodeRow } from '../../store/cluster.js'
import type { App } from '../app.js'
import { keepUnder, type Once } from '../kept-answer.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { recoverTrees } from '../trees/recover-trees.js'

// A change of a tree takes seconds at most: a lock that is held for longer belongs to a process that is paused.
const LOCK_MS_MAX = 10_000

interface Adoption {
  readonly actor: string
  readonly once: Once | undefined
  readonly reason: string
  /** The folder of its shared trees is lost: they count as they are at the next claim. */
  readonly isWithoutTrees: boolean
}

/** Takes over the tasks and councils of a node that has gone for good. */
export async function adoptNode(app: App, node: string, by: Adoption): Promise<Result<JsonObject>> {
  const { cluster } = app.ledger
  if (cluster === undefined) return refuse('conflict', 'This server is alone: its ledger is in SQLite.')
  if (node === cluster.nodeId) return refuse('conflict', `${node} is the server that was asked.`)
  const found = (await cluster.listNodes()).find(({ id }) => id === node)
  if (found === undefined) return refuse('not_found', `There is no node ${JSON.stringify(node)}.`)
  if (found.isAlive) return refuseAlive(node)
  const differ = by.isWithoutTrees ? null : refuseOtherTrees(app, found)
  if (differ !== null) return differ
  const streams = await takeOver(app, cluster, found)
  if (typeof streams !== 'number') return streams
  const answer = { node, adopted_by: cluster.nodeId, streams }
  const reason = by.isWithoutTrees ? `${by.reason} (without its shared trees)`.trim() : by.reason
  const fact = { type: 'node_adopted', node, by: cluster.nodeId, reason } as const
  const remember = keepUnder(by.once, 200, () => ({ body: answer }))
  const refusal = await app.ledger.record(fact, { now: app.now(), actor: by.actor }, { remember })
  if (refusal !== null) return toProblem(refusal)
  // What the node had begun and cannot be finished stays as it is; the next call about it says why.
  if (app.sharedTrees !== null) await recoverTrees(app, () => undefined)
  return ok(answer)
}

type Refused = Extract<Result<never>, { ok: false }>

// The node changes trees only while it holds its lock, and asks the database after it has taken it: with the lock in
// our hand nothing is half done, and afterwards it is refused.
async function takeOver(app: App, cluster: Cluster, { id: node }: NodeRow): Promise<number | Refused> {
  const lock = app.sharedTrees?.hasNode(node) === true ? app.sharedTrees.lockOf(node) : null
  try {
    if (lock !== null && !(await lock.take(LOCK_MS_MAX)))
      return refuse('conflict', `A process of ${node} was stopped in the middle of a change of a work tree.`, {
        next_step: `End that process on its machine (kill -9), or switch the machine off. Then: phaselock nodes adopt ${node}`,
      })
    const streams = await cluster.adopt(node)
    if (streams === 'unknown') return refuse('not_found', `There is no node ${JSON.stringify(node)}.`)
    return streams === 'alive' ? refuseAlive(node) : streams
  } finally {
    lock?.close()
  }
}

function refuseAlive(node: string): Refused {
  return refuse('conflict', `${node} is alive. Stop it first, and wait until its lease ends.`)
}

// What the node knew about its trees would be lost, and changes that nobody explained would not be found.
function refuseOtherTrees({ sharedTrees: own }: App, { id, sharedTrees: theirs }: NodeRow): Refused | null {
  if (theirs === 'forged')
    return refuse('trees_elsewhere', `The database names a folder of shared trees for ${id}, and no node wrote that.`, {
      next_step: `Start ${id} once, so that it names its folder again. If it is lost: phaselock nodes adopt ${id} --without-trees`,
    })
  if (theirs === null || theirs.id === own?.id) return null
  const here = own === null ? 'keeps its own in its state directory' : `shares those in ${own.folder}`
  return refuse(
    'trees_elsewhere',
    `${id} keeps what it knows about its work trees in ${theirs.folder}; this server ${here}.`,
    {
      folder: theirs.folder,
      next_step: `Adopt it from a server that was started with --shared-trees ${theirs.folder}. If that folder is lost: phaselock nodes adopt ${id} --without-trees`,
    },
  )
}
