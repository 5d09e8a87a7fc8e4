import { request as askHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as askHttps } from 'node:https'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isBySession, type Principal } from '../app/identity/identity.js'
import { findNode, refuseWrongNode } from '../app/nodes/find-node.js'
import { isNodeMark, type MarkedRequest, makeNodeMark, NODE_MARK, NODE_SESSION } from '../app/nodes/node-mark.js'
import type { Orchestrator } from '../app/orchestrator.js'
import { type Problem, refuse } from '../app/result.js'
import { findStream } from './find-stream.js'
import { keepForwardedSession, readSessionCookie } from './session-cookie.js'

const LOOK_MS = 1_000

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
      isNodeMark(mark, describe(request, String(session ?? ''), cluster.nodeId), { secrets, now: Date.now() })
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
    const home = stream === null ? null : await this.app.ledger.findOtherHome(stream)
    if (stream === null || home === null) return false
    const away = refuseWrongNode(stream, home).problem
    // Forwarded once already: the nodes do not agree on where it belongs.
    if (this.#arrived.has(request.raw)) return away
    const node = await findNode(cluster, home)
    if (node === null) return away
    const session = isBySession(principal) ? (readSessionCookie(request.raw) ?? '') : ''
    const by = { secret: this.app.secrets.signing()[0] ?? '', from: cluster.nodeId, now: Date.now() }
    const mark = makeNodeMark(describe(request.raw, session, home), by)
    const headers = {
      ...copyHeaders(request.raw),
      [NODE_MARK]: mark,
      ...(session === '' ? {} : { [NODE_SESSION]: session }),
    }
    const isAlive = async (): Promise<boolean> => (await findNode(cluster, home))?.epoch === node.epoch
    const answer = await ask({ url: node.url, request, headers, body: this.#bodies.get(request.raw) ?? '', isAlive })
    if (answer === null) return away
    reply.hijack()
    const { raw } = reply
    raw.writeHead(answer.statusCode ?? 502, dropHopByHop(answer.headers))
    answer.pipe(raw)
    answer.once('error', () => raw.destroy())
    raw.once('close', () => answer.destroy())
    return true
  }
}

function describe(request: IncomingMessage, session: string, to: string): MarkedRequest {
  const { method = '', url = '', headers } = request
  return { method, url, host: headers.host ?? '', authorization: headers.authorization ?? '', session, to }
}

interface Asked {
  readonly url: string
  readonly request: FastifyRequest
  readonly headers: Record<string, string | string[]>
  readonly body: string
  readonly isAlive: () => Promise<boolean>
}

// No time limit: a tool may run for minutes. While the node renews its lease, it is working on the answer.
// Null: it cannot be reached, or has gone before it answered.
function ask({ url, request, headers, body, isAlive }: Asked): Promise<IncomingMessage | null> {
  const target = new URL(request.url, url)
  const sent = { ...headers, ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }) }
  return new Promise((resolve) => {
    const begin = target.protocol === 'https:' ? askHttps : askHttp
    const asked: ClientRequest = begin(target, {
      ...{ method: request.method, headers: sent, setHost: false },
      // A connection that the other side may just have closed would make an answer uncertain.
      agent: false,
    })
    const timer = setInterval(() => {
      isAlive().then(
        (is) => (is ? undefined : asked.destroy()),
        () => asked.destroy(),
      )
    }, LOOK_MS)
    const settle = (answer: IncomingMessage | null): void => {
      clearInterval(timer)
      resolve(answer)
    }
    asked.once('response', settle)
    asked.on('error', () => settle(null))
    asked.once('close', () => settle(null))
    request.raw.once('close', () => {
      if (request.raw.destroyed && !request.raw.complete) asked.destroy()
    })
    asked.end(body)
  })
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
