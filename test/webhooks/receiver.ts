import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Got {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly json: Record<string, unknown>
}

/** Somebody who is told of events, on a real port. */
export interface Receiver {
  readonly url: string
  readonly got: Got[]
  /** What it answers next; 200 when there is nothing left. */
  readonly answers: number[]
  close(): Promise<void>
}

export async function openReceiver(port = 0): Promise<Receiver> {
  const got: Got[] = []
  const answers: number[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      got.push({ headers: request.headers, body, json: JSON.parse(body) as Record<string, unknown> })
      const status = answers.shift() ?? 200
      response.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/elsewhere' } : {})
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=abc`,
    got,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
