import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import {
  isInitializeRequest,
  ProtocolError,
  Server,
  type ServerContext,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { isObject, type JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { readProgramVersion } from '../version.js'
import { SERVER_NAME } from './agent-cli-kind.js'
import { ASK_MS_MAX, type Chat, type People } from './ask-people.js'
import type { UpstreamMcp } from './upstream-mcp.js'
import { addNote, addVerdict, findWaiting, isTaskOver } from './waiting-for-people.js'

const SESSIONS_MAX = 8
const LISTED_MS_MAX = 20_000
/** A client that has received the list takes a moment to offer it to its model. */
const LISTED_SETTLE_MS = 1000
const ROUNDS_MAX = 20
const PROGRESS_MS = 3000
/** The server answers a long run after some 40 seconds each time. */
const CHECKING_ROUNDS_MAX = 200

export interface SessionMcpParts {
  readonly upstream: UpstreamMcp
  readonly people: People
  /** What the model is told about the session when it connects. */
  readonly instructions: string
  /** Whether a form that the CLI shows can decide something. */
  readonly asksInChat: boolean
  /** Why a call is refused before it is sent on; null: it is not. */
  readonly findProblem?: (params: JsonObject) => string | null
  /** Tools of the session itself, and who looks at the results of all calls. */
  readonly session?: SessionTools
  /** What the model is told once the task of the session is over. */
  readonly afterTask?: string
  /** Called when a result names the phase of the task, and when a call waits for a person. */
  readonly onProgress?: (progress: SessionProgress) => void
}

export interface SessionProgress {
  /** Null: as before. */
  readonly phase: string | null
  readonly waits: boolean
  readonly isRefused: boolean
}

export interface SessionTools {
  readonly tools: readonly JsonObject[]
  /** Null: not a tool of the session. */
  call(name: string, args: JsonObject, chat: Chat): Promise<JsonObject | null>
  noteResult(name: string, result: JsonObject): void
}

/**
 * The MCP server of the CLI in the terminal. It decides nothing about tools: every call goes to Phaselock's server. It
 * adds what needs the person: a call that waits for one asks in the chat, and ends when somebody has decided.
 */
export class SessionMcp {
  readonly #clients = new Map<string, WebStandardStreamableHTTPServerTransport>()

  readonly #listed: Promise<void>
  #noteListed: () => void = () => undefined

  constructor(private readonly parts: SessionMcpParts) {
    this.#listed = new Promise((resolve) => {
      this.#noteListed = resolve
    })
  }

  /** Resolves when a client has read the list of tools, or after a while. */
  async waitUntilListed(): Promise<void> {
    await Promise.race([this.#listed, wait(LISTED_MS_MAX, undefined, { ref: false })])
  }

  async answer(request: Request, body: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const known = this.#clients.get(id)
      if (known === undefined) return makeRpcError(404, -32001, 'Session not found')
      return known.handleRequest(request, body === undefined ? {} : { parsedBody: body })
    }
    if (request.method !== 'POST' || !isInitializeRequest(body))
      return makeRpcError(400, -32000, 'Bad Request: begin with initialize, then send Mcp-Session-Id')
    const transport = await this.#open()
    return transport.handleRequest(request, { parsedBody: body })
  }

  async close(): Promise<void> {
    for (const transport of this.#clients.values()) await transport.close()
  }

  async #open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const [oldest] = this.#clients
    if (oldest !== undefined && this.#clients.size >= SESSIONS_MAX) await oldest[1].close()
    const id = randomUUID()
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id })
    this.#clients.set(id, transport)
    await this.serve(transport, () => this.#clients.delete(id))
    return transport
  }

  /** Serves one client until its connection ends. */
  async serve(transport: Transport, onClose: () => void): Promise<void> {
    const server = new Server(
      { name: SERVER_NAME, version: readProgramVersion() },
      { capabilities: { tools: {}, prompts: {}, resources: {} }, instructions: this.parts.instructions },
    )
    server.fallbackRequestHandler = (request, context) => this.#forward(server, request, context)
    server.onclose = onClose
    await server.connect(transport)
  }

  async #forward(
    server: Server,
    { method, params }: { readonly method: string; readonly params?: unknown },
    context: ServerContext,
  ): Promise<JsonObject> {
    if (method === 'tools/call') {
      const call = toObject(params)
      const result = addVerdict(await this.#callTool(server, call, context), String(call.name))
      const { afterTask } = this.parts
      return afterTask !== undefined && isTaskOver(result) ? addNote(result, afterTask) : result
    }
    const answer = await this.parts.upstream.request(method, toObject(params), context.mcpReq.signal)
    if (method !== 'tools/list') return answer
    setTimeout(this.#noteListed, LISTED_SETTLE_MS).unref()
    const listed = Array.isArray(answer.tools) ? answer.tools : []
    return { ...answer, tools: [...(this.parts.session?.tools ?? []), ...listed] }
  }

  async #callTool(server: Server, params: JsonObject, context: ServerContext): Promise<JsonObject> {
    const { session } = this.parts
    const name = String(params.name)
    const own = await session?.call(name, toObject(params.arguments), this.#chat(server, params, context))
    if (own !== undefined && own !== null) return own
    const problem = this.parts.findProblem?.(params) ?? null
    if (problem !== null) return { content: [{ type: 'text', text: problem }], isError: true }
    const chat = this.#chat(server, params, context)
    let result = await this.#callToTheEnd(params, chat)
    session?.noteResult(name, result)
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const waiting = findWaiting(result)
      const isRefused = waiting === null && result.isError === true
      this.parts.onProgress?.({ phase: findPhase(result), waits: waiting !== null, isRefused })
      if (waiting === null) return result
      const asked = await this.parts.people.ask(waiting, chat)
      this.parts.onProgress?.({ phase: null, waits: false, isRefused: false })
      if (asked.kind === 'open') return addNote(result, asked.note)
      result = await this.#callToTheEnd(params, chat)
    }
    return result
  }

  /** Asks again while the server answers that it is still checking, and shows the person that something happens. */
  async #callToTheEnd(params: JsonObject, { signal, progress }: Chat): Promise<JsonObject> {
    const began = performance.now()
    const tell = (): void => {
      const seconds = Math.round((performance.now() - began) / 1000)
      progress(`${describeWork(params)}, ${seconds} s`).catch(() => undefined)
    }
    const timer = setInterval(tell, PROGRESS_MS)
    try {
      let result = await this.#call(params, signal)
      for (let round = 1; isChecking(result) && round < CHECKING_ROUNDS_MAX; round += 1)
        result = await this.#call(params, signal)
      return result
    } finally {
      clearInterval(timer)
    }
  }

  // A model reads results, not errors of the protocol.
  async #call(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    try {
      return await this.parts.upstream.request('tools/call', params, signal)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return { content: [{ type: 'text', text: error.message }], isError: true }
    }
  }

  #chat(server: Server, params: JsonObject, { mcpReq }: ServerContext): Chat {
    const token = isObject(params._meta) ? params._meta.progressToken : undefined
    let progress = 0
    const shown = server.getClientCapabilities()?.elicitation
    const canAsk = this.parts.asksInChat && shown !== undefined
    return {
      signal: mcpReq.signal,
      ask: canAsk
        ? ({ message, schema }, signal) =>
            server.elicitInput(
              { mode: 'form', message, requestedSchema: schema as never },
              // On the stream of the call: not every client has another one open.
              { signal, timeout: ASK_MS_MAX, relatedRequestId: mcpReq.id },
            )
        : null,
      show:
        !this.parts.asksInChat && shown?.url !== undefined
          ? ({ message, url }, signal) =>
              server.elicitInput(
                { mode: 'url', message, url, elicitationId: randomUUID() },
                { signal, timeout: ASK_MS_MAX, relatedRequestId: mcpReq.id },
              )
          : null,
      progress: async (message) => {
        if (typeof token !== 'string' && typeof token !== 'number') return
        progress += 1
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, progress, message } })
      },
    }
  }
}

function findPhase({ structuredContent: said }: JsonObject): string | null {
  if (!isObject(said)) return null
  if (said.completed === true) return 'completed'
  return typeof said.phase === 'string' ? said.phase : null
}

function isChecking({ structuredContent: said }: JsonObject): boolean {
  return isObject(said) && said.checking === true
}

/** What the person reads while a call runs. */
function describeWork({ name, arguments: given }: JsonObject): string {
  const target = isObject(given) && typeof given.target_phase === 'string' ? given.target_phase : null
  if (target !== null) return `checks of the gate to ${plainLine(target)} are running, tests may run several times`
  return name === 'run_tests' ? 'the tests are running' : `${plainLine(String(name))} is running`
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function makeRpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
