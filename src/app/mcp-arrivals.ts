import { isObject } from '../core/json.js'

const AGENTS_MAX = 1000
const CALLS_MAX = 1000

interface ExpectedCall {
  readonly tool: string
  hasArrived: boolean
}

/** A call of a tool that Phaselock's own MCP server offers. */
export interface OwnCall {
  readonly agentId: string
  /** The name that agent CLIs use. */
  readonly tool: string
  /** The id that the agent CLI gave the call; null: none. */
  readonly toolUseId: string | null
}

/** The names under which Claude Code and Codex send the id of a call with it. */
const CALL_IDS = ['claudecode/toolUseId', 'callId']

/** The id that the agent CLI gave the call, off the `_meta` that came with it. */
export function readCallId(meta: unknown): string | null {
  const ids = isObject(meta) ? CALL_IDS.map((name) => meta[name]) : []
  return ids.find((id) => typeof id === 'string') ?? null
}

/**
 * Calls of Phaselock's own tools that a hook allowed, and whether they reached this server. A hook sees only names, and
 * another MCP server can use the same name; only the arriving call tells them apart.
 */
export class McpArrivals {
  readonly #expected = new Map<string, Map<string, ExpectedCall>>()

  /** A hook allowed the call: it must arrive over MCP before it ends. */
  expect({ agentId, tool, toolUseId }: OwnCall): void {
    if (toolUseId === null) return
    const calls = this.#expected.get(agentId) ?? new Map<string, ExpectedCall>()
    // The most recently seen agents are those with calls in progress.
    this.#expected.delete(agentId)
    this.#expected.set(agentId, calls)
    calls.set(toolUseId, { tool, hasArrived: false })
    dropOldest(calls, CALLS_MAX)
    dropOldest(this.#expected, AGENTS_MAX)
  }

  /** A call arrived over MCP. If the client gave no id, it counts for every pending call of that name. */
  recordArrival({ agentId, tool, toolUseId }: OwnCall): void {
    for (const [id, call] of this.#expected.get(agentId) ?? [])
      if (id === toolUseId || (toolUseId === null && call.tool === tool)) call.hasArrived = true
  }

  /** Whether a call that has ended arrived; null: no hook of this server allowed it. */
  hasArrived({ agentId, toolUseId }: Omit<OwnCall, 'tool'>): boolean | null {
    return this.#expected.get(agentId)?.get(toolUseId ?? '')?.hasArrived ?? null
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size > max) map.delete(map.keys().next().value ?? '')
}
