import type { IncomingMessage } from 'node:http'
import { TextDecoder } from 'node:util'
import { failTool, type ToolOutcome } from '../tool-place.js'
import { AddressRefused, askPublic, INTERNET, type WebAccess } from './public-request.js'
import { readTarget } from './web-target.js'

const REDIRECTS_MAX = 5
const BODY_BYTES_MAX = 1024 * 1024
const HEADERS = {
  'user-agent': 'phaselock',
  accept: 'text/*, application/json, application/xml;q=0.9',
  // What is not compressed cannot unfold into more than was counted.
  'accept-encoding': 'identity',
}
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const TEXT_TYPE =
  /^(text\/[\w.+-]+|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|[\w.-]+\+(json|xml|yaml)))$/

interface WebRequest {
  readonly url: string
  /** The contract's `web.allowed_hosts`. */
  readonly allowedHosts: readonly string[]
  readonly signal: AbortSignal
}

/**
 * Fetches a text page. Each hop must be an allowed host, its name is resolved once, all its addresses must be public,
 * and the connection goes to one of the checked addresses.
 */
export async function fetchPage(request: WebRequest, access: WebAccess = INTERNET): Promise<ToolOutcome> {
  const timeout = AbortSignal.timeout(access.timeoutMs)
  const signal = AbortSignal.any([request.signal, timeout])
  try {
    return await followRedirects(request, access, signal)
  } catch (error) {
    if (error instanceof AddressRefused) return failTool(`web_fetch: ${error.message}`, error.code)
    if (request.signal.aborted) return failTool('web_fetch: the call was stopped')
    if (timeout.aborted)
      return failTool(`web_fetch: no whole answer within ${access.timeoutMs / 1000} seconds (timed out)`)
    return failTool(`web_fetch: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function followRedirects(request: WebRequest, access: WebAccess, signal: AbortSignal): Promise<ToolOutcome> {
  let next = request.url
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const target = readTarget(next, request.allowedHosts)
    const which = hop === 0 ? 'the address' : `the redirect to ${JSON.stringify(next.slice(0, 200))}`
    if (!target.ok)
      throw new AddressRefused(
        `${which} ${target.problem}`,
        target.isMalformed ? 'invalid_request' : 'constraint_violation',
      )
    const { url } = target
    const answer = await askPublic(url, { method: 'GET', headers: HEADERS, access, signal })
    const { location } = answer.headers
    if (!REDIRECTS.has(answer.statusCode ?? 0) || location === undefined) return await readAnswer(url, answer)
    answer.destroy()
    if (!URL.canParse(location, url.href)) throw new AddressRefused('the redirect has no valid address')
    next = new URL(location, url).href
  }
  throw new AddressRefused(`more than ${REDIRECTS_MAX} redirects`)
}

async function readAnswer(url: URL, answer: IncomingMessage): Promise<ToolOutcome> {
  const status = answer.statusCode ?? 0
  const contentType = answer.headers['content-type'] ?? ''
  const problem = findContentProblem(answer, contentType)
  if (problem !== null) {
    answer.destroy()
    throw new AddressRefused(`the answer (status ${status}) ${problem}`)
  }
  const { bytes, truncated } = await readBody(answer)
  const content = makeDecoder(contentType).decode(bytes, { stream: truncated })
  return {
    ok: true,
    result: { status, url: url.href, content_type: contentType, content, truncated },
    changes: [],
  }
}

function findContentProblem(answer: IncomingMessage, contentType: string): string | null {
  const encoding = answer.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return `is encoded as ${encoding.slice(0, 40)}, which was not asked for`
  const isEmpty = answer.statusCode === 204 || answer.statusCode === 304 || answer.headers['content-length'] === '0'
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  if (isEmpty || TEXT_TYPE.test(type)) return null
  return type === '' ? 'has no content type' : `is ${type.slice(0, 80)}, not text`
}

async function readBody(answer: IncomingMessage): Promise<{ bytes: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > BODY_BYTES_MAX) break
  }
  answer.destroy()
  return { bytes: Buffer.concat(chunks).subarray(0, BODY_BYTES_MAX), truncated: size > BODY_BYTES_MAX }
}

function makeDecoder(contentType: string): TextDecoder {
  const [, label = 'utf-8'] = /;\s*charset="?([\w:.-]{1,40})/i.exec(contentType) ?? []
  try {
    return new TextDecoder(label)
  } catch (error) {
    // An unknown charset is no reason to show nothing: bytes that are not UTF-8 become replacement characters.
    if (error instanceof RangeError) return new TextDecoder('utf-8')
    throw error
  }
}
