import { type CallToolResult, Server, type ServerContext, type Tool } from '@modelcontextprotocol/server'
import { PROGRAM_VERSION } from '../app/version.js'
import type { JsonObject } from '../core/json.js'

const INSTRUCTIONS = `You review the work of another agent. Look at it with review_view and with the tools that read, then report with submit_review. You change nothing, and only what is reported here counts.`

/** How requests of reviewers are answered, and how faults are reported. */
interface ReviewerWay {
  tools(context: ServerContext): Promise<Tool[]>
  call(context: ServerContext, call: { readonly name: string; readonly args: JsonObject }): Promise<CallToolResult>
  told<T>(work: () => Promise<T>): Promise<T>
  toldAsResult(work: () => Promise<CallToolResult>): Promise<CallToolResult>
}

/** An MCP server for a reviewer: read-only tools, its report, and no phases, resources or prompts. */
export function buildReviewerServer(way: ReviewerWay): Server {
  const server = new Server(
    { name: 'phaselock', version: PROGRAM_VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler('tools/list', (_request, context) =>
    way.told(async () => ({ tools: await way.tools(context) })),
  )
  server.setRequestHandler('tools/call', (request, context) => {
    const { name, arguments: args } = request.params
    return way.toldAsResult(() => way.call(context, { name, args: (args ?? {}) as JsonObject }))
  })
  return server
}
