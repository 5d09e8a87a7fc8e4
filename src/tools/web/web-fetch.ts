import { lookup as resolveName } from 'node:dns/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { TextDecoder } from 'node:util'
import type { Code } from '../../core/codes.js'
import { orAborted } from '../or-aborted.js'
import { failed, type ToolOutcome } from '../port.js'
import { isPublicAddress } from './web-address.js'
import { readTarget } from './web-target.js'

const REDIRECTS_MAX = 5
const BODY_BYTES_MAX = 1024 * 1024
const TIMEOUT_MS = 20_000
const ADDRESSES_MAX = 32
const HEADER_BYTES_MAX = 16 * 1024
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const TEXT_TYPE =
  /^(text\/[\w.+-]+|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|[\w.-]+\+(json|xml|yaml)))$/

export interface WebRequest {
  readonly url: string
  /** The contract's `web.allowed_hosts`. */
  readonly allowedHosts: readonly string[]
  readonly signal: AbortSignal
}

/** What `web_fetch` is lent: how names become addresses, and which addresses may be asked. */
export interface WebAccess {
  readonly resolve: (host: string) => Promise<readonly string[]>
  readonly isPublic: (address: string) => boolean
  readonly timeoutMs: number
}

const INTERNET: WebAccess = {
  resolve: async (host) => (await resolveName(host, { all: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
  timeoutMs: TIMEOUT_MS,
}

/**
 * Gets a text page. Each hop is held against the allowed hosts, its name is resolved once, every address of it must be
 * public, and the connection goes to one of the addresses that were checked.
 */
export async function webFetch(request: WebRequest, access: WebAccess = INTERNET): Promise<ToolOutcome> {
  const timeout = AbortSignal.timeout(access.timeoutMs)
  const signal = AbortSignal.any([request.signal, timeout])
  try {
    return await followed(request, access, signal)
  } catch (error) {
    if (error instanceof Refused) return failed(`web_fetch: ${error.message}`, error.code)
    if (request.signal.aborted) return failed('web_fetch: the call was stopped')
    if (timeout.aborted)
      return failed(`web_fetch: no whole answer within ${access.timeoutMs / 1000} seconds (timed out)`)
    return failed(`web_fetch: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A refusal on its way out of the hops. */
class Refused extends Error {
  constructor(
    message: string,
    readonly code: Code = 'tool_failed',
  ) {
    super(message)
  }
}

async function followed(request: WebRequest, access: WebAccess, signal: AbortSignal): Promise<ToolOutcome> {
  let next = request.url
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const target = readTarget(next, request.allowedHosts)
    const which = hop === 0 ? 'the address' : `the redirect to ${JSON.stringify(next.slice(0, 200))}`
    if (!target.ok)
      throw new Refused(`${which} ${target.problem}`, target.isMalformed ? 'invalid_request' : 'constraint_violation')
    const { url } = target
    const addresses = await checkedAddresses(url, access, signal)
    const answer = await ask(url, { addresses, access, signal })
    const { location } = answer.headers
    if (!REDIRECTS.has(answer.statusCode ?? 0) || location === undefined) return await readAnswer(url, answer)
    answer.destroy()
    if (!URL.canParse(location, url.href)) throw new Refused('the redirect leads to no address')
    next = new URL(location, url).href
  }
  throw new Refused(`more than ${REDIRECTS_MAX} redirects`)
}

async function checkedAddresses(url: URL, access: WebAccess, signal: AbortSignal): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = isIP(host) === 0 ? await orAborted(access.resolve(host), signal) : [host]
  if (addresses.length === 0) throw new Refused(`the host ${host} has no address`)
  // One private address among public ones is how a name is made to lead inside: then none of them is asked.
  const inside = addresses.find((address) => !access.isPublic(address))
  if (inside !== undefined)
    throw new Refused(`the host ${host} leads to ${inside}, which is no public address`, 'constraint_violation')
  return addresses.slice(0, ADDRESSES_MAX)
}

interface Route {
  readonly addresses: readonly string[]
  readonly access: WebAccess
  readonly signal: AbortSignal
}

function ask(url: URL, { addresses, access, signal }: Route): Promise<IncomingMessage> {
  const { request, Agent } = url.protocol === 'https:' ? https : http
  const options = {
    method: 'GET',
    signal,
    // Own, and kept alive for nobody: no connection of another call, no proxy of the environment.
    agent: new Agent({ keepAlive: false, maxSockets: 1 }),
    lookup: answeringWith(addresses),
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    rejectUnauthorized: true,
    headers: {
      'user-agent': 'phaselock',
      accept: 'text/*, application/json, application/xml;q=0.9',
      // What is not compressed cannot unfold into more than was counted.
      'accept-encoding': 'identity',
    },
  }
  return new Promise((resolve, reject) => {
    const asking = request(url, options, resolve)
    asking.on('error', reject)
    asking.on('socket', (socket) => {
      socket.on('connect', () => {
        if (socket.remoteAddress === undefined || !access.isPublic(socket.remoteAddress))
          asking.destroy(new Refused('the connection led to no public address', 'constraint_violation'))
      })
    })
    asking.end()
  })
}

/** Answers with what was checked, whatever a name server says by now. */
function answeringWith(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, done) => {
    const [first] = all
    if (options.all === true) done(null, [...all])
    else done(null, first?.address ?? '', first?.family)
  }
}

async function readAnswer(url: URL, answer: IncomingMessage): Promise<ToolOutcome> {
  const status = answer.statusCode ?? 0
  const contentType = answer.headers['content-type'] ?? ''
  const problem = contentProblem(answer, contentType)
  if (problem !== null) {
    answer.destroy()
    throw new Refused(`the answer (status ${status}) ${problem}`)
  }
  const { bytes, truncated } = await readBody(answer)
  const content = decoderFor(contentType).decode(bytes, { stream: truncated })
  return {
    ok: true,
    result: { status, url: url.href, content_type: contentType, content, truncated },
    changes: [],
  }
}

function contentProblem(answer: IncomingMessage, contentType: string): string | null {
  const encoding = answer.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return `is encoded as ${encoding.slice(0, 40)}, which was not asked for`
  const isEmpty = answer.statusCode === 204 || answer.statusCode === 304 || answer.headers['content-length'] === '0'
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  if (isEmpty || TEXT_TYPE.test(type)) return null
  return type === '' ? 'does not say what it is' : `is ${type.slice(0, 80)}, not text`
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

function decoderFor(contentType: string): TextDecoder {
  const [, label = 'utf-8'] = /;\s*charset="?([\w:.-]{1,40})/i.exec(contentType) ?? []
  try {
    return new TextDecoder(label)
  } catch (error) {
    // A charset that nobody knows is no reason to show nothing: what is not UTF-8 becomes replacement characters.
    if (error instanceof RangeError) return new TextDecoder('utf-8')
    throw error
  }
}
