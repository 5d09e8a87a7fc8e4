import type { Cluster, NodeRow } from '../../store/cluster.js'
import type { App } from '../app.js'
import { runStream } from '../councils/council-book.js'
import type { Principal } from '../identity/identity.js'
import { formatStream } from '../ledger/entries.js'
import { type Result, refuse } from '../result.js'

const LOST_MAX = 50
const WAIT_SECONDS = 2

/** The stream that a caller works on by its token; null: none, or several. */
export async function findStreamOfCaller(app: App, principal: Principal): Promise<string | null> {
  if (principal.kind === 'operator') return null
  if (principal.kind === 'participant') return runStream(principal.bearer.runId)
  if (principal.kind === 'reviewer') return formatStream(principal.bearer.taskId)
  const { bearer } = principal
  if (bearer.kind === 'phase') return formatStream(bearer.taskId)
  const { store } = app.ledger
  const held = await store.findHeldBy(bearer.agentId)
  if (held !== null) return formatStream(held.id)
  // The next call of an agent that lost its task by lease expiry resumes it.
  const lost = await store.queryTasks({ agentId: bearer.agentId, status: 'interrupted', limit: LOST_MAX })
  const [newest] = [...lost.items].sort((a, b) => b.updatedAt - a.updatedAt)
  return newest === undefined ? null : formatStream(newest.id)
}

/** The living node with this id, which listens. */
export async function findNode(cluster: Cluster, id: string): Promise<(NodeRow & { readonly url: string }) | null> {
  const node = (await cluster.listNodes()).find((one) => one.id === id)
  return node?.isAlive === true && node.url !== null ? { ...node, url: node.url } : null
}

/** Whether this start of a node still runs; also while it stops and finishes its calls. */
export async function isSameStart(cluster: Cluster, { id, epoch }: NodeRow): Promise<boolean> {
  const node = (await cluster.listNodes()).find((one) => one.id === id)
  return node?.isAlive === true && node.epoch === epoch
}

/** The task or council is on a node that does not answer. Only that node has its work tree. */
export function refuseWrongNode(stream: string, home: string): Extract<Result<never>, { ok: false }> {
  const what = stream.replace(/^task:/, 'Task ').replace(/^run:/, 'Council ')
  return refuse('wrong_node', `${what} is on ${home}, which cannot be reached now.`, {
    node: home,
    retry_after: WAIT_SECONDS,
  })
}
