import type { Spawn } from '../../core/contract/agent-programs.js'
import type { AgentBinding } from '../../core/identity/operator-access.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskRow } from '../../store/store.js'
import type { App } from '../app.js'
import { toIsoTime } from '../wire.js'
import { findEntrance } from './agent-entrances.js'
import type { AgentTally } from './agent-tallies.js'

/** How an agent is bound, how reliably it works, what it used and what it called last. */
export async function buildAgentDetails(
  app: App,
  agent: { readonly id: string; readonly held: TaskRow | null; readonly spawn: Spawn | undefined },
  tally: AgentTally,
): Promise<JsonObject> {
  const { id, held, spawn } = agent
  const { refusals, retries, gatesFirstTry, gatesPassed, input, output } = tally
  return {
    binding: findBinding(app, agent),
    reliability: { refusals, retries, gates_first_try: gatesFirstTry, gates_passed: gatesPassed },
    tokens: { input, output },
    last_call: await findLastCall(app, id, held?.id ?? spawn?.taskId ?? null),
  }
}

type Kind = 'confined' | 'tools_only' | 'hooks' | 'mcp' | 'rest'
type Unnamed = { readonly kind: string; readonly holds: string }

const OUTSIDE = 'A change made in another way is found when the work tree is compared.'
const HOLDS: Readonly<Record<Exclude<Kind, 'tools_only'>, string>> = {
  confined: 'It runs in the sandbox: only the tools of Phaselock and its model are within its reach.',
  hooks: `Hooks ask Phaselock before each call of its own tools, which run under your account. ${OUTSIDE}`,
  mcp: `It calls the tools of Phaselock over MCP. ${OUTSIDE}`,
  rest: `It calls the tools of Phaselock over REST or an SDK. ${OUTSIDE}`,
}

/** How an agent is bound; `agent_cli` and `mode` where the configuration of an agent CLI does it. */
export function findBinding(
  app: Pick<App, 'ledger'>,
  agent: { readonly id: string; readonly spawn: Spawn | undefined },
): JsonObject {
  const bound = app.ledger.registry.access.bindings.get(agent.id)
  if (bound === undefined || agent.spawn !== undefined)
    return { ...findUnnamed(app, agent), agent_cli: agent.spawn?.program.harness ?? null, mode: null }
  const { agentCli, place, mode } = bound
  const kind = place === 'session' ? mode : place
  return { kind, holds: `${TOOLS[mode]} ${PLACES[place]}`, agent_cli: agentCli, mode }
}

const TOOLS: Readonly<Record<AgentBinding['mode'], string>> = {
  tools_only: 'Its own tools are off; those of Phaselock take their place.',
  native: `Hooks ask Phaselock before each call of its own tools, which run under your account. ${OUTSIDE}`,
}
const PLACES: Readonly<Record<AgentBinding['place'], string>> = {
  session: 'Configured for this session, outside of the repository.',
  project: 'Configured in the settings of the repository: a change of them is noticed, not prevented.',
  plugin:
    'Bound by the plugin of the agent CLI: a person or a settings file can switch it off; then no tool of Phaselock works.',
  managed: 'Configured in the managed settings of the machine, which the agent cannot change.',
}

function findUnnamed(
  app: Pick<App, 'ledger'>,
  { id, spawn }: { readonly id: string; readonly spawn: Spawn | undefined },
): Unnamed {
  if (spawn !== undefined && spawn.unenforced.length > 0)
    return {
      kind: 'tools_only',
      holds: `Its own tools are switched off. The sandbox does not enforce: ${spawn.unenforced.join(', ')}.`,
    }
  // Hooks are recorded in the ledger, because an agent with its own shell asks for more care.
  const isHooked = app.ledger.registry.access.boundByHooks.has(id)
  const kind = spawn !== undefined ? 'confined' : isHooked ? 'hooks' : findEntrance(app, id)
  return { kind, holds: HOLDS[kind] }
}

const CALLS = ['tool_allowed', 'tool_denied', 'fact_recorded'] as const

/** Looked up in the stream of its task, so that the cost does not grow with the ledger. */
async function findLastCall(app: App, agentId: string, taskId: string | null): Promise<JsonObject | null> {
  if (taskId === null) return null
  const { items } = await app.ledger.store.query({ taskId, agentId, types: CALLS, limit: 1 })
  const [last] = items
  return last === undefined
    ? null
    : { tool: String(last.data.tool_name ?? ''), at: toIsoTime(last.at), phase: last.phase ?? '' }
}
