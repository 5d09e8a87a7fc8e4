import { Server } from '@modelcontextprotocol/server'
import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { SERVER_NAME } from '../launch/agent-cli-kind.js'
import { tell } from '../terminal/terminal.js'
import { readProgramVersion } from '../version.js'

/** An MCP server that has one thing to say: why there is no session. The agent and its person read it there. */
export async function serveTrouble(transport: StdioServerTransport, reason: string): Promise<void> {
  tell(reason)
  const text = `Refused: there is no session with Phaselock.\n${reason}`
  const server = new Server(
    { name: SERVER_NAME, version: readProgramVersion() },
    { capabilities: { tools: {} }, instructions: text },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'claim_task', description: `Does not work now: ${reason}`, inputSchema: { type: 'object' } }],
  }))
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text }], isError: true }))
  await server.connect(transport)
}

/** An MCP server without tools: the session is not bound. */
export async function serveNothing(transport: StdioServerTransport): Promise<void> {
  const server = new Server({ name: SERVER_NAME, version: readProgramVersion() }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [] }))
  await server.connect(transport)
}
