import { type ReadResourceResult, type Resource, ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { App } from '../app/app.js'
import { type AgentCall, admitCall } from '../app/identity/agent-call.js'
import { getPrompt } from '../app/tasks/prompts.js'
import { buildSnapshot } from '../app/tasks/snapshot.js'
import { toContractView } from '../app/tasks/views.js'
import type { AgentBearer } from '../core/identity/admit.js'
import type { JsonObject } from '../core/json.js'
import { rewordInterrupt } from './mcp-text.js'
import { toRefusalError } from './results.js'

const PROMPT = 'phaselock://task/prompt'
const CONTRACT = 'phaselock://task/contract'
const STATUS = 'phaselock://task/status'

export const RESOURCES: readonly Resource[] = [
  {
    uri: PROMPT,
    name: 'prompt',
    description: 'What to do in the phase that your task is in, or the interrupt of a rule.',
    mimeType: 'text/markdown',
  },
  {
    uri: CONTRACT,
    name: 'contract',
    description: 'The contract of your task, as far as its phases are open.',
    mimeType: 'application/json',
  },
  {
    uri: STATUS,
    name: 'status',
    description: 'The state of your task, and what it waits for.',
    mimeType: 'application/json',
  },
]

/** A resource of the task that the caller holds. */
export async function readResource(app: App, bearer: AgentBearer, uri: string): Promise<ReadResourceResult> {
  switch (uri) {
    case PROMPT: {
      const prompt = await getPrompt(app, bearer, { isOnlyLooking: true })
      if (!prompt.ok) throw toRefusalError(prompt.problem)
      return { contents: [{ uri, mimeType: 'text/markdown', text: rewordInterrupt(String(prompt.value.text)) }] }
    }
    case CONTRACT:
      return toJsonResource(uri, await viewTask(app, bearer, ({ contract, state }) => toContractView(contract, state)))
    case STATUS:
      return toJsonResource(uri, await viewTask(app, bearer, (call) => buildSnapshot(app, call)))
    default:
      throw new ResourceNotFoundError(uri.slice(0, URI_CHARS_MAX))
  }
}

const URI_CHARS_MAX = 500

async function viewTask(
  app: App,
  bearer: AgentBearer,
  view: (call: AgentCall) => JsonObject | Promise<JsonObject>,
): Promise<JsonObject> {
  const call = await admitCall(app, bearer, undefined, { isOnlyLooking: true })
  if (!call.ok) throw toRefusalError(call.problem)
  return view(call.value)
}

function toJsonResource(uri: string, value: JsonObject): ReadResourceResult {
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(value) }] }
}
