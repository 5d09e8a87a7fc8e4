import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

/** A stand-in for a collector: keeps what is posted to it. */
export async function startCollector() {
  const received: { readonly path: string; readonly text: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      received.push({ path: request.url ?? '', text: text.toString('utf8') })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const listSpans = (): readonly Span[] =>
    received
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ text }) => JSON.parse(text).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
  return { url: `http://127.0.0.1:${port}`, received, listSpans, close: () => server.close() }
}
