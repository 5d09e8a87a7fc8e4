import { request } from 'node:http'
import { Duplex } from 'node:stream'
import { quoteWord } from '../../confinement/launch/keeper.js'
import type { HttpExpected } from './example.js'

export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

const TRIES_AFTER_END = 60

/**
 * The command line that starts the server, sends the request from stdin, and writes the answer as base64. It runs
 * beside the server without knowing what is expected: code that takes it over could just as well have answered the
 * request.
 */
export function buildExchangeLine(run: string, { port }: HttpExpected): string {
  return [
    `(eval ${quoteWord(run)}) </dev/null >&2 &`,
    'tries=0',
    `until { exec 3<>/dev/tcp/127.0.0.1/${port} || exec 3<>/dev/tcp/::1/${port}; } 2>/dev/null; do sleep 0.05`,
    // A command that ended may have left a server behind that is still starting.
    `kill -0 $! 2>/dev/null || [ $((tries += 1)) -lt ${TRIES_AFTER_END} ] || exit 1; done`,
    'cat <&0 >&3 & cat <&3 | base64 -w0',
  ].join('\n')
}

export function encodeRequest({ port, method, path, headers, body }: HttpExpected): string {
  const text = body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const isJson = body !== null && typeof body !== 'string' && !names.includes('content-type')
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: close',
    'Accept-Encoding: identity',
    ...(isJson ? ['Content-Type: application/json'] : []),
    ...(body === null ? [] : [`Content-Length: ${Buffer.byteLength(text)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}

/** Parses the answer with Node's own parser; null when it is not an HTTP answer. */
export function readAnswer(base64: string, { method }: HttpExpected): Promise<HttpAnswer | null> {
  return new Promise((resolve) => {
    const bytes = Buffer.from(base64, 'base64')
    const recorded = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => {
        recorded.push(bytes)
        recorded.push(null)
        done()
      },
    })
    const asked = request({ method, path: '/', createConnection: () => recorded as never }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('error', () => resolve(null))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }))
    })
    asked.on('error', () => resolve(null))
    asked.on('close', () => resolve(null))
    asked.end()
  })
}
