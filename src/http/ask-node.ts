import { request as askHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as askHttps } from 'node:https'
import type { FastifyRequest } from 'fastify'

const LOOK_MS = 1_000

/** Header of an answer that nothing was done for: the node is stopping, and the same request can be sent again. */
export const NODE_UNTAKEN = 'x-phaselock-untaken'

/**
 * What another node said. `untaken`: it has not begun to handle the request. `gone`: nobody knows whether it did, or the
 * caller has gone.
 */
export type NodeAnswer =
  | { readonly kind: 'answered'; readonly answer: IncomingMessage }
  | { readonly kind: 'untaken' | 'gone' }

interface Asked {
  readonly url: string
  readonly request: FastifyRequest
  readonly headers: Record<string, string | string[]>
  readonly body: string
  readonly isAlive: () => Promise<boolean>
}

/**
 * Sends a request to another node. There is no time limit, because a tool may run for minutes: while the node renews its
 * lease, it is working on the answer.
 */
export function askNode({ url, request, headers, body, isAlive }: Asked): Promise<NodeAnswer> {
  const target = new URL(request.url, url)
  const sent = { ...headers, ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }) }
  return new Promise((resolve) => {
    const begin = target.protocol === 'https:' ? askHttps : askHttp
    const asked: ClientRequest = begin(target, {
      ...{ method: request.method, headers: sent, setHost: false },
      // A connection that the other side may just have closed would make an answer uncertain.
      agent: false,
    })
    const timer = setInterval(() => {
      isAlive().then(
        (is) => (is ? undefined : asked.destroy()),
        () => asked.destroy(),
      )
    }, LOOK_MS)
    const settle = (answer: NodeAnswer): void => {
      clearInterval(timer)
      resolve(answer)
    }
    asked.once('response', (answer) => {
      if (answer.headers[NODE_UNTAKEN] === undefined) return settle({ kind: 'answered', answer })
      answer.resume()
      settle({ kind: 'untaken' })
    })
    asked.on('error', (error: NodeJS.ErrnoException) =>
      settle({ kind: error.code === 'ECONNREFUSED' ? 'untaken' : 'gone' }),
    )
    asked.once('close', () => settle({ kind: 'gone' }))
    request.raw.once('close', () => {
      if (request.raw.destroyed && !request.raw.complete) asked.destroy()
    })
    asked.end(body)
  })
}
