import type { FailureCode } from './failures.js'

export interface WireLimits {
  readonly firstByteMs: number
  readonly silenceMs: number
  readonly wireBytesMax: number
  readonly lineBytesMax: number
}

/** An answer that is not 2xx. */
interface WireRefusal {
  readonly status: number
  readonly retryAfter: string | null
  /** The server's message: not yet safe to show. */
  readonly said: string
}

const REFUSAL_BYTES_MAX = 64 * 1024
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** One request and its answer, within limits. However it ends, `close` closes the connection. */
export class Wire {
  /** Why this side ended the connection. */
  stopped: FailureCode | null = null
  refusal: WireRefusal | null = null
  /** The type of an answer that was not an event stream. */
  wrongType: string | null = null
  status: number | null = null
  /** Whether the answer was complete on the wire. */
  hasEnded = false
  /** Whether the connection was lost before that. */
  hasBroken = false
  private hasByte = false
  private bytes = 0
  private lineBytes = 0
  private readonly controller = new AbortController()
  private readonly deadline: NodeJS.Timeout
  private readonly abort = (): void => this.stop('aborted')

  private readonly limits: WireLimits
  private readonly caller: AbortSignal

  constructor(limits: WireLimits, caller: AbortSignal, remainingMs: number) {
    this.limits = limits
    this.caller = caller
    this.deadline = setTimeout(() => this.stop('timed_out'), remainingMs)
    if (caller.aborted) this.stop('aborted')
    else caller.addEventListener('abort', this.abort, { once: true })
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  stop(code: FailureCode): void {
    this.stopped ??= code
    this.controller.abort()
  }

  close(): void {
    clearTimeout(this.deadline)
    this.caller.removeEventListener('abort', this.abort)
    this.controller.abort()
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    // A redirect would carry the key, which is in a separate header, to whatever host the answer names.
    const request = { ...init, redirect: 'manual' as const, signal: this.signal }
    const response = await this.inTime(globalThis.fetch(input, request))
    this.status = response.status
    const type = response.headers.get('content-type') ?? ''
    if (response.ok && response.body !== null && /^\s*text\/event-stream\s*(;|$)/i.test(type)) {
      return new Response(this.guardBody(response.body), { status: response.status, headers: response.headers })
    }
    if (response.ok) this.wrongType = type
    else this.refusal = await this.readRefusal(response)
    throw new Error('the answer is not a stream')
  }

  private async readRefusal(response: Response): Promise<WireRefusal> {
    const status = response.status
    const retryAfter = response.headers.get('retry-after')
    const chunks: Uint8Array[] = []
    try {
      const reader = response.body?.getReader()
      for (let bytes = 0; reader !== undefined && bytes < REFUSAL_BYTES_MAX; ) {
        const { done, value } = await this.inTime(reader.read())
        if (done) break
        chunks.push(value)
        bytes += value.byteLength
      }
    } catch {
      // The status is enough; the rest never arrived.
      return { status, retryAfter, said: '' }
    }
    return { status, retryAfter, said: parseRefusalMessage(Buffer.concat(chunks).toString('utf8')) }
  }

  private guardBody(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await this.inTime(reader.read()).catch((error: unknown) => {
          this.hasBroken = true
          throw error
        })
        if (done) {
          this.hasEnded = true
          controller.close()
          return
        }
        this.hasByte = true
        if (this.isTooLarge(value)) {
          this.stop('too_large')
          throw new Error('too large')
        }
        controller.enqueue(value)
      },
      cancel: () => this.controller.abort(),
    })
  }

  /** Only waiting for the server counts: a slow reader does not make the server silent. */
  private async inTime<T>(promise: Promise<T>): Promise<T> {
    const [code, ms] = this.hasByte
      ? (['silent', this.limits.silenceMs] as const)
      : (['no_first_byte', this.limits.firstByteMs] as const)
    const timer = setTimeout(() => this.stop(code), ms)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  private isTooLarge(chunk: Uint8Array): boolean {
    this.bytes += chunk.byteLength
    const lastBreak = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN))
    this.lineBytes = lastBreak === -1 ? this.lineBytes + chunk.byteLength : chunk.byteLength - lastBreak - 1
    return this.bytes > this.limits.wireBytesMax || this.lineBytes > this.limits.lineBytesMax
  }
}

/** The message in the body of a refusal, in the forms that servers use. */
function parseRefusalMessage(body: string): string {
  const start = body.trimStart()
  if (!start.startsWith('{')) return start.startsWith('<') ? '' : body
  try {
    return findErrorMessage(JSON.parse(body))
  } catch {
    return ''
  }
}

/** The text of an error in the forms that servers use; empty where there is none. */
export function findErrorMessage(value: unknown): string {
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : value
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return ''
  return 'message' in error && typeof error.message === 'string' ? error.message : ''
}
