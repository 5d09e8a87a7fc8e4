import { ProtocolError, Server } from '@modelcontextprotocol/server'
import { type App, StoreUnavailable, TreeUnreadable } from '../app/app.js'
import { findFileProblem } from '../app/file-problem.js'
import { readCallId } from '../app/mcp-arrivals.js'
import { refuse, refuseUnreadable } from '../app/result.js'
import { PROGRAM_VERSION } from '../app/version.js'
import type { JsonObject } from '../core/json.js'
import { callTool, type RecordRefusal } from './call-tool.js'
import { isAgent, type McpBearer, requireAgentBearer, requireParticipant, requireReviewer } from './caller.js'
import { buildParticipantServer } from './participant-server.js'
import { openParticipantDoor } from './participant-tools.js'
import { listPrompts, readPrompt } from './prompts.js'
import { RESOURCES, readResource } from './resources.js'
import { addVerdict, toRefusalError, toRefusalResult } from './results.js'
import { buildReviewerServer } from './reviewer-server.js'
import { callReviewerTool, listReviewerTools } from './reviewer-tools.js'
import { listTools } from './tool-list.js'

const INSTRUCTIONS = `Phaselock leads you through a task in phases. Claim a task, read its prompt, work with the tools that the phase allows, and request the next phase with what the phase demands. A call that is refused says what is allowed now and what to do next. Only what was decided here counts as done.`

// The field in which Claude Code gives the id of its call, the same as in its hooks.

export interface ServerParts {
  readonly app: App
  readonly record: RecordRefusal
  readonly onFault: (error: unknown) => void
  /** Adds to each server of an agent, before it answers. No option of the program sets it. */
  readonly extend?: (server: Server) => void
}

/** The server for this kind of caller. No kind sees anything of another. */
export function makeServer(parts: ServerParts, bearer: McpBearer): Server {
  if (isAgent(bearer)) return buildMcpServer(parts)
  const { app, record } = parts
  const wording = {
    told: <T>(work: () => Promise<T>) => runAndReport(parts, work),
    toldAsResult: (work: () => ReturnType<typeof callTool>) => runToResult(parts, work),
  }
  if (bearer.kind === 'review')
    return buildReviewerServer({
      ...wording,
      tools: (context) => listReviewerTools(app, requireReviewer(context)),
      call: (context, call) => callReviewerTool(app, { bearer: requireReviewer(context), ...call }, record),
    })
  return buildParticipantServer({
    ...wording,
    open: (context) => {
      const participant = requireParticipant(context)
      return openParticipantDoor(app, participant, (problem, what) => record(problem, what, participant))
    },
  })
}

/** An MCP server for one connection or one request. It stores no caller: every request brings its own. */
function buildMcpServer(parts: ServerParts): Server {
  const { app, record } = parts
  const server = new Server(
    { name: 'phaselock', version: PROGRAM_VERSION },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true },
      },
      instructions: INSTRUCTIONS,
    },
  )
  server.setRequestHandler('tools/list', (_request, context) =>
    runAndReport(parts, async () => ({ tools: await listTools(app, requireAgentBearer(context)) })),
  )
  server.setRequestHandler('tools/call', (request, context) => {
    const { name, arguments: args, _meta: meta } = request.params
    const bearer = requireAgentBearer(context)
    app.mcpArrivals.recordArrival({ agentId: bearer.agentId, tool: name, toolUseId: readCallId(meta) })
    return runToResult(parts, () => callTool(app, { bearer, name, args: (args ?? {}) as JsonObject }, record))
  })
  server.setRequestHandler('resources/list', () => ({ resources: [...RESOURCES] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', (request, context) =>
    runAndReport(parts, () => readResource(app, requireAgentBearer(context), request.params.uri)),
  )
  server.setRequestHandler('prompts/list', (_request, context) =>
    runAndReport(parts, async () => ({ prompts: await listPrompts(app, requireAgentBearer(context)) })),
  )
  server.setRequestHandler('prompts/get', (request, context) =>
    runAndReport(parts, () => readPrompt(app, requireAgentBearer(context), request.params.name)),
  )
  return server
}

/** The subscriptions of a session; bounded by the number of resources. */
export function addSubscriptions(server: Server): ReadonlySet<string> {
  const subscribed = new Set<string>()
  server.setRequestHandler('resources/subscribe', (request) => {
    if (!RESOURCES.some((one) => one.uri === request.params.uri))
      throw toRefusalError(refuse('not_found', 'There is no such resource.').problem)
    subscribed.add(request.params.uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', (request) => {
    subscribed.delete(request.params.uri)
    return {}
  })
  return subscribed
}

const STORE_GONE = refuse('store_unavailable', 'The ledger cannot be written now; nothing was acknowledged.').problem
const BROKEN = refuse('internal_error', 'Internal error; the server log has the details.').problem

// Messages of faults are for the log, never for the client.
async function runAndReport<T>(parts: ServerParts, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    throw toRefusalError(toCaughtProblem(parts, error))
  }
}

async function runToResult(parts: ServerParts, work: () => ReturnType<typeof callTool>): ReturnType<typeof callTool> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    return addVerdict('the call', toRefusalResult(toCaughtProblem(parts, error)))
  }
}

function toCaughtProblem(parts: ServerParts, error: unknown) {
  if (error instanceof StoreUnavailable) return STORE_GONE
  if (error instanceof TreeUnreadable) return refuseUnreadable(error).problem
  parts.onFault(error)
  return findFileProblem(parts.app, error) ?? BROKEN
}
