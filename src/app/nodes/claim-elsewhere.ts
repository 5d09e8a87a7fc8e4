import type { Code } from '../../core/codes.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { type App, StoreUnavailable } from '../app.js'
import { formatStream } from '../ledger/entries.js'
import { ok, type Result } from '../result.js'
import { findNode, refuseWrongNode } from './find-node.js'
import { makeNodeMark, NODE_MARK } from './node-mark.js'

const PATH = '/api/v1/tasks/claim'
const ANSWER_MS_MAX = 60_000
const TOKEN_MS = 60_000

interface Claim {
  readonly taskId: string
  readonly home: string
  readonly bearer: AgentBearer & { kind: 'agent' }
  readonly capabilities: readonly string[] | undefined
}

/** Claims a task on the node that has its work tree. */
export async function claimElsewhere(app: App, claim: Claim): Promise<Result<JsonObject>> {
  const { cluster } = app.ledger
  if (cluster === undefined) throw new Error('there is no other node')
  const { taskId, home, bearer, capabilities } = claim
  const node = await findNode(cluster, home)
  if (node === null) return refuseWrongNode(formatStream(taskId), home)
  const now = app.now()
  const agent = { id: bearer.agentId, instance: bearer.instance, expiresAt: now + TOKEN_MS }
  const authorization = `Bearer ${app.tokens.mintAgentToken(agent, now).token}`
  const { host } = new URL(node.url)
  const marked = { method: 'POST', url: PATH, host, authorization, session: '', to: home }
  const by = { secret: app.secrets.signing()[0] ?? '', from: cluster.nodeId, now }
  const headers = { authorization, 'content-type': 'application/json', [NODE_MARK]: makeNodeMark(marked, by) }
  const body = JSON.stringify({
    agent_id: bearer.agentId,
    task_id: taskId,
    ...(capabilities === undefined ? {} : { capabilities }),
  })
  try {
    const response = await fetch(new URL(PATH, node.url), {
      ...{ method: 'POST', headers, body, redirect: 'error' },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const answer = (await response.json()) as JsonObject
    return response.ok ? ok(answer) : { ok: false, problem: readProblem(answer) }
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    return refuseWrongNode(formatStream(taskId), home)
  }
}

// The other node has recorded it.
function readProblem(answer: JsonObject) {
  const { type: _type, title: _title, status: _status, remedy: _remedy, code, detail, ...extra } = answer
  return { code: code as Code, detail: String(detail), extra, recorded: true }
}
