import { Agent, type ClientRequestArgs, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { requireProofOver } from './prove-server.js'

const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const IDLE_MAX = 4

interface Sent {
  readonly path: string
  readonly body: string
  readonly token: string
  readonly signal: AbortSignal
}

export interface Received {
  readonly status: number
  readonly text: string
}

/**
 * Connections to the server of a state directory that stay open. The server proves itself once on each of them, before
 * a token is sent: no other program can answer on it later.
 */
export class ProvenConnections {
  readonly #idle: OneConnection[] = []

  /** `find`: where the server is now; it is asked for each new connection. */
  constructor(private readonly find: () => { readonly url: string; readonly stateDir: string }) {}

  async post({ path, body, token, signal }: Sent): Promise<Received> {
    const connection = this.#takeIdle() ?? (await this.#open(signal))
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const received = await connection.send({ method: 'POST', path, headers, signal }, body)
    if (this.#idle.length < IDLE_MAX) this.#idle.push(connection)
    else connection.destroy()
    return received
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy()
  }

  #takeIdle(): OneConnection | null {
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined) return null
      if (connection.isOpen) return connection
      connection.destroy()
    }
  }

  async #open(signal: AbortSignal): Promise<OneConnection> {
    const { url, stateDir } = this.find()
    const connection = new OneConnection(url)
    try {
      await requireProofOver({ stateDir, url }, (path) => connection.send({ method: 'GET', path, signal }, ''))
      return connection
    } catch (error) {
      connection.destroy()
      throw error
    }
  }
}

/** Opens one connection and never another: a request after its end fails instead of reaching somebody else. */
class OneConnection extends Agent {
  readonly #url: string
  #socket: Duplex | null = null

  constructor(url: string) {
    super({ keepAlive: true, maxSockets: 1 })
    this.#url = url
  }

  get isOpen(): boolean {
    return this.#socket !== null && !this.#socket.destroyed && this.#socket.writable
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    if (this.#socket !== null) {
      callback?.(new Error('the connection to the server has ended'), this.#socket)
      return undefined
    }
    this.#socket = super.createConnection(options, callback) ?? null
    return this.#socket
  }

  /** One request at a time. */
  send(sent: ClientRequestArgs & { readonly signal: AbortSignal }, body: string): Promise<Received> {
    return new Promise((resolve, reject) => {
      const asked = request(new URL(sent.path ?? '/', this.#url), { ...sent, agent: this }, (response) => {
        readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
      })
      asked.once('error', reject)
      asked.end(body)
    })
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > ANSWER_BYTES_MAX) throw new Error('the answer of the server is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
