import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const BYTES_MAX = 64 * 1024 * 1024
const MS_MAX = 5_000

/**
 * A client that is still sending when it is refused gets to read the answer: what it sends is read and thrown away,
 * within bounds. A connection that is closed before is reset, and the answer is lost with it.
 */
export function readUnsentBodies(server: FastifyInstance): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || !isSending(request)) return done(null, payload)
    reply.header('content-length', String(Buffer.byteLength(payload)))
    done(null, new AnswerWhileSending(request, payload))
  })
}

function isSending({ raw }: FastifyRequest): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers
  return !raw.complete && !raw.destroyed && (encoding !== undefined || Number(length ?? 0) > 0)
}

/** Gives the whole answer at once, and ends when the client has sent everything or more than is waited for. */
class AnswerWhileSending extends Readable {
  #isGiven = false

  constructor(
    private readonly request: FastifyRequest,
    private readonly answer: string,
  ) {
    super()
  }

  override _read(): void {
    if (this.#isGiven) return
    this.#isGiven = true
    this.push(this.answer)
    const { raw } = this.request
    let bytes = 0
    const count = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > BYTES_MAX) giveUp()
    }
    const stop = (): void => {
      clearTimeout(timer)
      raw.off('data', count).off('end', stop).off('close', stop)
      this.push(null)
    }
    const giveUp = (): void => {
      stop()
      // Node would read on for as long as the client sends.
      this.once('close', () => raw.socket.destroySoon())
    }
    const timer = setTimeout(giveUp, MS_MAX)
    raw.on('data', count).on('end', stop).on('close', stop)
    raw.resume()
  }
}
