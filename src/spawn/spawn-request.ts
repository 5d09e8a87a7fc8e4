import type { App } from '../app/app.js'
import { ok, type Result, refuse } from '../app/result.js'
import { findNearest } from '../contract/nearest.js'
import type { AgentEntry, AgentProgram, SpawnAdapter } from '../core/contract/agent-programs.js'
import type { Contract } from '../core/contract/contract.js'
import { SPAWN_ID } from './agent-log.js'
import { makeAgentId } from './agent-process.js'

export const HARNESSES = ['claude-code', 'codex', 'gemini', 'opencode', 'command'] as const
export const ADAPTERS = ['subprocess', 'tmux'] as const

export interface SpawnRequest {
  /** An entry of the contract's `agents`; or an agent CLI with its settings. */
  readonly agent: string | undefined
  readonly harness: AgentProgram['harness'] | undefined
  readonly command: string | undefined
  readonly args: readonly string[] | undefined
  readonly model: string | undefined
  readonly agentId: string | undefined
  readonly adapter: SpawnAdapter
}

export interface ChosenProgram {
  readonly agentId: string
  readonly entryName: string | null
  readonly entry: AgentEntry | null
  readonly program: AgentProgram
}

/** Which program to start, and under which name. */
export function chooseProgram(app: App, contract: Contract, request: SpawnRequest): Result<ChosenProgram> {
  const { agent, harness } = request
  if ((agent === undefined) === (harness === undefined))
    return refuse('invalid_request', 'Give exactly one of agent (an entry of the contract) and harness.')
  const entry = agent === undefined ? null : (contract.agents?.get(agent) ?? null)
  if (agent !== undefined && entry === null) return refuseUnknownAgent(contract, agent)
  const program: AgentProgram = {
    harness: entry?.harness ?? harness ?? 'command',
    command: request.command ?? entry?.command ?? null,
    args: [...(entry?.args ?? []), ...(request.args ?? [])],
    model: request.model ?? entry?.model ?? null,
  }
  if (entry !== null && request.command !== undefined)
    return refuse('invalid_request', 'command: the entry of the contract says which program is started.')
  if (program.harness === 'command' && (program.command ?? '') === '')
    return refuse('invalid_request', 'command: the harness "command" needs the program that is to be started.')
  const said = { command: program.command, args: program.args, model: program.model }
  // It is stored so that it can be started again: redaction would break it.
  if (JSON.stringify(app.redact(said)) !== JSON.stringify(said))
    return refuse('invalid_request', 'args: looks like a secret; name a variable in the env of an entry of agents.')
  const agentId = request.agentId ?? makeAgentId(agent ?? program.harness)
  if (!SPAWN_ID.test(agentId))
    return refuse('invalid_request', 'agent_id: letters, digits, _, . and -, a letter or digit first; at most 64.')
  if (app.redact(agentId) !== agentId)
    return refuse('invalid_request', 'agent_id: looks like a secret; choose another.')
  return ok({ agentId, entryName: agent ?? null, entry, program })
}

function refuseUnknownAgent(contract: Contract, agent: string) {
  const names = [...(contract.agents?.keys() ?? [])]
  const near = findNearest(agent, names)
  const hint = near === null ? '' : ` Did you mean ${JSON.stringify(near)}?`
  const known = names.length === 0 ? 'none' : names.join(', ')
  return refuse(
    'not_found',
    `Contract ${contract.name} has no agent ${JSON.stringify(agent)}.${hint} Known agents: ${known}.`,
    { agents: names },
  )
}
