import type { Readable, Writable } from 'node:stream'
import { framesOf } from 'phaselock/sdk'
import type { JsonObject } from '../../core/json.js'
import { readLines } from './mcp-lines.js'
import {
  buildModernHeaders,
  getMember,
  getMethod,
  listRequestIds,
  type Message,
  makeErrorMessage,
} from './mcp-messages.js'

const RUNNING_MAX = 256
const LEAVE_MS_MAX = 5000
/** The server sends no notifications to this token. */
const NO_STREAM = 405
const RETRY_MS_MIN = 500
const RETRY_MS_MAX = 30_000
const PARSE_ERROR = -32700
const REFUSED = -32000
const EVENT_CHARS_MAX = 64 * 1024 * 1024

interface BridgeParts {
  readonly url: string
  readonly token: string
  readonly output: Writable
  /**
   * Throws unless the server at the address may have the token. Called each time: the server may have been replaced.
   */
  readonly prove: () => Promise<void>
  /** Reports what no message can say; never a token. */
  readonly onTrouble: (text: string) => void
}

/**
 * Carries messages between a line and the MCP endpoint of a server. It decides nothing; it only keeps the session of an
 * older client, which does not handle sessions on a line, so that the session can be reopened after a server restart.
 */
export class McpBridge {
  readonly #running = new Map<string | number, AbortController>()
  readonly #work = new Set<Promise<void>>()
  readonly #streams = new Set<AbortController>()
  readonly #left = new AbortController()
  #initialize: JsonObject | null = null
  #handshake: Promise<void> = Promise.resolve()
  #renewal: Promise<boolean> | null = null
  #session: string | null = null
  #version: string | null = null
  #isFollowing = false

  constructor(private readonly parts: BridgeParts) {}

  /** Until the line ends. */
  async run(input: Readable): Promise<void> {
    for await (const line of readLines(input)) {
      const message = line === null ? null : parseMessage(line)
      if (message === 'empty') continue
      if (message === null) await this.#say(makeErrorMessage(null, { code: PARSE_ERROR, message: 'Parse error' }))
      else this.#take(message)
    }
    await this.#leave()
  }

