import type { Address } from './address.js'
import { makeApiError, PhaselockError, Unreachable } from './errors.js'
import { isObject, type JsonObject, parseJson } from './json.js'
import { type Received, type Sent, send } from './transport.js'

interface Limits {
  /** Number of consecutive quick failures that end a call. */
  readonly attemptsMax: number
  /** Time limit of a whole call. */
  readonly callMsMax: number
}

interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** `null`: none is sent. */
  readonly token: string | null
  readonly body?: JsonObject
  /** The same for every attempt of one call, so that the server acts once. */
  readonly key?: string
  /** Time limit of one attempt; default: the limit of the connection. */
  readonly msMax?: number
}

const WAIT_MS_FIRST = 200
const WAIT_MS_MAX = 10_000
const RETRY_AFTER_MS_MAX = 60_000
/** If an attempt that took this long is cut off, the server was working on it: it is still reachable. */
export const WORKING_MS = 20_000
const SECONDS = /^\d{1,9}(\.\d{1,9})?$/
const ATTEMPT_MS_MAX = 660_000
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** Errors that do not pass by themselves. */
const LASTING: ReadonlySet<string> = new Set(['confinement_unavailable', 'knowledge_unavailable'])

/** Sends calls until they are answered: bounded, with growing pauses, and with one key each. */
export class Connection {
  readonly #address: Address
  readonly #secrets = new Set<string>()
  readonly #ended = new AbortController()

  constructor(
    address: Address,
    readonly limits: Limits,
  ) {
    this.#address = address
  }

  get isClosed(): boolean {
    return this.#ended.signal.aborted
  }

  close(): void {
    this.#ended.abort()
  }

  /** Runs the work when the client is closed, unless the returned function is called first. */
  onClose(work: () => void): () => void {
    this.#ended.signal.addEventListener('abort', work)
    return () => this.#ended.signal.removeEventListener('abort', work)
  }

  /** From now on the token is removed from all error messages. */
  hide(token: string): void {
    this.#secrets.add(token)
    if (this.#secrets.size > SECRETS_MAX) this.#secrets.delete([...this.#secrets][1] ?? '')
  }

  /** The answer to a call. Throws the server's refusal, or `Unreachable`. */
  async call(request: Request): Promise<JsonObject> {
    const began = performance.now()
    for (let failures = 0, attempts = 1; ; attempts += 1) {
      const started = performance.now()
      const outcome = await this.#attempt(request)
      if (outcome.kind === 'answered') return outcome.answer
      failures = performance.now() - started > WORKING_MS ? 1 : failures + 1
      const waitMs = outcome.waitMs ?? computeBackOffMs(failures)
      const isLate = performance.now() - began + waitMs > this.limits.callMsMax
      if (failures >= this.limits.attemptsMax || isLate) throw outcome.error(attempts)
      await this.pause(waitMs)
    }
  }

  /** Opens a stream, once. Throws `Unreachable` for temporary failures, and the refusal otherwise. */
  async open(request: Request & { readonly headers: Readonly<Record<string, string>> }, signal: AbortSignal) {
    this.#checkOpen()
    const received = await this.#send({
      ...buildSent(request),
      headers: { ...buildHeaders(request), ...request.headers },
      signal,
    })
    if (received.status === 200) return received.chunks
    const problem = problemOf(this.#hidden(await textIn(received, ANSWER_BYTES_MAX)))
    if (isPassing(received.status, problem)) throw new Unreachable(1, makeApiError(received.status, problem).message)
    throw makeApiError(received.status, problem)
  }

  /** Waits. Throws when the client is closed. */
  async pause(ms: number): Promise<void> {
    if (!(await this.paused(ms))) this.#checkOpen()
  }

