import type { Connection } from './connection.js'
import { ApiError, NotClaimed, PhaselockError, TokenRefused } from './errors.js'
import { isObject, type Json, type JsonObject, textOf, toTexts } from './json.js'
import { checkToken, readClaims } from './token.js'

/** The client's task, and the token for its phase. */
interface Held {
  readonly taskId: string
  readonly phase: string
  readonly epoch: number
  readonly allowedTools: readonly string[]
  readonly token: string
  /** On the clock of `performance.now()`, because the clocks of server and client may differ. */
  readonly renewAt: number
}

interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: JsonObject
}

/** The share of a token's lifetime after which it is renewed. */
const RENEW_AFTER = 0.8

/** Keeps the newest phase token, renews it, and drops it with the task. */
export class Session {
  readonly #connection: Connection
  readonly #agentToken: string
  #held: Held | null = null
  #renewing: Promise<void> | null = null
  /** When the program last asked for something, on the clock of `performance.now()`. */
  usedAt = 0

  constructor(connection: Connection, agentToken: string) {
    this.#connection = connection
    this.#agentToken = agentToken
  }

  get held(): Held | null {
    return this.#held
  }

  require(): Held {
    if (this.#held === null) throw new NotClaimed()
    return this.#held
  }

  /** A call with the agent's own token, whichever task it holds. */
  async callAsAgent(asked: Asked): Promise<JsonObject> {
    this.usedAt = performance.now()
    return this.#take(await this.#connection.call(requestOf(asked, this.#agentToken)))
  }

  /** A call about the current task. Stores the token and phase of the answer. */
  async call(asked: Asked): Promise<JsonObject> {
    this.require()
    this.usedAt = performance.now()
    await this.renewIfDue()
    const { token } = this.require()
    const request = requestOf(asked, token)
    try {
      return this.#take(await this.#connection.call(request))
    } catch (error) {
      if (!(error instanceof TokenRefused) || error.code !== 'token_invalid') throw error
      // It expired unnoticed, while the machine slept or the server was down. The idempotency key stays the same, so
      // nothing happens twice.
      const renewed = await this.#renewAsAgent(error)
      return this.#take(await this.#connection.call({ ...request, token: renewed.token }))
    }
  }

  /** Renews the token near the end of its lifetime. A failure is reported by the call that needs the token. */
  async renewIfDue(): Promise<boolean> {
    const held = this.#held
    if (held === null || performance.now() < held.renewAt) return false
    this.#renewing ??= this.#renew(held)
      .catch((error: unknown) => {
        if (!(error instanceof PhaselockError)) throw error
      })
      .finally(() => {
        this.#renewing = null
      })
    await this.#renewing
    return true
  }

  forget(): void {
    this.#held = null
  }

  async #renew(held: Held): Promise<void> {
    const asked = { method: 'POST', path: '/tokens/renew', body: { task_id: held.taskId } } as const
    this.#take(await this.#connection.call(requestOf(asked, held.token)))
  }

  // The agent token is valid for whichever task its agent holds now. Only a token for the same task, phase and epoch
  // replaces the expired one: a task that moved on, or went to another agent, is not silently resumed.
  async #renewAsAgent(refused: TokenRefused): Promise<Held> {
    const held = this.require()
    const asked = { method: 'POST', path: '/tokens/renew', body: { task_id: held.taskId } } as const
    const answer = await this.#connection.call(requestOf(asked, this.#agentToken)).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'token_invalid' ? refused : error
    })
    const renewed = readHeldTask(answer)
    if (renewed === null || renewed.taskId !== held.taskId || renewed.epoch !== held.epoch)
      throw new TokenRefused(403, {
        code: 'token_stale',
        detail: `The token expired, and task ${held.taskId} has moved on since.`,
        remedy: 'Claim the task again to go on with it.',
      })
    this.#keep(renewed)
    return renewed
  }

  // Tokens are not returned, so that results can be logged.
  #take(answer: JsonObject): JsonObject {
    const held = readHeldTask(answer)
    if (held !== null) this.#keep(held)
    else if (isOver(answer)) this.#held = null
    return omitTokens(answer)
  }

  #keep(held: Held): void {
    const before = this.#held
    this.#connection.hide(held.token)
    // Answers can overtake each other; the newest epoch counts.
    if (before === null || before.taskId !== held.taskId || held.epoch >= before.epoch) this.#held = held
  }
}

function requestOf(asked: Asked, token: string) {
  return asked.method === 'GET' ? { ...asked, token } : { ...asked, token, key: crypto.randomUUID() }
}

function readHeldTask(answer: JsonObject): Held | null {
  const token = textOf(answer.phase_token)
  if (token === null) return null
  const { task_id, phase, epoch, iat, exp } = readClaims(checkToken(token))
  const lifeMs = typeof iat === 'number' && typeof exp === 'number' ? (exp - iat) * 1000 : Number.POSITIVE_INFINITY
  return {
    taskId: textOf(task_id) ?? '',
    phase: textOf(phase) ?? textOf(answer.phase) ?? '',
    epoch: typeof epoch === 'number' ? epoch : 0,
    allowedTools: toTexts(answer.allowed_tools),
    token,
    renewAt: performance.now() + lifeMs * RENEW_AFTER,
  }
}

function isOver(answer: JsonObject): boolean {
  if (answer.completed === true || answer.workflow_complete === true) return true
  return isObject(answer.advanced) && answer.advanced.status === 'completed'
}

function omitTokens(answer: JsonObject): JsonObject {
  const { phase_token: _token, ...rest } = answer
  if (!isObject(rest.advanced)) return rest
  const { phase_token: _advanced, ...advanced } = rest.advanced
  return { ...rest, advanced: advanced as Json }
}
