/** The agent CLIs that Phaselock can start: their name, their program, and the variables that can hold the key of their model. */
export const AGENT_CLIS = {
  'claude-code': {
    title: 'Claude Code',
    program: 'claude',
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  },
  codex: { title: 'Codex', program: 'codex', keys: ['OPENAI_API_KEY'] },
  gemini: { title: 'Gemini CLI', program: 'gemini', keys: ['GEMINI_API_KEY'] },
  opencode: { title: 'OpenCode', program: 'opencode', keys: ['OPENAI_API_KEY'] },
} as const

export type AgentCli = keyof typeof AGENT_CLIS

/** What Phaselock starts as an agent: one of the known agent CLIs, or any program. */
export interface AgentProgram {
  readonly harness: AgentCli | 'command'
  /** The program, if not the default of the agent CLI. */
  readonly command: string | null
  readonly args: readonly string[]
  readonly model: string | null
}

/** An entry of a contract's `agents`. */
export interface AgentEntry extends AgentProgram {
  /** Values as the contract gives them; `${env:NAME}` is filled in at the start. */
  readonly env: Readonly<Record<string, string>>
  readonly capabilities: readonly string[]
}

/** The agents of a contract. */
export interface Programs {
  /** How they are started, by name. */
  readonly agents?: ReadonlyMap<string, AgentEntry>
}

/** Agents started when a phase is entered, each under a unique name. */
export interface AutoSpawn {
  /** An entry of `agents`. */
  readonly agent: string
  readonly names: readonly string[]
}

/** `subprocess`: without a terminal. `tmux`: its output in a window that people can look at. */
export type SpawnAdapter = 'subprocess' | 'tmux'

/** Why a process has ended. */
export type DropCause = 'exited' | 'silent' | 'not_started' | 'server_stopped' | 'server_killed'

/** The outcome of a started agent. */
export type SpawnOutcome =
  | 'completed'
  | 'parked'
  | 'released'
  | 'taken'
  | 'cancelled'
  | 'stopped'
  | 'finished'
  | 'failed'

export type SpawnFact =
  /** An agent started for a task, and restarted as often as the contract allows. */
  | {
      readonly type: 'agent_spawned'
      readonly agentId: string
      readonly taskId: string
      /** The name of its reviewer and the visit to review; null for an agent that works on the task. */
      readonly review: { readonly name: string; readonly visit: number } | null
      readonly entry: string | null
      readonly program: AgentProgram
      readonly adapter: SpawnAdapter
      /** Guarantees of the confinement that are not enforced for it. */
      readonly unenforced: readonly string[]
    }
  | { readonly type: 'agent_started'; readonly agentId: string; readonly taskId: string; readonly instance: string }
  /** Its process ended before its work was done. */
  | {
      readonly type: 'agent_process_lost'
      readonly agentId: string
      readonly taskId: string
      readonly cause: DropCause
      readonly exitCode: number | null
      readonly detail: string
      /** The last lines that it wrote. */
      readonly lastLines: readonly string[]
    }
  | {
      readonly type: 'agent_ended'
      readonly agentId: string
      readonly taskId: string
      readonly outcome: SpawnOutcome
      readonly reason: string
      readonly exitCode: number | null
      readonly lastLines: readonly string[]
    }

export interface Spawn extends Omit<Extract<SpawnFact, { readonly type: 'agent_spawned' }>, 'type'> {
  readonly spawnedAt: number
  /** Number of processes started for it. */
  readonly starts: number
  /** The instance of the newest process; null before the first. */
  readonly instance: string | null
  readonly isRunning: boolean
  readonly lost: { readonly cause: DropCause; readonly detail: string; readonly at: number } | null
  readonly ended: {
    readonly outcome: SpawnOutcome
    readonly reason: string
    readonly exitCode: number | null
    readonly at: number
  } | null
}

/** So many are listed; older ones that are over stay in the ledger. */
const SPAWNS_LISTED_MAX = 1000

export function evolveSpawns(
  known: ReadonlyMap<string, Spawn>,
  event: SpawnFact & { readonly at: number },
): ReadonlyMap<string, Spawn> {
  const { agentId, at } = event
  if (event.type === 'agent_spawned') {
    const { taskId, review, entry, program, adapter, unenforced } = event
    const spawn = { agentId, taskId, review, entry, program, adapter, unenforced, spawnedAt: at }
    const fresh = { ...spawn, starts: 0, instance: null, isRunning: false, lost: null, ended: null }
    const next = new Map(known)
    next.delete(agentId)
    return boundSpawns(next.set(agentId, fresh))
  }
  const before = known.get(agentId)
  if (before === undefined || before.ended !== null) return known
  return new Map(known).set(agentId, applySpawnEvent(before, event))
}

function applySpawnEvent(
  spawn: Spawn,
  event: Exclude<SpawnFact, { type: 'agent_spawned' }> & { readonly at: number },
): Spawn {
  if (event.type === 'agent_started')
    return { ...spawn, starts: spawn.starts + 1, instance: event.instance, isRunning: true }
  const { at } = event
  if (event.type === 'agent_process_lost')
    return { ...spawn, isRunning: false, lost: { cause: event.cause, detail: event.detail, at } }
  const { outcome, reason, exitCode } = event
  return { ...spawn, isRunning: false, ended: { outcome, reason, exitCode, at } }
}

function boundSpawns(spawns: Map<string, Spawn>): ReadonlyMap<string, Spawn> {
  const oldest = [...spawns].find(([, one]) => one.ended !== null)?.[0]
  if (spawns.size > SPAWNS_LISTED_MAX && oldest !== undefined) spawns.delete(oldest)
  return spawns
}
