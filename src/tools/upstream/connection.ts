import type { CallToolResult, Client, RequestOptions, Tool } from '@modelcontextprotocol/client'
import type { CommandEnd } from '../../confinement/confinement.js'
import type { JsonObject } from '../../core/json.js'
import { raceAbort } from '../or-aborted.js'
import { formatMessage, UpstreamFailure } from './failure.js'
import { discardChanges, type Line, type LinePlan, openLine, type Sdk } from './line.js'
import type { Mask } from './mask.js'
import { linearValidator } from './output-schema.js'

const PAGES_MAX = 20
const TOOLS_MAX = 500
const MESSAGE_CHARS_MAX = 1000
const COMPLAINT_CHARS_MAX = 500
const TIMER_MS_MAX = 2 ** 31 - 1
/** The protocol version without the older handshake. */
const MODERN = '2026-07-28'

/** The parameters of a connection. */
export interface ConnectionPlan extends LinePlan {
  /** Phaselock's version, which servers are told. */
  readonly version: string
}

/** A client of one upstream server, and its process if there is one. */
export class Connection {
  private ending: Promise<CommandEnd | null> | null = null

  private constructor(
    private readonly sdk: Sdk,
    private readonly client: Client,
    private readonly line: Line,
  ) {}

  /** Starts the server and initializes the connection. Throws an `UpstreamFailure`; then nothing is left running. */
  static async open(plan: ConnectionPlan, signal: AbortSignal): Promise<Connection> {
    // Loaded on first use: most contracts name no server, and it would take a third of the start time.
    const sdk = await import('@modelcontextprotocol/client')
    try {
      return await Connection.connectOnce(sdk, plan, { signal, isModern: false })
    } catch (error) {
      // A newer server answers the older handshake with an error; a server that did not answer is not asked again.
      const { cause } = error as Error
      if (!(cause instanceof sdk.ProtocolError || cause instanceof sdk.SdkHttpError)) throw error
      return await Connection.connectOnce(sdk, plan, { signal, isModern: true })
    }
  }

  private static async connectOnce(sdk: Sdk, plan: ConnectionPlan, how: Handshake): Promise<Connection> {
    const line = await openLine(sdk, plan, how.signal)
    const client = new sdk.Client(
      { name: 'phaselock', version: plan.version },
      {
        capabilities: {},
        jsonSchemaValidator: linearValidator,
        inputRequired: { autoFulfill: false },
        ...(how.isModern ? { versionNegotiation: { mode: { pin: MODERN } } } : {}),
      },
    )
    const connection = new Connection(sdk, client, line)
    try {
      await connection.request((options) => client.connect(line.transport, options), how.signal)
      return connection
    } catch (error) {
      await discardChanges(await connection.end('now'))
      throw error
    }
  }

  get mask(): Mask {
    return this.line.mask
  }

  /** Whether it can still be used. */
  get isOpen(): boolean {
    return this.ending === null && this.line.failure() === null
  }

  async listTools(signal: AbortSignal): Promise<readonly Tool[]> {
    const tools: Tool[] = []
    let cursor: string | undefined
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const params = cursor === undefined ? {} : { cursor }
      const listed = await this.request(
        (options) => this.client.request({ method: 'tools/list', params }, options),
        signal,
      )
      tools.push(...listed.tools)
      if (tools.length > TOOLS_MAX) throw new UpstreamFailure(`lists more than ${TOOLS_MAX} tools`, true)
      cursor = listed.nextCursor
      if (cursor === undefined) return tools
    }
    throw new UpstreamFailure(`lists its tools on more than ${PAGES_MAX} pages`, true)
  }

  /** The definition must be one that this connection listed. */
  callTool(tool: Tool, args: JsonObject, signal: AbortSignal): Promise<CallToolResult> {
    const call = { name: tool.name, arguments: { ...args } }
    return this.request((options) => this.client.callTool(call, { ...options, toolDefinition: tool }), signal)
  }

  /** Ends the connection and the server, gracefully or now; returns the changes of a server that ended. */
  end(when: 'soon' | 'now'): Promise<CommandEnd | null> {
    this.ending ??= this.line.end(when)
    return this.ending
  }

  private async request<T>(make: (options: RequestOptions) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.line.refill()
    try {
      // The signal is the deadline: the client's own, of a minute, must not come before it.
      return await raceAbort(make({ signal, timeout: TIMER_MS_MAX }), signal)
    } catch (error) {
      throw this.toFailure(error, signal)
    }
  }

  private toFailure(error: unknown, signal: AbortSignal): UpstreamFailure {
    const failure = this.line.failure()
    if (signal.aborted) return new UpstreamFailure('did not answer in time', true, error)
    if (failure !== null) return new UpstreamFailure(`${failure}${this.formatComplaint()}`, true, error)
    const isAnswer = error instanceof this.sdk.ProtocolError
    const message = this.mask.text(formatMessage(error)).slice(0, MESSAGE_CHARS_MAX)
    return new UpstreamFailure(`${isAnswer ? 'answered with an error' : 'failed'}: ${message}`, !isAnswer, error)
  }

  private formatComplaint(): string {
    const { text, isCut } = this.line.complaint()
    const last = this.mask.tail(text, { charsMax: COMPLAINT_CHARS_MAX, isCut }).trim()
    return last === '' ? '' : `; it last said: ${last}`
  }
}

interface Handshake {
  readonly signal: AbortSignal
  readonly isModern: boolean
}
