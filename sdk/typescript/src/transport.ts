import type { Address } from './address.js'

export interface Sent {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
}

export interface Received {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Sends one request. Throws when there is no answer. */
export function send(address: Address, sent: Sent): Promise<Received> {
  return address.kind === 'url' ? sendByFetch(address.base, sent) : sendBySocket(address, sent)
}

async function sendByFetch(base: string, { method, path, headers, body, signal }: Sent): Promise<Received> {
  // A redirect is not followed: the token is for this server and no other.
  const response = await fetch(buildAddress(base, path), { method, headers, body, signal, redirect: 'manual' })
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    chunks: readChunks(response.body as ReadableStream<Uint8Array> | null),
  }
}

// The health check is outside the API path.
function buildAddress(base: string, path: string): string {
  return path === '/health' ? base.replace(/\/api\/v1$/, path) : `${base}${path}`
}

async function* readChunks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    // Leaving a stream early releases its connection; an earlier failure is reported by the read.
    await reader.cancel().catch(() => undefined)
  }
}

// Only Node has unix sockets: load the module when one is used.
async function sendBySocket(address: Address & { kind: 'socket' }, sent: Sent): Promise<Received> {
  const { request } = await import('node:http')
  const { method, path, headers, body, signal } = sent
  return new Promise((resolve, reject) => {
    const asked = request({
      socketPath: address.path,
      path: buildAddress(address.base, path),
      method,
      headers: { ...headers, host: 'localhost' },
      agent: false,
      signal,
    })
    asked.on('error', reject)
    asked.on('response', (response) =>
      resolve({
        status: response.statusCode ?? 0,
        header: (name) => {
          const value = response.headers[name]
          return typeof value === 'string' ? value : null
        },
        chunks: response,
      }),
    )
    asked.end(body ?? undefined)
  })
}
