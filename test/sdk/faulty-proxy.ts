import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly key: string | null
}

/** What becomes of the next requests for a path. */
export interface Fault {
  /** `drop`: the server acts, and its answer is lost. A number: answered with that status, and the server hears nothing. */
  readonly kind: 'drop' | 'cut' | number
  readonly path: string
  readonly times: number
  readonly retryAfter?: number | string
  readonly body?: string
}

/** Stands between client and server, passes everything on, and fails as it is told to. */
export class FaultyProxy {
  readonly seen: Seen[] = []
  #faults: Fault[] = []
  readonly #servers: Server[] = []

  private constructor(private readonly target: { port: number }) {}

  static async open(target: { port: number }, socketPath: string): Promise<{ proxy: FaultyProxy; port: number }> {
    const proxy = new FaultyProxy(target)
    const [byPort, bySocket] = [proxy.#server(), proxy.#server()]
    await new Promise<void>((resolve) => byPort.listen(0, '127.0.0.1', resolve))
    await new Promise<void>((resolve) => bySocket.listen(socketPath, resolve))
    return { proxy, port: (byPort.address() as AddressInfo).port }
  }

  fail(fault: Fault): void {
    this.#faults.push(fault)
  }

  forget(): void {
    this.seen.length = 0
    this.#faults = []
  }

  close(): void {
    for (const server of this.#servers) {
      server.close()
      server.closeAllConnections()
    }
  }

  #server(): Server {
    const server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing))
    this.#servers.push(server)
    return server
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const path = (incoming.url ?? '').split('?')[0] ?? ''
    const key = incoming.headers['idempotency-key']
    this.seen.push({ method: incoming.method ?? '', path, key: typeof key === 'string' ? key : null })
    const fault = this.#faultFor(path)
    if (typeof fault?.kind === 'number') {
      const wait = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }
      outgoing.writeHead(fault.kind, { 'content-type': 'application/problem+json', ...wait })
      // What a careless proxy does: it shows the request in its error.
      outgoing.end(
        fault.body ?? JSON.stringify({ code: 'echoed', detail: `refused ${incoming.headers.authorization}` }),
      )
      return
    }
    const onward = request({
      host: '127.0.0.1',
      port: this.target.port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, host: `127.0.0.1:${this.target.port}` },
      agent: false,
    })
    onward.on('error', () => outgoing.destroy())
    onward.on('response', (answer) => {
      if (fault?.kind === 'drop') {
        answer.resume()
        answer.on('end', () => outgoing.destroy())
        return
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      outgoing.flushHeaders()
      if (fault?.kind === 'cut') setTimeout(() => outgoing.destroy(), CUT_AFTER_MS)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  }

  #faultFor(path: string): Fault | null {
    const at = this.#faults.findIndex((fault) => path.endsWith(fault.path))
    const fault = this.#faults[at]
    if (fault === undefined) return null
    if (fault.times <= 1) this.#faults.splice(at, 1)
    else this.#faults[at] = { ...fault, times: fault.times - 1 }
    return fault
  }
}

const CUT_AFTER_MS = 300