  /** Waits; false when the client is closed before the time is over. */
  async paused(ms: number): Promise<boolean> {
    if (this.isClosed) return false
    const { signal } = this.#ended
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal.addEventListener('abort', done)
    })
    return !this.isClosed
  }

  async #attempt(request: Request): Promise<Outcome> {
    this.#checkOpen()
    const limit = new AbortController()
    const end = (): void => limit.abort()
    const late = (): void => limit.abort(new DOMException('no answer in time', 'TimeoutError'))
    const timer = setTimeout(late, request.msMax ?? Math.min(ATTEMPT_MS_MAX, this.limits.callMsMax))
    this.#ended.signal.addEventListener('abort', end)
    try {
      const received = await this.#send({ ...buildSent(request), headers: buildHeaders(request), signal: limit.signal })
      const text = await textIn(received, ANSWER_BYTES_MAX)
      // The server never sends an empty answer, so an empty one was cut off.
      if (text === '') throw new Error('the answer was cut off')
      if (received.status >= 200 && received.status < 300)
        return { kind: 'answered', answer: answerOf(received.status, text) }
      const problem = problemOf(this.#hidden(text))
      if (!isPassing(received.status, problem)) throw makeApiError(received.status, problem)
      return { kind: 'failed', waitMs: retryAfterMs(received), error: () => makeApiError(received.status, problem) }
    } catch (error) {
      if (error instanceof PhaselockError) throw error
      this.#checkOpen()
      const reason = this.#hidden(reasonOf(error))
      return { kind: 'failed', waitMs: null, error: (attempts) => new Unreachable(attempts, reason, { cause: error }) }
    } finally {
      clearTimeout(timer)
      this.#ended.signal.removeEventListener('abort', end)
    }
  }

  async #send(sent: Sent): Promise<Received> {
    return send(this.#address, sent)
  }

  #hidden(text: string): string {
    let shown = text
    for (const secret of this.#secrets) shown = shown.replaceAll(secret, '[token]')
    return shown
  }

  #checkOpen(): void {
    if (this.isClosed) throw new PhaselockError('the client is closed')
  }
}

const SECRETS_MAX = 20

type Outcome =
  | { readonly kind: 'answered'; readonly answer: JsonObject }
  | {
      readonly kind: 'failed'
      /** The delay that the server asked for; null: the client decides. */
      readonly waitMs: number | null
      readonly error: (attempts: number) => PhaselockError
    }

/** Doubles up to a maximum, with jitter, so that many clients do not return at once. */
export function computeBackOffMs(failures: number): number {
  const ms = Math.min(WAIT_MS_MAX, WAIT_MS_FIRST * 2 ** Math.min(failures - 1, 20))
  return ms * (0.5 + Math.random() / 2)
}

function buildSent({ method, path, body }: Request): Omit<Sent, 'headers' | 'signal'> {
  return { method, path, body: body === undefined ? null : JSON.stringify(body) }
}

function buildHeaders({ token, body, key }: Request): Readonly<Record<string, string>> {
  return {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  }
}

function isPassing(status: number, problem: JsonObject): boolean {
  return RETRIED.has(status) && !LASTING.has(String(problem.code))
}

function retryAfterMs(received: Received): number | null {
  const said = received.header('retry-after')?.trim() ?? ''
  // Dates are ignored: the clocks of server and client may differ.
  return SECONDS.test(said) ? Math.min(Number(said) * 1000, RETRY_AFTER_MS_MAX) : null
}

async function textIn(received: Received, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of received.chunks) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new PhaselockError(`the answer is larger than ${bytesMax} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function answerOf(status: number, text: string): JsonObject {
  const answer = parseJson(text)
  if (!isObject(answer)) throw makeApiError(status, { detail: 'The answer is not JSON: is this a Phaselock server?' })
  return answer
}

function problemOf(text: string): JsonObject {
  const problem = parseJson(text)
  return isObject(problem) ? problem : {}
}

// `fetch` says only "fetch failed"; what failed is in its cause.
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause ? String(cause.code) : ''
  return cause.message === '' ? code : cause.message
}
