/*
 * An agent with the Vercel AI SDK. Its tools are those of Phaselock, over MCP: each call is decided in the phase of the task.
 *
 * npm install ai @ai-sdk/mcp @ai-sdk/openai-compatible
 * PHASELOCK_URL=http://localhost:8000 PHASELOCK_TOKEN=… OPENAI_BASE_URL=… OPENAI_API_KEY=… MODEL=…
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createMCPClient } from '@ai-sdk/mcp'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, type ModelMessage, stepCountIs, type ToolSet } from 'ai'

const { PHASELOCK_URL, PHASELOCK_TOKEN, OPENAI_BASE_URL = '', OPENAI_API_KEY = '', MODEL = '' } = process.env
const headers = { Authorization: `Bearer ${PHASELOCK_TOKEN}` }
const phaselock = await createMCPClient({ transport: { type: 'http', url: `${PHASELOCK_URL}/mcp`, headers } })
const model = createOpenAICompatible({ name: 'endpoint', baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY })(MODEL)
const tools = (await phaselock.tools()) as ToolSet

/** Calls a tool of Phaselock from here, and not from the model. */
async function call<Answer>(name: string): Promise<Answer> {
  const result = await tools[name]?.execute?.({}, { toolCallId: name, messages: [] })
  return (result as { structuredContent: Answer }).structuredContent
}
type Claimed = { task: { id: string; title: string }; phase: string; prompt: string }
type State = { status?: string }

const { task, phase, prompt } = await call<Claimed>('claim_task')
console.log(`${task.id}: ${task.title}`)
const messages: ModelMessage[] = [
  { role: 'user', content: `${task.title}\n\nThe task is in phase ${phase}.\n\n${prompt}` },
]
let state: State = { status: 'active' }
while (state.status === 'active') {
  const { response } = await generateText({ model, tools, messages, stopWhen: stepCountIs(100) })
  messages.push(...response.messages)
  state = await call<State>('get_workflow_state')
  for (; state.status === 'awaiting_approval'; state = await call<State>('get_workflow_state')) await sleep(1000)
  messages.push({ role: 'user', content: 'Look at the state of the task, and go on until it is completed.' })
}
console.log('done')
await phaselock.close()
