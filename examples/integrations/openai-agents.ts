/*
 * An agent with the OpenAI Agents SDK. Its tools are those of Phaselock, over MCP: each call is decided in the phase of the task.
 *
 * npm install @openai/agents zod
 * PHASELOCK_URL=http://localhost:8000 PHASELOCK_TOKEN=… OPENAI_API_KEY=… MODEL=…
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type AgentInputItem, MCPServerStreamableHttp, run, setTracingDisabled } from '@openai/agents'

const { PHASELOCK_URL, PHASELOCK_TOKEN, MODEL = '' } = process.env
setTracingDisabled(true)
const phaselock = new MCPServerStreamableHttp({
  name: 'phaselock',
  url: `${PHASELOCK_URL}/mcp`,
  requestInit: { headers: { Authorization: `Bearer ${PHASELOCK_TOKEN}` } },
})
await phaselock.connect()

/** Calls a tool of Phaselock from here, and not from the model. Its answer is JSON; a refusal is not. */
async function call<Answer>(name: string): Promise<Answer> {
  const content = await phaselock.callTool(name, {})
  return JSON.parse(/\{.*\}/s.exec(content.map(({ text }) => text).join('\n'))?.[0] ?? '{}')
}
type Claimed = { task: { id: string; title: string }; phase: string; prompt: string }
type State = { status?: string }

const { task, phase, prompt } = await call<Claimed>('claim_task')
console.log(`${task.id}: ${task.title}`)
const agent = new Agent({ name: 'coder', model: MODEL, mcpServers: [phaselock] })
const first = `${task.title}\n\nThe task is in phase ${phase}.\n\n${prompt}`
let items: AgentInputItem[] = [{ role: 'user', content: first }]
let state: State = { status: 'active' }
while (state.status === 'active') {
  const result = await run(agent, items, { maxTurns: 100 })
  state = await call<State>('get_workflow_state')
  for (; state.status === 'awaiting_approval'; state = await call<State>('get_workflow_state')) await sleep(1000)
  const again = 'Look at the state of the task, and go on until it is completed.'
  items = [...result.history, { role: 'user', content: again }]
}
console.log('done')
await phaselock.close()
