import { isObject, type JsonObject } from '../../core/json.js'

const SEEN_MAX = 2000
const TOOL_USE_ID = 'claudecode/toolUseId'

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

  /** Why an MCP call is refused; null: a hook was asked about it first. */
  findProblem(params: JsonObject): string | null {
    const meta = isObject(params._meta) ? params._meta : {}
    const id = meta[TOOL_USE_ID]
    if (typeof id === 'string' && this.#seen.has(id)) return null
    return 'No hook was asked about this call, so that the hooks of this session are not active. Nothing is done until they are: end the session and begin it again. [enforcement_not_live]'
  }
}
