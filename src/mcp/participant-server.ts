import { type CallToolResult, Server, type ServerContext, type Tool } from '@modelcontextprotocol/server'
import { listWorkflowTools } from '../app/councils/turn-prompts.js'
import { PROGRAM_VERSION } from '../app/version.js'
import type { Json, JsonObject } from '../core/json.js'
import { makeObjectSchema } from './tool-schemas.js'

/** The operations of one participant of a council. Neither of them throws because of what an agent sends. */
export interface ParticipantCalls {
  /** Whether answers must carry a verdict. */
  readonly needsVerdict: boolean
  /** Additional read-only tools. */
  readonly looks: readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[]
  view(): Promise<CallToolResult>
  /** One call, judged as a separate response or as part of one. `gone` fires when nobody waits for its answer. */
  call(call: { readonly name: string; readonly arguments: Json }, gone: AbortSignal): Promise<CallToolResult>
}

const INSTRUCTIONS = `Several agents answer one question in rounds. Read it with coordination_view, then end your turn with exactly one call: new_answer with your own answer, or vote for the best existing answer. A call that is refused says what is required instead. Only what is called here counts.`

const VIEW = 'coordination_view'

/** How requests reach these operations, and how faults are reported. */
interface DoorWay {
  /** Throws when the caller's token is not valid. */
  open(context: ServerContext): Promise<ParticipantCalls>
  told<T>(work: () => Promise<T>): Promise<T>
  toldAsResult(work: () => Promise<CallToolResult>): Promise<CallToolResult>
}

/** An MCP server for a participant: three tools, its read-only tools, and no tasks, resources or prompts. */
export function buildParticipantServer(way: DoorWay): Server {
  const server = new Server(
    { name: 'phaselock', version: PROGRAM_VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler('tools/list', (_request, context) =>
    way.told(async () => ({ tools: listTools(await way.open(context)) })),
  )
  server.setRequestHandler('tools/call', (request, context) => {
    const { name, arguments: args } = request.params
    return way.toldAsResult(async () => {
      const calls = await way.open(context)
      return name === VIEW
        ? calls.view()
        : calls.call({ name, arguments: (args ?? {}) as JsonObject }, context.mcpReq.signal)
    })
  })
  return server
}

function listTools({ needsVerdict, looks }: Pick<ParticipantCalls, 'needsVerdict' | 'looks'>): Tool[] {
  return [
    ...listWorkflowTools(needsVerdict).map(({ name, description, parameters }) =>
      toTool({ name, description: `${description}${MORE[name] ?? ''}`, inputSchema: parameters }),
    ),
    { ...toTool(VIEW_TOOL), annotations: READ_ONLY },
    ...looks.map(({ name, description, parameters }) => ({
      ...toTool({ name, description, inputSchema: parameters }),
      annotations: READ_ONLY,
    })),
  ]
}

/** Unlike in a model's turn, the winner presents with a call here too. */
const MORE: Readonly<Record<string, string>> = {
  new_answer: ' When you are to present, it is the final answer.',
}

const READ_ONLY = { readOnlyHint: true }

const VIEW_TOOL = {
  name: VIEW,
  description: 'The question, the answers that you may see, your round, and what you must do now.',
  inputSchema: makeObjectSchema({}),
}

function toTool(spec: { readonly name: string; readonly description: string; readonly inputSchema: JsonObject }): Tool {
  return { ...spec, inputSchema: spec.inputSchema as Tool['inputSchema'], annotations: { readOnlyHint: false } }
}
