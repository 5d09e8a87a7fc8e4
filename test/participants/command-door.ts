import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { buildParticipantServer } from '../../src/mcp/participant-server.js'
import type { OfferAnswer, OfferedCall } from '../../src/participants/agent-cli/agent-cli-offers.js'

/** The MCP door of one participant, on a port of its own: what it is called with goes to `offer`. */
export class TestDoor {
  readonly token = `tok-${'x'.repeat(30)}-secret`
  readonly calls: OfferedCall[] = []
  offer: (call: OfferedCall) => Promise<OfferAnswer> = () => Promise.reject(new Error('nobody takes calls'))
  private readonly server: Server
  /** Requests that did not carry the token. */
  strangers = 0

  private constructor() {
    const handler = createMcpHandler(() =>
      buildParticipantServer({
        told: (work) => work(),
        toldAsResult: (work) => work(),
        open: async () => ({
          needsVerdict: false,
          looks: [],
          view: async () => ({ content: [{ type: 'text', text: 'Which is it?' }] }),
          call: async (call) => {
            this.calls.push(call)
            const { text, isError } = await this.offer(call)
            return { content: [{ type: 'text', text }], isError }
          },
        }),
      }),
    )
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const isKnown = request.headers.authorization === `Bearer ${this.token}`
        if (!isKnown) {
          this.strangers += 1
          response.writeHead(401).end()
          return
        }
        const body = Buffer.concat(chunks).toString('utf8')
        const asked = new Request(this.url, {
          method: request.method ?? 'GET',
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
          ...(body === '' ? {} : { body }),
        })
        void handler.fetch(asked).then(async (answer) => {
          response.writeHead(answer.status, Object.fromEntries(answer.headers))
          response.flushHeaders()
          if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk)
          response.end()
        })
      })
    })
  }

  static async open(): Promise<TestDoor> {
    const door = new TestDoor()
    await new Promise<void>((resolve) => door.server.listen(0, '127.0.0.1', resolve))
    return door
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
