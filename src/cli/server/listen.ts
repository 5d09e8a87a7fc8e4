import { createServer, isIPv6, type Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const LOOPBACK_4 = '127.0.0.1'
const ANY_4 = '0.0.0.0'
const LOOPBACK_6 = '::1'

/** A server that listens. */
export interface Listening {
  readonly port: number
  /** Accepts no new connections, and resolves when the last request is answered. */
  readonly close: () => Promise<void>
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === LOOPBACK_6 || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * Listens on the address. On the default one and on 0.0.0.0 also on ::1, because `localhost` means either: those
 * connections go to the same server, with its limits and time-outs.
 */
export async function listen(
  server: FastifyInstance,
  at: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const isLocal = at.host === 'localhost' || at.host === LOOPBACK_4
  // Otherwise another program at ::1 could receive requests to `localhost`.
  const isBoth = isLocal || at.host === ANY_4
  const host = isLocal ? LOOPBACK_4 : at.host.replace(/^\[(.*)\]$/, '$1')
  const streams = trackStreams(server)
  await server.listen({ host, port: at.port })
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : at.port
  let second: Server | null
  try {
    second = isBoth ? await listenOnSix(port, (socket) => server.server.emit('connection', socket)) : null
  } catch (error) {
    await server.close()
    throw error
  }
  const close = async (): Promise<void> => {
    streams.end()
    const closing = [server.close(), second === null ? undefined : closeServer(second)]
    const sweep = setInterval(() => server.server.closeIdleConnections(), 50)
    try {
      await Promise.all(closing)
    } finally {
      clearInterval(sweep)
    }
  }
  return { port, close }
}

/** The address that a person would type. */
export function formatAddress(at: { readonly host: string; readonly port: number; readonly isTls: boolean }): string {
  const isAny = at.host === ANY_4 || at.host === '::'
  const name = isAny || at.host === LOOPBACK_4 ? 'localhost' : isIPv6(at.host) ? `[${at.host}]` : at.host
  return `${at.isTls ? 'https' : 'http'}://${name}:${at.port}`
}

function listenOnSix(port: number, take: (socket: Socket) => void): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer({ noDelay: true }, take)
    server.once('error', (error: NodeJS.ErrnoException) => {
      // A machine without IPv6 has no ::1, and `localhost` does not resolve to it there.
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT' || error.code === 'EINVAL') resolve(null)
      else reject(error)
    })
    server.listen({ host: LOOPBACK_6, port, ipv6Only: true }, () => resolve(server))
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

// An event stream never ends by itself; a stopping server ends it, and the client resumes it elsewhere.
function trackStreams(server: FastifyInstance): { readonly end: () => void } {
  const open = new Set<{ end: () => void }>()
  server.server.on('request', (request, response) => {
    if (!(request.url ?? '').startsWith('/api/v1/events')) return
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  return { end: () => [...open].forEach((response) => void response.end()) }
}
