import { type CallToolResult, Server, type ServerContext, type Tool } from '@modelcontextprotocol/server'
import { listWorkflowTools } from '../app/councils/turn-prompts.js'
import { PROGRAM_VERSION } from '../app/version.js'
import type { Json, JsonObject } from '../core/json.js'
import { makeObjectSchema } from './tool-schemas.js'

/** What stands behind the door for one participant of a coordination. Neither of them throws for what an agent sends. */
export interface ParticipantDoor {
  /** Whether answers must carry a verdict. */
  readonly needsVerdict: boolean
  /** Tools besides, which only look. */
  readonly looks: readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[]
  view(): Promise<CallToolResult>
  /** One call, judged as a response of its own or as part of one. `gone` fires when nobody waits for its answer. */
  call(call: { readonly name: string; readonly arguments: Json }, gone: AbortSignal): Promise<CallToolResult>
}

const INSTRUCTIONS = `Several agents answer one question in rounds. Read it with coordination_view, then end your turn with exactly one call: new_answer with your own answer, or vote for the best existing answer. A call that is refused says what is required instead. Only what is called here counts.`

const VIEW = 'coordination_view'

/** How requests reach the door, and how faults on the way are worded. */
interface DoorWay {
  /** Throws when the caller's token opens nothing. */
  door(context: ServerContext): Promise<ParticipantDoor>
  told<T>(work: () => Promise<T>): Promise<T>
  toldAsResult(work: () => Promise<CallToolResult>): Promise<CallToolResult>
}

/** A server of the protocol for a participant: three tools, those with which it may look, and nothing of tasks, resources or prompts. */
export function buildParticipantServer(way: DoorWay): Server {
  const server = new Server(
    { name: 'phaselock', version: PROGRAM_VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler('tools/list', (_request, context) =>
    way.told(async () => ({ tools: listTools(await way.door(context)) })),
  )
  server.setRequestHandler('tools/call', (request, context) => {
    const { name, arguments: args } = request.params
    return way.toldAsResult(async () => {
      const door = await way.door(context)
      return name === VIEW
        ? door.view()
        : door.call({ name, arguments: (args ?? {}) as JsonObject }, context.mcpReq.signal)
    })
  })
  return server
}

function listTools({ needsVerdict, looks }: Pick<ParticipantDoor, 'needsVerdict' | 'looks'>): Tool[] {
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

/** What differs from a model's turn: here the winner presents with a call too. */
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
