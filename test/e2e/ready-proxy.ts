import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const LOOK_MS = 200

/** A proxy that sends each request to the next node that says it is ready, and tries nothing twice. */
export interface ReadyProxy {
  readonly url: string
  /** How many requests each node got. */
  readonly sent: ReadonlyMap<number, number>
  close(): void
}

export async function startReadyProxy(ports: readonly number[]): Promise<ReadyProxy> {
  const ready = new Set<number>(ports)
  const sent = new Map<number, number>()
  let next = 0
  const server = createServer((request, response) => {
    const open = ports.filter((port) => ready.has(port))
    next += 1
    const port = open[next % open.length]
    if (port === undefined) return void response.writeHead(502).end('{"code": "no_node_is_ready"}')
    sent.set(port, (sent.get(port) ?? 0) + 1)
    pass(request, response, port)
  })
  // On a busy machine an idle connection would be closed in the moment in which it is used again.
  server.keepAliveTimeout = 0
  const look = async (port: number): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(2_000) }).catch(
      () => null,
    )
    if (answer?.ok === true) ready.add(port)
    else ready.delete(port)
  }
  const timers = ports.map((port) => setInterval(() => void look(port), LOOK_MS))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    close: () => {
      for (const timer of timers) clearInterval(timer)
      server.closeAllConnections()
      server.close()
    },
  }
}

function pass(request: IncomingMessage, response: ServerResponse, port: number): void {
  const headers = { ...request.headers, host: `127.0.0.1:${port}` }
  const asked = ask({ host: '127.0.0.1', port, method: request.method, path: request.url, headers, agent: false })
  asked.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  asked.on('error', (error) =>
    response.writeHead(502).end(JSON.stringify({ code: 'bad_gateway', detail: String(error) })),
  )
  request.pipe(asked)
}
