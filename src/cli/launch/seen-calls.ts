import { readCallId } from '../../app/mcp-arrivals.js'
import { isObject, type JsonObject } from '../../core/json.js'

const SEEN_MAX = 2000

/** The calls that a hook was asked about, newest last. */
export class SeenCalls {
  readonly #seen = new Set<string>()

  /** `body`: what the hook was sent. */
  note(body: unknown): void {
    if (!isObject(body) || body.hook_event_name !== 'PreToolUse' || typeof body.tool_use_id !== 'string') return
    this.#seen.add(body.tool_use_id)
    const [oldest] = this.#seen
    if (this.#seen.size > SEEN_MAX && oldest !== undefined) this.#seen.delete(oldest)
  }

  /** Whether a hook was asked about the call that another hook names. */
  has(body: JsonObject): boolean {
    return typeof body.tool_use_id === 'string' && this.#seen.has(body.tool_use_id)
  }

  /** Why an MCP call is refused; null: a hook was asked about it first. */
  findProblem(params: JsonObject): string | null {
    const id = readCallId(params._meta)
    if (id !== null && this.#seen.has(id)) return null
    return 'No hook was asked about this call, so that the hooks of this session are not active. Nothing is done until they are: end the session and begin it again. [enforcement_not_live]'
  }
}