  #take(message: Message): void {
    const ids = listRequestIds(message)
    if (this.#work.size >= RUNNING_MAX) {
      this.#keep(this.#refuse(ids, { code: REFUSED, message: 'Too many requests are running at once.' }))
      return
    }
    if (getMethod(message) === 'initialize' && buildModernHeaders(message) === null) {
      this.#initialize = message as JsonObject
      this.#handshake = this.#forward(message, ids)
      this.#keep(this.#handshake)
      return
    }
    if (getMethod(message) === 'notifications/cancelled') {
      const id = getMember(getMember(message, 'params'), 'requestId')
      // Over HTTP a request of 2026-07-28 is cancelled by disconnecting.
      if (this.#initialize === null) {
        this.#running.get(id as string | number)?.abort()
        return
      }
    }
    this.#keep(this.#handshake.then(() => this.#forward(message, ids)))
  }

  #keep(work: Promise<void>): void {
    const kept = work
      .catch((error: unknown) => this.parts.onTrouble(`phaselock mcp: ${formatReason(error)}`))
      .finally(() => this.#work.delete(kept))
    this.#work.add(kept)
  }

  async #forward(message: Message, ids: readonly (string | number)[]): Promise<void> {
    const gone = new AbortController()
    for (const id of ids) this.#running.set(id, gone)
    if (getMethod(message) === 'subscriptions/listen') this.#streams.add(gone)
    const signal = AbortSignal.any([gone.signal, this.#left.signal])
    try {
      let response = await this.#post(message, signal)
      if (response.status === 404 && this.#session !== null && (await this.#renew(signal)))
        response = await this.#post(message, signal)
      this.#learn(message, response)
      await this.#hand(response, ids)
      if (getMethod(message) === 'notifications/initialized') this.#follow()
    } catch (error) {
      if (!signal.aborted) await this.#refuse(ids, { code: REFUSED, message: this.#unreachable(error) })
    } finally {
      this.#streams.delete(gone)
      for (const id of ids) if (this.#running.get(id) === gone) this.#running.delete(id)
    }
  }

  #post(message: Message, signal: AbortSignal): Promise<Response> {
    const headers = buildModernHeaders(message) ?? this.#sessionHeaders(getMethod(message) === 'initialize')
    return this.#fetch('POST', { headers, body: JSON.stringify(message), signal })
  }

  #sessionHeaders(isFirst: boolean): Record<string, string> {
    if (isFirst || this.#session === null) return {}
    return {
      'mcp-session-id': this.#session,
      ...(this.#version === null ? {} : { 'mcp-protocol-version': this.#version }),
    }
  }

  async #fetch(method: string, request: { headers: Record<string, string>; body?: string; signal: AbortSignal }) {
    await this.parts.prove()
    return fetch(`${this.parts.url}/mcp`, {
      ...request,
      method,
      // A redirect would carry the token to another server.
      redirect: 'error',
      headers: {
        accept: 'application/json, text/event-stream',
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
        authorization: `Bearer ${this.parts.token}`,
      },
    })
  }

  #learn(message: Message, response: Response): void {
    if (getMethod(message) === 'initialize' && response.ok) this.#session = response.headers.get('mcp-session-id')
  }

  /** Passes on the answer; anything that is not a message becomes the error of every waiting request. */
  async #hand(response: Response, ids: readonly (string | number)[]): Promise<void> {
    const type = response.headers.get('content-type') ?? ''
    if (type.startsWith('text/event-stream') && response.body !== null) {
      for await (const { data } of framesOf(response.body, EVENT_CHARS_MAX)) await this.#pass(data)
      return
    }
    const text = await response.text()
    if (response.ok) return text === '' ? undefined : this.#pass(text)
    const said = parseMessage(text)
    const error = getMember(said, 'error') as JsonObject | undefined
    await this.#refuse(
      ids,
      error ?? { code: REFUSED, message: formatProblem(said, response.status), data: extractData(said) },
    )
  }

  async #pass(text: string): Promise<void> {
    const message = JSON.parse(text) as JsonObject
    const version = getMember(getMember(message, 'result'), 'protocolVersion')
    if (typeof version === 'string' && this.#initialize !== null) this.#version = version
    await this.#say(message)
  }

  async #refuse(ids: readonly (string | number)[], error: JsonObject): Promise<void> {
    for (const id of ids) await this.#say(makeErrorMessage(id, error))
  }

  // One message per line, whatever it contains.
  async #say(message: JsonObject): Promise<void> {
    const { output } = this.parts
    if (output.write(`${JSON.stringify(message)}\n`) || output.destroyed) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        output.off('drain', done)
        output.off('close', done)
        resolve()
      }
      output.on('drain', done)
      output.on('close', done)
    })
  }

  /** Reopens the session, once for all requests that miss it. */
  #renew(signal: AbortSignal): Promise<boolean> {
    this.#renewal ??= this.#shakeAgain(signal).finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  async #shakeAgain(signal: AbortSignal): Promise<boolean> {
    if (this.#initialize === null) return false
    const response = await this.#post(this.#initialize, signal)
    // The client was answered when it first initialized; this second answer is only read to its end.
    await response.text()
    this.#learn(this.#initialize, response)
    if (!response.ok) return false
    await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' }, signal)
    return true
  }

  /** The server's notifications come over a separate stream. */
  #follow(): void {
    if (this.#isFollowing || this.#session === null) return
    this.#isFollowing = true
    void this.#listen()
  }

  async #listen(): Promise<void> {
    const { signal } = this.#left
    let wait = RETRY_MS_MIN
    while (!signal.aborted) {
      try {
        const response = await this.#fetch('GET', { headers: this.#sessionHeaders(false), signal })
        if (response.ok) {
          wait = RETRY_MS_MIN
          await this.#hand(response, [])
        } else if (response.status === NO_STREAM) return
        else if (response.status === 404) await this.#renew(signal)
      } catch (error) {
        if (!signal.aborted && wait === RETRY_MS_MAX) this.parts.onTrouble(this.#unreachable(error))
      }
      await pause(wait, signal)
      wait = Math.min(wait * 2, RETRY_MS_MAX)
    }
  }

  // Waits for pending answers, but not for streams that never end.
  async #leave(): Promise<void> {
    const enough = new Promise<void>((resolve) => setTimeout(resolve, LEAVE_MS_MAX).unref())
    for (const stream of this.#streams) stream.abort()
    await Promise.race([Promise.all(this.#work), enough])
    this.#left.abort()
    if (this.#session === null) return
    const signal = AbortSignal.timeout(LEAVE_MS_MAX)
    await this.#fetch('DELETE', { headers: this.#sessionHeaders(false), signal }).catch((error: unknown) =>
      this.parts.onTrouble(this.#unreachable(error)),
    )
  }

  #unreachable(error: unknown): string {
    return `Cannot reach the Phaselock server at ${this.parts.url} (${formatReason(error)}).`
  }
}

function parseMessage(line: string): Message | 'empty' | null {
  if (line.trim() === '') return 'empty'
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Message) : null
  } catch {
    return null
  }
}

function formatProblem(problem: unknown, status: number): string {
  const detail = getMember(problem, 'detail')
  return typeof detail === 'string'
    ? `${detail} ${String(getMember(problem, 'remedy') ?? '')} [${String(getMember(problem, 'code'))}]`
    : `The server answered ${status}.`
}

function extractData(problem: Message | 'empty' | null): JsonObject | null {
  return problem === null || problem === 'empty' || Array.isArray(problem) ? null : (problem as JsonObject)
}

function formatReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return (cause as NodeJS.ErrnoException).code ?? (cause instanceof Error ? cause.message : 'fault')
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
