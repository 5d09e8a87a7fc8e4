import type { App } from '../app.js'

const AGENTS_MAX = 10_000
const KEPT = new WeakMap<App['ledger'], Set<string>>()

/** Remembers that an agent connected over MCP. */
export function noteMcpAgent({ ledger }: Pick<App, 'ledger'>, agentId: string): void {
  const known = KEPT.get(ledger) ?? new Set<string>()
  KEPT.set(ledger, known)
  if (known.size < AGENTS_MAX) known.add(agentId)
}

/** How an agent without hooks that Phaselock did not start has come since the server started. */
export function findEntrance({ ledger }: Pick<App, 'ledger'>, agentId: string): 'mcp' | 'rest' {
  return KEPT.get(ledger)?.has(agentId) === true ? 'mcp' : 'rest'
}
