/** A row of `GET /agents`. */
export interface AgentRow {
  readonly agent_id: string
  readonly capabilities: readonly string[]
  readonly status: string
  readonly task_id: string | null
  readonly phase: string | null
  readonly last_activity: string | null
  readonly registered_at: string
  readonly expires_at: string | null
  readonly spawn: SpawnedAgent | null
  readonly binding?: { readonly kind: string; readonly holds: string; readonly mode: string | null }
  readonly reliability?: Readonly<Record<'refusals' | 'retries' | 'gates_first_try' | 'gates_passed', number>>
  readonly tokens?: { readonly input: number; readonly output: number }
  readonly last_call?: { readonly tool: string; readonly at: string; readonly phase: string | null } | null
}

/** What `GET /agents/{id}` answers of an agent that Phaselock started. */
export interface SpawnedAgent {
  readonly task_id: string
  readonly state: 'starting' | 'running' | 'waiting' | 'ended'
  readonly role: string
  readonly reviewer: string | null
  readonly entry: string | null
  readonly harness: string
  readonly model: string | null
  readonly adapter: string
  readonly restarts: number
  readonly spawned_at: string
  readonly lost: boolean
  readonly outcome: string | null
  readonly reason: string | null
  readonly exit_code: number | null
  readonly ended_at: string | null
  readonly unenforced: readonly string[]
  readonly window?: { readonly socket: string; readonly session: string } | null
}

const BINDINGS: Readonly<Record<string, string>> = {
  confined: 'Confined',
  tools_only: 'Tools only',
  native: 'Own tools under hooks',
  project: 'Project settings',
  plugin: 'Plugin',
  managed: 'Managed settings',
  hooks: 'Hooks',
  rest: 'REST',
  mcp: 'MCP',
}

/** How the agent is bound, in a word. */
export function nameBinding(kind: string): string {
  return BINDINGS[kind] ?? kind
}

/** An agent with a shell of its own is not held back by its tools: that deserves a look. */
export function isLooselyBound({ kind, mode }: { readonly kind: string; readonly mode: string | null }): boolean {
  return kind === 'hooks' || kind === 'native' || (kind === 'project' && mode === 'native')
}

export interface Liveness {
  readonly word: string
  readonly tone: 'running' | 'pending' | 'refused' | 'neutral'
  readonly order: number
}

const SILENT_AFTER_MS = 3 * 60_000

/** Whether the agent works, waits, is silent or gone, in the order of the list. */
export function findLiveness(agent: AgentRow, now: number): Liveness {
  if (agent.status === 'revoked') return { word: 'Revoked', tone: 'neutral', order: 5 }
  if (agent.spawn?.state === 'ended') return { word: 'Ended', tone: 'neutral', order: 4 }
  if (agent.spawn?.state === 'waiting') return { word: 'Waits for a person', tone: 'pending', order: 1 }
  if (agent.spawn?.state === 'starting') return { word: 'Starts', tone: 'running', order: 0 }
  if (agent.task_id === null) return { word: 'Idle', tone: 'neutral', order: 3 }
  const silentMs = agent.last_activity === null ? 0 : now - Date.parse(agent.last_activity)
  if (silentMs > SILENT_AFTER_MS) return { word: 'Silent', tone: 'pending', order: 1 }
  return { word: 'Works', tone: 'running', order: 0 }
}

/** At work first, then by name. */
export function sortAgents(agents: readonly AgentRow[], now: number): readonly AgentRow[] {
  const order = (agent: AgentRow) => findLiveness(agent, now).order
  return [...agents].sort((a, b) => order(a) - order(b) || (a.agent_id < b.agent_id ? -1 : 1))
}
