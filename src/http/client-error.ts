import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { refuse } from '../app/result.js'
import { buildProblemDocument } from './problem.js'

/** Answers malformed HTTP with a problem, and ends the connection, because the start of the next request is unknown. */
export class ClientErrors {
  readonly #newest = new WeakMap<Socket, Exchange>()
  readonly #broken = new WeakSet<Socket>()

  /** Identifies the newest request on its connection. */
  recordRequest(request: IncomingMessage, answer: ServerResponse): void {
    this.#newest.set(request.socket, { request, answer })
  }

  answer(error: Error & { readonly code?: string }, socket: Socket): void {
    if (this.#broken.has(socket)) return
    this.#broken.add(socket)
    const newest = this.#newest.get(socket)
    if (newest === undefined || newest.answer.writableFinished) end(socket, error.code)
    // Sent too early, the problem would be taken for the answer to a request that is still running.
    else if (newest.request.complete) newest.answer.once('close', () => end(socket, error.code))
    else if (newest.answer.socket === null) socket.destroy()
    else end(socket, error.code)
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly answer: ServerResponse
}

function end(socket: Socket, code: string | undefined): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const body = JSON.stringify(buildProblemDocument(refuse('invalid_request', formatDetail(code)).problem))
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

function formatDetail(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The headers of the request are too large.'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request was not sent in time.'
  return 'The request is not valid HTTP.'
}
