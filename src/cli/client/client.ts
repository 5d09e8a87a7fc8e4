import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'
import { findProgramName } from '../program-name.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { formatProblem } from '../terminal/problem-text.js'
import { type ClientOptions, type Connection, connect } from './connection.js'

const ANSWER_MS_MAX = 30_000

export type Query = Readonly<Record<string, string | number | undefined>>

/** Speaks with a server. What it refuses ends the command with the reason and what to do. */
export class Client {
  readonly #connection: Connection
  #proven: Promise<void> | null = null

  constructor(options: ClientOptions) {
    this.#connection = connect(options)
  }

  get url(): string {
    return this.#connection.url
  }

  get(path: string, query: Query = {}, msMax: number = ANSWER_MS_MAX): Promise<JsonObject> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(
      Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    ).toString()
    return this.#ask(search === '' ? path : `${path}?${search}`, { method: 'GET' }, msMax)
  }

  post(path: string, body: JsonObject = {}, msMax: number = ANSWER_MS_MAX): Promise<JsonObject> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) }, msMax)
  }

  /** An event stream of the server from after the event `lastId` on: everything, or one run. */
  async stream(lastId: string | null, signal: AbortSignal, path = '/events'): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) }
    const response = await this.#fetch(`/api/v1${path}`, { method: 'GET', headers, signal })
    if (response.ok && response.body !== null) return response.body
    throw toStop(await readJson(response, this.url), this.#connection)
  }

  async #ask(path: string, request: { method: string; body?: string }, msMax: number): Promise<JsonObject> {
    const headers: Record<string, string> = { accept: 'application/json' }
    if (request.body !== undefined) headers['content-type'] = 'application/json'
    // Sent twice by a proxy or a retry, the call acts once.
    if (request.method !== 'GET') headers['idempotency-key'] = randomUUID()
    const at = path.startsWith('/health') ? path : `/api/v1${path}`
    const response = await this.#fetch(at, { ...request, headers, signal: AbortSignal.timeout(msMax) })
    const answer = await readJson(response, this.url)
    if (response.ok) return answer
    throw toStop(answer, this.#connection)
  }

  async #fetch(path: string, request: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const { url, token } = this.#connection
    await this.#prove()
    const headers = token === null ? request.headers : { ...request.headers, authorization: `Bearer ${token}` }
    try {
      // A redirect would carry the token to somebody else.
      return await fetch(`${url}${path}`, { ...request, headers, redirect: 'error' })
    } catch (error) {
      throw stopUnreachable(url, error)
    }
  }

  #prove(): Promise<void> {
    const { url, stateDir } = this.#connection
    this.#proven ??= stateDir === null ? Promise.resolve() : requireServerProof(stateDir, url)
    return this.#proven
  }
}

async function requireServerProof(stateDir: string, url: string): Promise<void> {
  // It reads keys and locks, which commands that ask no server do without.
  const { requireProof } = await import('./prove-server.js')
  try {
    await requireProof(stateDir, url)
  } catch (error) {
    throw error instanceof Stop ? error : stopUnreachable(url, error)
  }
}

/** A part of a path that somebody typed. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text)
}

async function readJson(response: Response, url: string): Promise<JsonObject> {
  try {
    const answer: unknown = JSON.parse(await response.text())
    if (typeof answer === 'object' && answer !== null) return answer as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw stopUnreachable(url, error)
  }
  throw new Stop(EXIT.unreachable, `What answers at ${url} is not a Phaselock server. Give another address with --url.`)
}

function toStop(problem: JsonObject, connection: Connection): Stop {
  if (problem.code === 'token_missing' && connection.token === null)
    return new Stop(
      EXIT.refused,
      `No operator token was found for ${connection.url}. [token_missing]\nGive --token-file FILE or set PHASELOCK_OPERATOR_TOKEN; the server's own lies in its state directory as operator.token.`,
      { problem },
    )
  const isOperator = connection.token?.startsWith('plop_') === true
  if (problem.code === 'token_invalid' && isOperator)
    return new Stop(
      EXIT.refused,
      `${connection.url} does not know this operator token: it is of another server, or revoked. [token_invalid]\nGive the right one with --token-file FILE.`,
      { problem },
    )
  return new Stop(EXIT.refused, formatProblem(problem), { problem })
}

function stopUnreachable(url: string, error: unknown): Stop {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const name = error instanceof Error ? error.name : ''
  const code = (cause as NodeJS.ErrnoException).code
  const why = name === 'TimeoutError' ? 'no answer in time' : (code ?? toPlainLine(String(cause)))
  const isCertificate = /CERT|ALTNAME|VERIFY/.test(code ?? '')
  if (isCertificate)
    return new Stop(
      EXIT.unreachable,
      `The certificate of ${url} is not trusted here (${code}).\nName the file of its authority: NODE_EXTRA_CA_CERTS=ca.pem`,
    )
  return new Stop(
    EXIT.unreachable,
    `Cannot reach a server at ${url} (${why}).\nStart one with \`${findProgramName()} serve\`, or \`npm start\` in the Phaselock folder; name another with --url.`,
  )
}
