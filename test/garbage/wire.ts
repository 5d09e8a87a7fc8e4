import { connect, type Socket } from 'node:net'
import { HANG_MS } from './client.js'

export interface Heard {
  /** Everything that came back. */
  readonly text: string
  readonly isClosed: boolean
  /** The status of every answer, in order. */
  readonly statuses: readonly number[]
}

/** Sends bytes as they are and listens until the server closes the connection, or has answered `answers` times. */
export function say(
  port: number,
  bytes: string | Buffer,
  until: { readonly answers?: number; readonly waitMs?: number } = {},
): Promise<Heard> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const heard = (isClosed: boolean): Heard => {
      const text = Buffer.concat(chunks).toString('latin1')
      return { text, isClosed, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code)) }
    }
    const timer = setTimeout(() => finish(false), until.waitMs ?? HANG_MS)
    const finish = (isClosed: boolean): void => {
      clearTimeout(timer)
      resolve(heard(isClosed))
      socket.destroy()
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (heard(false).statuses.length >= (until.answers ?? Number.POSITIVE_INFINITY)) finish(false)
    })
    // The server may cut the connection while we are still sending; what it said before counts.
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
  })
}

/** Connections that send one byte at a time and never come to an end. */
export class SlowClients {
  readonly #sockets: Socket[] = []
  readonly #timers: NodeJS.Timeout[] = []
  readonly #closed: Promise<void>[] = []

  open(port: number, count: number, text: string): void {
    for (let i = 0; i < count; i += 1) {
      const socket = connect(port, '127.0.0.1')
      let at = 0
      const next = (): void => {
        socket.write(at < text.length ? (text[at] ?? 'x') : 'x')
        at += 1
      }
      const timer = setInterval(next, 1000)
      this.#sockets.push(socket)
      this.#timers.push(timer)
      this.#closed.push(
        new Promise((resolve) => {
          socket.on('error', () => clearInterval(timer))
          socket.on('close', () => {
            clearInterval(timer)
            resolve()
          })
          socket.resume()
        }),
      )
      socket.on('connect', next)
    }
  }

  /** Resolves when the server has closed all of them. */
  async allClosed(): Promise<void> {
    await Promise.all(this.#closed)
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const socket of this.#sockets) socket.destroy()
  }
}
