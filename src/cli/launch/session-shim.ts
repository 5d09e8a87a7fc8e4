import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../core/json.js'

const HOST = '127.0.0.1'
const SECRET_BYTES = 32
const BODY_BYTES_MAX = 8 * 1024 * 1024
const HEADERS_PASSED = /^(accept|content-type|last-event-id|mcp-[a-z0-9-]+)$/

/** What answers one path: with the request without its body, and the parsed body. */
export type ShimHandler = (request: Request, body: unknown) => Promise<Response>

/** Answers with JSON in one piece: for messages that are many and short. */
export type ShimAnswerer = (body: unknown, signal: AbortSignal) => Promise<JsonObject>

/** The refusal of a request that reached no handler, in the format that the caller reads. */
export type ShimRefusal = (status: number, detail: string) => Response

interface ShimRules {
  readonly methods: readonly string[]
  readonly refuse: ShimRefusal
  /** A body that is not JSON is handed over as its text. */
  readonly takesText?: true
}

export type ShimPath = ShimRules & ({ readonly handle: ShimHandler } | { readonly answer: ShimAnswerer })

/**
 * The door between the agent CLI and the session: it listens on the loopback only, and opens with the secret of the
 * session. The agent's token stays in this process.
 */
export class SessionShim {
  readonly #server: Server
  readonly #secret: string
  readonly #paths: ReadonlyMap<string, ShimPath>
  readonly #socket: string | null
  #refused = 0

  private constructor(paths: Readonly<Record<string, ShimPath>>, socket: string | null) {
    this.#socket = socket
    this.#paths = new Map(Object.entries(paths))
    this.#secret = randomBytes(SECRET_BYTES).toString('base64url')
    this.#server = createServer((request, response) => void this.#answer(request, response))
    this.#server.requestTimeout = 60_000
  }

  /** `socket`: at this path in a folder that nobody else can enter, which takes the place of the secret. */
  static async open(paths: Readonly<Record<string, ShimPath>>, socket: string | null = null): Promise<SessionShim> {
    const shim = new SessionShim(paths, socket)
    await new Promise<void>((resolve, reject) => {
      shim.#server.once('error', reject)
      shim.#server.listen(socket === null ? { host: HOST, port: 0 } : { path: socket }, resolve)
    })
    return shim
  }

  get url(): string {
    if (this.#socket !== null) return 'http://localhost'
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`
  }

  get secret(): string {
    return this.#secret
  }

  /** Requests without the secret, with another Host, or from a web page. */
  get refused(): number {
    return this.#refused
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.#decide(request, response)
      if (answer instanceof Response) await send(response, answer)
      else sendJson(response, answer)
    } catch (error) {
      // The connection ended in the middle, or a handler failed: nobody is let through by that.
      if (!response.headersSent) response.writeHead(500)
      response.end()
      if (!isGone(error) && process.env.PHASELOCK_DEBUG !== undefined) throw error
    }
  }

  async #decide(request: IncomingMessage, response: ServerResponse): Promise<Response | JsonObject> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const found = this.#paths.get(path)
    const refuse: ShimRefusal = found?.refuse ?? refusePlainly
    const stranger = this.#findStranger(request)
    if (stranger !== null) {
      this.#refused += 1
      request.resume()
      return refuse(stranger.status, stranger.detail)
    }
    if (found === undefined) return refuse(404, 'There is nothing at this path.')
    if (!found.methods.includes(request.method ?? '')) return refuse(405, 'This method is not served here.')
    const text = request.method === 'POST' ? await readBody(request) : ''
    if (text === null) return refuse(413, `The request is larger than ${BODY_BYTES_MAX} bytes.`)
    const parsed = request.method === 'POST' ? parseJson(text) : undefined
    const body = parsed === UNREADABLE && found.takesText === true ? text : parsed
    if (body === UNREADABLE) return refuse(400, 'The request is not JSON.')
    const signal = watchForEnd(response)
    return 'answer' in found ? found.answer(body, signal) : found.handle(toWebRequest(request, this.url, signal), body)
  }

  // A web page that the person visits could reach the loopback; it knows neither the secret nor the right Host.
  #findStranger({ headers }: IncomingMessage): { readonly status: number; readonly detail: string } | null {
    if (this.#socket !== null) return null
    if (headers.host !== new URL(this.url).host) return { status: 403, detail: 'The Host header is not accepted.' }
    if (headers.origin !== undefined) return { status: 403, detail: 'Web pages are not served.' }
    const [, given = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? []
    const isKnown = timingSafeEqual(digest(given), digest(this.#secret))
    return isKnown ? null : { status: 401, detail: 'The secret of the session is missing or wrong.' }
  }
}

const UNREADABLE = Symbol('unreadable')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return UNREADABLE
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Aborts when the caller hangs up before it has its answer. */
function watchForEnd(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

function toWebRequest(request: IncomingMessage, url: string, signal: AbortSignal): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || !HEADERS_PASSED.test(name) ? [] : [[name, String(value)]],
  )
  return new Request(new URL(request.url ?? '/', url), {
    method: request.method ?? 'GET',
    headers,
    signal,
  })
}

function sendJson(response: ServerResponse, answer: JsonObject): void {
  const text = JSON.stringify(answer)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

async function send(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.flushHeaders()
  if (answer.body === null) {
    response.end()
    return
  }
  const reader = answer.body.getReader()
  response.once('close', () => void reader.cancel().catch(() => undefined))
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    response.write(value)
  }
  response.end()
}

function refusePlainly(status: number, detail: string): Response {
  return Response.json({ error: detail }, { status })
}

function isGone(error: unknown): boolean {
  const { code } = Object(error) as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR'
}
