import { setTimeout as wait } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../core/json.js'
import type { HookAnswers } from '../../hooks/hook-message.js'
import { EXIT, Stop } from '../exit.js'
import { SeenCalls } from './seen-calls.js'
import type { SessionServer } from './session-server.js'
import { formatUnreachable, isNotSent } from './upstream-mcp.js'

const ANNOUNCE_MS_MAX = 30_000
const AWAY_MS_MAX = 60_000
const AWAY_POLL_MS = 500

const UNDECIDED =
  'A call was made that no hook decided, so that the hooks of this session do not hold its tools. Nothing is done any more: end the session and begin it again. [enforcement_not_live]'

export interface SessionHooksParts {
  readonly server: SessionServer
  readonly token: string
  /** The endpoint of the server. */
  readonly path: string
  readonly answers: HookAnswers
  readonly workspace: string
  /** Whether a call that was made without a decision ends the session. */
  readonly endsUndecided: boolean
  /** Resolves when the CLI can offer Phaselock's tools to its model. */
  readonly ready: () => Promise<void>
}

/**
 * The hooks of the CLI in the terminal. It decides nothing: every message goes to Phaselock's server, with the agent's
 * token, which the CLI does not have. What the server does not answer is refused.
 */
export class SessionHooks {
  readonly #seen = new SeenCalls()
  #isLive = false
  #isUndecided = false
  /** Called when a call was made that no hook decided. */
  onUndecided: () => void = () => undefined

  constructor(private readonly parts: SessionHooksParts) {}

  /** Tells the server that this agent has a shell, before it has one. */
  async announce(): Promise<void> {
    const body = { hook_event_name: 'PreCompact', cwd: this.parts.workspace }
    const answer = await this.#ask(body, AbortSignal.timeout(ANNOUNCE_MS_MAX))
    if (JSON.stringify(answer) !== JSON.stringify(this.parts.answers.pass(null)))
      throw new Stop(EXIT.refused, `The hooks of the session do not reach Phaselock: ${JSON.stringify(answer)}`)
  }

  /** Whether the CLI has called a hook. The first message of a session does. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** `body`: parsed, or the text of something that is not JSON. */
  async answer(body: unknown, signal: AbortSignal): Promise<JsonObject> {
    this.#isLive = true
    const event = isObject(body) ? body.hook_event_name : undefined
    if (event === 'UserPromptSubmit') await this.parts.ready()
    if (event === 'PostToolUse' && this.parts.endsUndecided && isObject(body) && !this.#seen.has(body)) this.#end()
    if (event === 'PreToolUse' && this.#isUndecided) return this.parts.answers.refuse(body, UNDECIDED)
    const answer = await this.#ask(body, signal)
    this.#seen.note(body)
    return answer
  }

  #end(): void {
    this.#isUndecided = true
    this.onUndecided()
  }

  /** Why an MCP call is refused; null: a hook was asked about it first. */
  findProblem(params: JsonObject): string | null {
    return this.#isUndecided ? UNDECIDED : this.#seen.findProblem(params)
  }

  async #ask(body: unknown, signal: AbortSignal): Promise<JsonObject> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const { server, token, path, answers } = this.parts
    const deadline = Date.now() + AWAY_MS_MAX
    for (;;) {
      try {
        const { status, text: said } = await server.sendHook(token, { path: `/api/v1${path}`, body: text, signal })
        const answer: unknown = JSON.parse(said)
        if (status === 200 && isObject(answer)) return answer
        return answers.refuse(body, `Phaselock's server answered ${status}.`)
      } catch (error) {
        if (signal.aborted) throw error
        if (!isNotSent(error) || Date.now() > deadline) return answers.refuse(body, formatUnreachable(error))
      }
      await wait(AWAY_POLL_MS, undefined, { signal })
    }
  }
}
