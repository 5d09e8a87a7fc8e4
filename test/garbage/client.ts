import { Agent, type IncomingHttpHeaders, request } from 'node:http'

/** A time after which an answer that has not come is called a hang. */
export const HANG_MS = 10_000

export interface Sent {
  readonly method: string
  readonly target: string
  /** A list under a name is sent as that many headers. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer | null
}

export interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The answer as JSON; an empty object when it is none. */
  readonly json: Readonly<Record<string, unknown>>
}

/** Sends requests as they are over connections that are kept. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 })

  constructor(private readonly port: number) {}

  send(sent: Sent): Promise<Got> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent: this.#agent,
        host: '127.0.0.1',
        port: this.port,
        method: sent.method,
        path: sent.target,
        headers: { host: `127.0.0.1:${this.port}`, ...sent.headers },
        timeout: HANG_MS,
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${HANG_MS} ms`)))
      outgoing.on('error', reject)
      outgoing.on('response', (answer) => {
        const isStream = String(answer.headers['content-type']).startsWith('text/event-stream')
        let text = ''
        const done = (): void => resolve(gotOf(answer.statusCode ?? 0, answer.headers, text))
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
          // A stream of events has no end of its own.
          if (!isStream) return
          done()
          outgoing.destroy()
        })
        answer.on('end', done)
        answer.on('error', (error) => (isStream ? done() : reject(error)))
      })
      outgoing.end(sent.body ?? undefined)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

function gotOf(status: number, headers: IncomingHttpHeaders, text: string): Got {
  let json: Got['json'] = {}
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) json = value as Got['json']
  } catch {
    json = {}
  }
  return { status, headers, text, json }
}
