const AGENTS_MAX = 1000
const CALLS_MAX = 1000

interface ExpectedCall {
  readonly tool: string
  hasArrived: boolean
}

/** A call of a tool that Phaselock's own MCP server offers. */
export interface OwnCall {
  readonly agentId: string
  /** As agent CLIs name it. */
  readonly tool: string
  /** The id that the agent CLI gave the call; null: it gave none. */
  readonly toolUseId: string | null
}

/**
 * Calls of Phaselock's own tools that a hook let pass, and whether they reached this server. A hook sees only names: another
 * MCP server can have the name, and nothing but the call itself tells them apart.
 */
export class McpArrivals {
  readonly #expected = new Map<string, Map<string, ExpectedCall>>()

  /** A hook let the call pass: it must arrive over MCP before it is over. */
  expect({ agentId, tool, toolUseId }: OwnCall): void {
    if (toolUseId === null) return
    const calls = this.#expected.get(agentId) ?? new Map<string, ExpectedCall>()
    // Which agents were seen last is which have calls under way.
    this.#expected.delete(agentId)
    this.#expected.set(agentId, calls)
    calls.set(toolUseId, { tool, hasArrived: false })
    dropOldest(calls, CALLS_MAX)
    dropOldest(this.#expected, AGENTS_MAX)
  }

  /** A call came over MCP. Where the client did not say which one it is, it is taken for each of its name. */
  recordArrival({ agentId, tool, toolUseId }: OwnCall): void {
    for (const [id, call] of this.#expected.get(agentId) ?? [])
      if (id === toolUseId || (toolUseId === null && call.tool === tool)) call.hasArrived = true
  }

  /** Whether a call that is over now had arrived; null: no hook of this server let it pass. */
  hasArrived({ agentId, toolUseId }: Omit<OwnCall, 'tool'>): boolean | null {
    return this.#expected.get(agentId)?.get(toolUseId ?? '')?.hasArrived ?? null
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size > max) map.delete(map.keys().next().value ?? '')
}
