import { connect, createServer, type Socket } from 'node:net'

/** A connection to PostgreSQL that can be cut: bytes no longer arrive, and nobody is told. */
export interface Relay {
  readonly port: number
  cut(): void
  heal(): void
  close(): void
}

export async function startRelay(target: number, host: string): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) keep(socket)
    near.on('data', (chunk) => (isCut ? undefined : far.write(chunk)))
    far.on('data', (chunk) => (isCut ? undefined : near.write(chunk)))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    port: (server.address() as { port: number }).port,
    cut: () => {
      isCut = true
    },
    // What was cut has lost bytes and can never be used again.
    heal: () => {
      isCut = false
      for (const socket of sockets) socket.destroy()
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
