import { isObject, type JsonObject } from '../../core/json.js'
import type { HookAnswers } from '../../hooks/hook-message.js'
import { ownMcpTool } from '../../hooks/own-mcp-tool.js'
import { SeenCalls } from '../launch/seen-calls.js'

/**
 * The hooks of a session that the plugin binds. The plugin refuses every tool but those of Phaselock, without asking
 * anybody; it reports each call of these, and a call that was not reported is refused: the plugin's hooks are off then.
 */
export class PluginHooks {
  readonly #seen = new SeenCalls()

  constructor(private readonly answers: HookAnswers) {}

  /** The agent has no shell: there is nothing that the server has to know before. */
  announce(): Promise<void> {
    return Promise.resolve()
  }

  async answer(body: unknown): Promise<JsonObject> {
    const isOwn = isObject(body) && body.hook_event_name === 'PreToolUse' && ownMcpTool(String(body.tool_name)) !== null
    if (!isOwn) return this.answers.refuse(body, 'The plugin of Phaselock allows no other tool.')
    this.#seen.note(body)
    return buildAllowance('Phaselock decides about it.')
  }

  /** Why an MCP call is refused; null: a hook was asked about it first. */
  findProblem(params: JsonObject): string | null {
    return this.#seen.findProblem(params)
  }
}

/** Lets a tool of Phaselock's own MCP server run without a question of Claude Code. */
export function buildAllowance(reason: string): JsonObject {
  return {
    hookSpecificOutput: {
      ...{ hookEventName: 'PreToolUse', permissionDecision: 'allow' },
      permissionDecisionReason: reason,
    },
  }
}
