import { type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

export interface Told {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  readonly text: string
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly token?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** One request through a unix socket. */
export function askThrough(socketPath: string, asked: Asked = {}): Promise<Told> {
  const { method = 'GET', path = '/health', token, host = 'localhost', headers = {}, body } = asked
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ socketPath, method, path, agent: false },
        headers: {
          host,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => {
          text += chunk.toString()
        })
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: parsed(text), text }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Bytes as they are, and everything that comes back until the other end hangs up. */
export function sendThrough(socketPath: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(socketPath, () => socket.write(bytes, 'latin1'))
    socket.setTimeout(1000, () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}

function parsed(text: string): Told['body'] {
  try {
    return JSON.parse(text) as Told['body']
  } catch {
    return {}
  }
}
