import { realpath } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isBySession, type Principal } from '../app/identity/identity.js'
import { isSameStart, refuseWrongNode } from '../app/nodes/find-node.js'
import { isNodeMark, type MarkedRequest, makeNodeMark, NODE_MARK, NODE_SESSION } from '../app/nodes/node-mark.js'
import { findTreeHome } from '../app/nodes/tree-home.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { type Problem, refuse } from '../app/result.js'
import { isObject } from '../core/json.js'
import { askNode } from './ask-node.js'
import { findStream } from './find-stream.js'
import { isReadMethod } from './is-read-method.js'
import { keepForwardedSession, readSessionCookie } from './session-cookie.js'

type Cluster = NonNullable<Orchestrator['ledger']['cluster']>

// Each start of a node that stops again before it has answered.
const STARTS_MAX = 10

/** Sends requests about a task or council to the node that has it. */
export class Forwarder {
  /** Requests that another node forwarded to this one. */
  readonly #arrived = new WeakSet<IncomingMessage>()
  readonly #bodies = new WeakMap<IncomingMessage, string>()

  constructor(private readonly app: Orchestrator) {}

  /** Keeps the body as it was sent. */
  keepBody(request: IncomingMessage, text: string): void {
    if (this.app.ledger.cluster !== undefined) this.#bodies.set(request, text)
  }

  /** Whether a node sent the request; a problem when it says so and no node did. */
  findArrival(request: IncomingMessage): boolean | Problem {
    const mark = request.headers[NODE_MARK]
    const session = request.headers[NODE_SESSION]
    if (mark === undefined && session === undefined) return false
    const { cluster } = this.app.ledger
    const secrets = this.app.secrets.signing()
    const isFromNode =
      cluster !== undefined &&
      typeof mark === 'string' &&
      isNodeMark(mark, describe(request, String(session ?? ''), cluster.nodeId), { secrets, now: this.app.now() })
    if (!isFromNode) return refuse('not_permitted', 'The request says that a node forwarded it, and none did.').problem
    this.#arrived.add(request)
    if (typeof session === 'string' && session !== '') keepForwardedSession(request, session)
    return true
  }

  /** Answers the request from the node that it is for. False: that is this one. */
  async forward(request: FastifyRequest, reply: FastifyReply, principal: Principal): Promise<boolean | Problem> {
    const { cluster } = this.app.ledger
    if (cluster === undefined) return false
    const stream = await findStream(this.app, request, principal)
    const home = stream === null ? await this.#findHomeOfTree(request) : await this.app.ledger.findOtherHome(stream)
    if (home === null) return false
    const away = refuseWrongNode(stream ?? 'The work tree', home).problem
    // Forwarded once already: the nodes do not agree on where it belongs.
    if (this.#arrived.has(request.raw)) return away
    const answer = await this.#askHome(request, { cluster, home, principal })
    if (answer === null) return away
    reply.hijack()
    const { raw } = reply
    raw.writeHead(answer.statusCode ?? 502, dropHopByHop(answer.headers))
    answer.pipe(raw)
    answer.once('error', () => raw.destroy())
    raw.once('close', () => answer.destroy())
    return true
  }

  // A new task in a shared tree belongs to the node whose tasks work there.
  async #findHomeOfTree(request: FastifyRequest): Promise<string | null> {
    if (this.app.sharedTrees === null || request.routeOptions.url !== '/api/v1/tasks' || request.method !== 'POST')
      return null
    const body = isObject(request.body) ? request.body : {}
    const workspace = await realpath(String(body.workspace ?? this.app.workspace)).catch(() => null)
    const home = workspace === null ? null : await findTreeHome(this.app, workspace)
    // The other node has a work tree of its own for tasks that name none.
    if (home !== null) this.#bodies.set(request.raw, JSON.stringify({ ...body, workspace }))
    return home
  }

  // A node that is restarted has not begun to handle the request: its next start gets it.
  async #askHome(
    request: FastifyRequest,
    { cluster, home, principal }: { readonly cluster: Cluster; readonly home: string; readonly principal: Principal },
  ): Promise<IncomingMessage | null> {
    const session = isBySession(principal) ? (readSessionCookie(request.raw) ?? '') : ''
    const kept = { ...copyHeaders(request.raw), ...(session === '' ? {} : { [NODE_SESSION]: session }) }
    let tried: number | undefined
    for (let starts = 0; starts < STARTS_MAX; starts += 1) {
      const node = await cluster.awaitNode(home, tried)
      if (node === null || request.raw.socket.destroyed) return null
      const by = { secret: this.app.secrets.signing()[0] ?? '', from: cluster.nodeId, now: this.app.now() }
      const headers = { ...kept, [NODE_MARK]: makeNodeMark(describe(request.raw, session, home), by) }
      const isAlive = () => isSameStart(cluster, node)
      const body = this.#bodies.get(request.raw) ?? ''
      const said = await askNode({ url: node.url, request, headers, body, isAlive })
      if (said.kind === 'answered') return said.answer
      // What only reads can be asked again.
      if (said.kind === 'gone' && !isReadMethod(request.method)) return null
      tried = node.epoch
    }
    return null
  }
}

function describe(request: IncomingMessage, session: string, to: string): MarkedRequest {
  const { method = '', url = '', headers } = request
  return { method, url, host: headers.host ?? '', authorization: headers.authorization ?? '', session, to }
}

const HOP_BY_HOP = /^(connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-.*)$/

function dropHopByHop(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !HOP_BY_HOP.test(name)) kept[name] = value
  return kept
}

// The session goes in a header of its own, and nobody but a node may say that a request was forwarded.
const REPLACED: ReadonlySet<string> = new Set(['cookie', 'content-length', NODE_MARK, NODE_SESSION])

function copyHeaders(request: IncomingMessage): Record<string, string | string[]> {
  const kept = dropHopByHop(request.headers)
  for (const name of REPLACED) delete kept[name]
  return kept
}
