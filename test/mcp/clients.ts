import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { expect } from 'vitest'

/** The two eras of the protocol: with a handshake and a session, and without. */
export const ERAS = [
  { name: '2025-11-25', mode: 'legacy' as const },
  { name: '2026-07-28', mode: { pin: '2026-07-28' } as const },
]
export type Era = (typeof ERAS)[number]

export type Structured = Record<string, unknown>

export interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  readonly structured: Structured
}

/** A client as a harness has one: the official one, with a token that never changes. */
export class McpAgent {
  changes = 0

  private constructor(readonly client: Client) {}

  static connect(url: string, token: string, era: Era): Promise<McpAgent> {
    const headers = { authorization: `Bearer ${token}` }
    return McpAgent.over(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }), era)
  }

  static async over(transport: Transport, era: Era): Promise<McpAgent> {
    let changes: (() => void) | null = null
    const client = new Client(
      { name: 'test', version: '1' },
      {
        versionNegotiation: { mode: era.mode },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changes?.() } },
      },
    )
    const agent = new McpAgent(client)
    changes = () => {
      agent.changes += 1
    }
    await client.connect(transport)
    expect(client.getNegotiatedProtocolVersion()).toBe(era.name)
    return agent
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const result = await this.client.callTool({ name, arguments: args })
    const content = result.content as readonly { readonly type: string; readonly text?: string }[]
    return {
      isError: result.isError === true,
      text: content.map((one) => one.text ?? '').join('\n'),
      structured: (result.structuredContent ?? {}) as Structured,
    }
  }

  /** A call that must work. */
  async does(name: string, args: Record<string, unknown> = {}): Promise<Structured> {
    const answer = await this.call(name, args)
    expect(answer.isError, answer.text).toBe(false)
    return answer.structured
  }

  /** A call that must be refused. */
  async refused(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const answer = await this.call(name, args)
    expect(answer.isError, answer.text).toBe(true)
    return answer
  }

  async close(): Promise<void> {
    await this.client.close()
  }
}

/** Waits until something is so, for at most a few seconds. */
export async function until(holds: () => boolean | Promise<boolean>, msMax = 5000): Promise<void> {
  const deadline = Date.now() + msMax
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it never came to that')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** The headers and the body of a request of 2026-07-28, as they go over the wire. */
export function modern(method: string, params: Record<string, unknown> = {}) {
  const named = typeof params.name === 'string' ? params.name : params.uri
  return {
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
    },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } },
  }
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
