import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An address at which everybody is the same agent, for test programs that cannot send a token. */
export interface OpenDoor {
  readonly url: string
  close(): void
}

/** Passes everything on as it came, with the token; its own port in Host and Origin becomes the server's. */
export async function openDoor(port: number, token: string): Promise<OpenDoor> {
  const door = createServer((incoming, outgoing) => {
    const own = String((door.address() as AddressInfo).port)
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [
        name,
        name === 'host' || name === 'origin' ? String(value).replace(`:${own}`, `:${port}`) : value,
      ]),
    )
    const passed = request(
      {
        host: '127.0.0.1',
        port,
        path: incoming.url,
        method: incoming.method,
        headers: { ...headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        outgoing.flushHeaders()
        answer.pipe(outgoing)
        answer.on('error', () => outgoing.destroy())
      },
    )
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(door.address() as AddressInfo).port}/mcp`,
    close: () => {
      door.closeAllConnections()
      door.close()
    },
  }
}
