/*
 * An agent with the Claude Agent SDK. Its own tools are off; those of Phaselock take their place, over MCP.
 *
 * npm install @anthropic-ai/claude-agent-sdk @modelcontextprotocol/sdk
 * PHASELOCK_URL=http://localhost:8000 PHASELOCK_TOKEN=… ANTHROPIC_API_KEY=…
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '@anthropic-ai/claude-agent-sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const url = `${process.env.PHASELOCK_URL}/mcp`
const headers = { Authorization: `Bearer ${process.env.PHASELOCK_TOKEN}` }
const phaselock = new Client({ name: 'coder', version: '1' })
await phaselock.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))

/** Calls a tool of Phaselock from here, and not from the model. */
async function call<Answer>(name: string): Promise<Answer> {
  return (await phaselock.callTool({ name, arguments: {} })).structuredContent as Answer
}
type Claimed = { task: { id: string; title: string }; phase: string; prompt: string }
type State = { status?: string }

const { task, phase, prompt } = await call<Claimed>('claim_task')
console.log(`${task.id}: ${task.title}`)
let message = `${task.title}\n\nThe task is in phase ${phase}.\n\n${prompt}`
let resume: string | undefined
let state: State = { status: 'active' }
while (state.status === 'active') {
  const options = {
    mcpServers: { phaselock: { type: 'http' as const, url, headers } },
    ...{ tools: [], allowedTools: ['mcp__phaselock'], strictMcpConfig: true, settingSources: [] },
    // Otherwise tools of MCP servers hide behind a search.
    env: { ...process.env, ENABLE_TOOL_SEARCH: 'false' },
    ...(resume === undefined ? {} : { resume }),
  }
  for await (const said of query({ prompt: message, options })) resume = said.session_id
  state = await call<State>('get_workflow_state')
  for (; state.status === 'awaiting_approval'; state = await call<State>('get_workflow_state')) await sleep(1000)
  message = 'Look at the state of the task, and go on until it is completed.'
}
console.log('done')
await phaselock.close()
