import type { ClientRequest, ServerResponse } from 'node:http'
import { createServer, Agent as HttpAgent, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { Transform } from 'node:stream'
import { type AnswerReader, CARRY_LIMITS, type Carried, type CarryLimits, carryAnswer } from './carry-answer.js'
import { type GatewaySocket, MODEL_ORIGIN } from './gateway-ports.js'
import {
  buildDownstreamHeaders,
  buildUpstreamHeaders,
  findRelayProblem,
  isEncoded,
  parseUpstream,
  type RelayRefusal,
  type Upstream,
} from './relay-request.js'
import { listenAt, makeSocketPath } from './socket-paths.js'
import { TakenBook, type TakenUsage } from './usage-book.js'
import { type MeteredUsage, UsageMeter } from './usage-meter.js'

const HEADER_BYTES_MAX = 64 * 1024
const HEADERS_MS_MAX = 10_000
const BODY_BYTES_MAX = 64 * 1024 * 1024
const BODY_MS_MAX = 300_000
const CONNECTIONS_MAX = 256
/** A model may think for long before its first word. */
const SILENCE_MS_MAX = 900_000
/** Smaller numbers are not a status, and passing on one below 100 is a fault. */
const STATUS_MIN = 200
const STATUS_REFUSED_MIN = 300

interface RelayUse {
  readonly method: string
  /** Without its query. */
  readonly path: string
  /** The answered status; null when the client had disconnected. */
  readonly status: number | null
  readonly sentBytes: number
  readonly receivedBytes: number
  readonly durationMs: number
}

export interface ModelRelayOptions {
  /** The only reachable endpoint: `https://api.example.com/v1`. */
  readonly baseUrl: string
  /** Of `openSocketDir`. */
  readonly dir: string
  /** Added to every request instead of what the agent sends: its key, which it never sees. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called once for each request that was passed on. */
  readonly onUse?: (use: RelayUse) => void
  /** Called for each answer of a model, when it has ended or was cut off, with the reported usage. */
  readonly onTaken?: (taken: TakenUsage) => void
  /** Called for each answer of a model without readable usage. */
  readonly onUntold?: () => void
  /** Milliseconds. */
  readonly now?: () => number
  readonly bodyBytesMax?: number
  readonly carryLimits?: Partial<CarryLimits>
}

export interface ModelRelay extends GatewaySocket {
  /** The base URL for the agent, on the loopback in the sandbox. */
  readonly url: string
}

/** A socket that leads to one model endpoint and to nothing else. */
export async function openModelRelay(options: ModelRelayOptions): Promise<ModelRelay> {
  const upstream = parseUpstream(options.baseUrl)
  const relay = new Relay(upstream, options)
  const path = makeSocketPath(options.dir)
  await listenAt(relay.server, path)
  return { path, url: `${MODEL_ORIGIN}${upstream.basePath}`, close: () => relay.close() }
}

class Relay {
  readonly server: Server
  readonly #agent: HttpAgent | HttpsAgent
  readonly #added: Readonly<Record<string, string>>
  readonly #bodyBytesMax: number
  readonly #answers = new Set<Carried>()
  readonly #book = new TakenBook()
  /** The answer to the newest request of each connection. */
  readonly #newest = new WeakMap<Socket, ServerResponse>()

  constructor(
    private readonly upstream: Upstream,
    private readonly options: ModelRelayOptions,
  ) {
    this.#added = options.headers ?? {}
    this.#bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX
    this.#agent =
      upstream.url.protocol === 'https:'
        ? new HttpsAgent({ maxSockets: CONNECTIONS_MAX })
        : new HttpAgent({ maxSockets: CONNECTIONS_MAX })
    this.server = createServer(
      { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: HEADERS_MS_MAX, requestTimeout: BODY_MS_MAX },
      (request, response) => this.#take(request, response),
    )
    this.server.maxConnections = CONNECTIONS_MAX
    this.server.on('connect', (_request: IncomingMessage, socket: Socket) => turnAway(socket))
    this.server.on('clientError', (_error: Error, socket: Socket) => turnAway(socket))
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    for (const carried of this.#answers) carried.cut()
    this.#agent.destroy()
    await closed
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    if (this.#waitsBehind(request, response)) return void request.socket.destroy()
    const isLarge = Number(request.headers['content-length'] ?? 0) > this.#bodyBytesMax
    const refused = findRelayProblem(request, this.upstream, Object.keys(this.#added).length > 0)
    const problem = refused ?? (isLarge ? TOO_LARGE : null)
    if (problem !== null) {
      refuse(response, problem)
      return
    }
    const { url } = this.upstream
    try {
      const passedOn = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
        agent: this.#agent,
        hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
        method: request.method ?? 'GET',
        path: request.url ?? '/',
        headers: buildUpstreamHeaders(request, this.upstream, this.#added),
        timeout: SILENCE_MS_MAX,
      })
      this.#passOn(request, response, passedOn)
    } catch {
      // Node does not send a header that it could not have read itself.
      refuse(response, UNREADABLE)
    }
  }

  // Pipelined requests are unlimited otherwise, and no client of a model sends them.
  #waitsBehind({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const before = this.#newest.get(socket)
    this.#newest.set(socket, response)
    return before?.writableEnded === false
  }

  #passOn(request: IncomingMessage, response: ServerResponse, passedOn: ClientRequest): void {
    const startedAt = performance.now()
    const sent = new CountingTransform(this.#bodyBytesMax)
    let carried: Carried | null = null
    passedOn.on('timeout', () => passedOn.destroy(new Error('silent')))
    passedOn.on('response', (answer) => {
      const { statusCode = 0 } = answer
      if (statusCode < STATUS_MIN) return void passedOn.destroy(new Error('no status'))
      if (!response.destroyed) {
        response.writeHead(statusCode, buildDownstreamHeaders(answer.headers))
        // The first word of a model may take long; the headers are sent now.
        response.flushHeaders()
      }
      carried = this.#carry(request, response, answer)
    })
    passedOn.on('error', () => refuse(response, UNREACHABLE))
    // Without a handler, an upgrade would be dropped silently.
    passedOn.on('upgrade', (_answer, socket) => {
      socket.destroy()
      refuse(response, UNREACHABLE)
    })
    sent.on('error', () => {
      refuse(response, TOO_LARGE)
      passedOn.destroy()
    })
    request.pipe(sent).pipe(passedOn)
    response.on('close', () => {
      if (carried === null) this.#leave(request, passedOn)
      this.options.onUse?.({
        method: request.method ?? 'GET',
        path: (request.url ?? '/').split('?')[0] ?? '/',
        status: response.headersSent ? response.statusCode : null,
        sentBytes: sent.bytes,
        receivedBytes: carried?.bytes() ?? 0,
        durationMs: Math.round(performance.now() - startedAt),
      })
    })
  }

  // A client that disconnects before the first word has still made a request: the answer is awaited and counted.
  #leave({ method }: IncomingMessage, passedOn: ClientRequest): void {
    const hasAsked = method === 'POST' && passedOn.writableFinished && !passedOn.destroyed
    if (!hasAsked || this.options.onTaken === undefined) return void passedOn.destroy()
    const timer = setTimeout(() => passedOn.destroy(), this.#limits.readOnMsMax)
    timer.unref()
    for (const over of ['response', 'close']) passedOn.once(over, () => clearTimeout(timer))
  }

  get #limits(): CarryLimits {
    return { ...CARRY_LIMITS, ...this.options.carryLimits }
  }

  #carry(request: IncomingMessage, response: ServerResponse, answer: IncomingMessage): Carried {
    const carried = carryAnswer(answer, response, this.#readerOf(request, answer), this.#limits)
    this.#answers.add(carried)
    answer.on('close', () => this.#answers.delete(carried))
    return carried
  }

  /** Null if there is no usage: an endpoint that refuses has not asked a model. */
  #readerOf({ method }: IncomingMessage, { statusCode = 0, headers }: IncomingMessage): AnswerReader | null {
    const { onTaken, onUntold } = this.options
    if (onTaken === undefined || statusCode >= STATUS_REFUSED_MIN) return null
    const meter = new UsageMeter()
    const beganAt = (this.options.now ?? Date.now)()
    const isAsked = method === 'POST'
    let isTold = false
    const told = (all: readonly MeteredUsage[]): void => {
      for (const one of all) onTaken({ ...this.#book.name(one, isAsked), beganAt })
      isTold ||= all.length > 0
    }
    return {
      take: (bytes) => told(meter.take(bytes)),
      end: () => {
        told(meter.end())
        if (!isTold && isAsked && (meter.isEvents || isEncoded(headers))) onUntold?.()
      },
    }
  }
}

/** Passes on the body, and counts it; more than the maximum is an error. */
class CountingTransform extends Transform {
  bytes = 0

  constructor(private readonly bytesMax: number) {
    super()
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.bytes += chunk.length
    if (this.bytes > this.bytesMax) done(new Error('too large'))
    else done(null, chunk)
  }
}

type Refusal = RelayRefusal | { readonly status: 502; readonly message: string }

const TOO_LARGE: Refusal = { status: 413, message: 'The body of the request is too large.' }
const UNREADABLE: Refusal = { status: 400, message: 'The headers of the request cannot be passed on.' }
const UNREACHABLE: Refusal = { status: 502, message: 'The model endpoint cannot be reached.' }

// In the format that clients of model endpoints read.
function refuse(response: ServerResponse, { status, message }: Refusal): void {
  if (response.destroyed || response.writableEnded) return
  // Half of an answer was sent already: it can only be ended.
  if (response.headersSent) return void response.destroy()
  const body = JSON.stringify({ type: 'error', error: { type: 'relay_error', message } })
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(body)
}

function turnAway(socket: Socket): void {
  if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  socket.destroySoon()
}
