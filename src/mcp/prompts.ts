import { type GetPromptResult, type Prompt, ProtocolError } from '@modelcontextprotocol/server'
import type { App } from '../app/app.js'
import { admitCall } from '../app/identity/agent-call.js'
import { buildPrompt } from '../app/identity/grant.js'
import { getPrompt } from '../app/tasks/prompts.js'
import type { Contract } from '../core/contract/contract.js'
import { mayRead } from '../core/gates/phase-visibility.js'
import type { AgentBearer } from '../core/identity/admit.js'
import type { TaskState } from '../core/task/state.js'
import { requirePhase } from '../core/tool-calls/offered-tools.js'
import { rewordInterrupt } from './mcp-text.js'
import { toRefusalError } from './results.js'
import { readScene } from './scene.js'

const INVALID_PARAMS = -32602
const NAME_CHARS_MAX = 200

/** A prompt for each phase that is open to the caller: the current one of its task, and completed ones. */
export async function listPrompts(app: App, bearer: AgentBearer): Promise<Prompt[]> {
  const { contract, state } = await readScene(app, bearer)
  if (state === null) return []
  return openPhases(contract, state).map((id) => {
    const phase = requirePhase(contract, id)
    return { name: id, title: phase.name, description: phase.description || `What to do in ${phase.name}.` }
  })
}

/** The prompt of a phase. A phase that is not open yet is treated as unknown. */
export async function readPrompt(app: App, bearer: AgentBearer, name: string): Promise<GetPromptResult> {
  const call = await admitCall(app, bearer, undefined)
  if (!call.ok) throw toRefusalError(call.problem)
  const { contract, state } = call.value
  const open = openPhases(contract, state)
  if (!open.includes(name))
    throw new ProtocolError(
      INVALID_PARAMS,
      `There is no prompt ${JSON.stringify(name.slice(0, NAME_CHARS_MAX))} now. Open phases: ${open.join(', ')}.`,
    )
  if (name !== state.phase) return toPrompt(await buildPrompt(app, contract, state, name))
  const current = await getPrompt(app, bearer)
  if (!current.ok) throw toRefusalError(current.problem)
  return toPrompt(rewordInterrupt(String(current.value.text)))
}

function openPhases(contract: Contract, state: TaskState): readonly string[] {
  return [...contract.phases.keys()].filter((id) => mayRead(state, id))
}

function toPrompt(text: string): GetPromptResult {
  return { messages: [{ role: 'user', content: { type: 'text', text } }] }
}
