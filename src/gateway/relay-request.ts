import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'

/** The target of a relay: one origin, and a base path. */
export interface Upstream {
  readonly url: URL
  /** Without a trailing slash; empty when all paths are allowed. */
  readonly basePath: string
}

/** Why a relay cannot use this address; null when it can. */
export function findBaseUrlProblem(baseUrl: string): string | null {
  if (!URL.canParse(baseUrl)) return 'is not an address such as https://api.example.com/v1'
  const { protocol, username, password, search, hash } = new URL(baseUrl)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://'
  if (username !== '' || password !== '') return 'must not carry a user or a password'
  return search === '' && hash === '' ? null : 'must not carry a query or a fragment'
}

export function parseUpstream(baseUrl: string): Upstream {
  const problem = findBaseUrlProblem(baseUrl)
  if (problem !== null) throw new Error(`the base URL of a model endpoint ${problem}`)
  const url = new URL(baseUrl)
  return { url, basePath: url.pathname.replace(/\/+$/, '') }
}

export interface RelayRefusal {
  readonly status: 400 | 403 | 404 | 405 | 413
  readonly message: string
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const PLAIN_TARGET = /^\/[\x21-\x7e]*$/
// Sequences that a server might decode into another path than the one checked here.
const AMBIGUOUS = /\\|#|\/\/|%(2f|5c|25|00)/i
const KEY_PARAMETERS = /^(key|api[_-]?key|access_token|oauth_token|token)$/
// These could request a part or another form of an answer, without its usage; `$` also introduces headers and methods.
const FORM_PARAMETERS = /^(fields|callback|\$.*)$/
const FORMS: ReadonlySet<string> = new Set(['json', 'sse'])
const TARGET_CHARS_MAX = 8192

/** Why a request is not passed on; null when it is. */
export function findRelayProblem(
  request: Pick<IncomingMessage, 'method' | 'url'>,
  upstream: Upstream,
  holdsKey: boolean,
): RelayRefusal | null {
  const target = request.url ?? ''
  if (!METHODS.has(request.method ?? '')) return { status: 405, message: 'This method is not passed on.' }
  if (!PLAIN_TARGET.test(target) || target.length > TARGET_CHARS_MAX)
    return { status: 400, message: 'The request target must be a path.' }
  const [path = ''] = target.split('?')
  if (AMBIGUOUS.test(path) || path.split('/').some(isParentSegment))
    return { status: 400, message: 'The path is ambiguous.' }
  const { basePath } = upstream
  if (path !== basePath && !path.startsWith(`${basePath}/`))
    return { status: 404, message: `Only paths below ${basePath} are passed on.` }
  return findQueryProblem(target.slice(path.length + 1), holdsKey)
}

function findQueryProblem(query: string, holdsKey: boolean): RelayRefusal | null {
  for (const parameter of query.split(/[&;]/)) {
    const [name = null, value = ''] = decodeParameter(parameter)
    if (name === null) return { status: 400, message: 'The query is ambiguous.' }
    if (holdsKey && KEY_PARAMETERS.test(name))
      return { status: 403, message: 'The relay adds the key; do not send one.' }
    if (FORM_PARAMETERS.test(name) || (name === 'alt' && !FORMS.has(value)))
      return { status: 403, message: 'Only complete answers are passed on, as JSON or as events.' }
  }
  return null
}

/** The name and value as an endpoint reads them; nothing when it cannot be decoded. */
function decodeParameter(parameter: string): readonly string[] {
  const [name = '', ...value] = parameter.split('=')
  try {
    return [name, value.join('=')].map((one) => decodeURIComponent(one.replaceAll('+', ' ')).trim().toLowerCase())
  } catch {
    return []
  }
}

function isParentSegment(segment: string): boolean {
  const [name = ''] = segment.replace(/%2e/gi, '.').split(/;|%3b/i)
  return name === '.' || name === '..'
}

// Hop-by-hop headers: they concern one connection only.
const OF_CONNECTION =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|content-length|upgrade|http2-settings|expect)$/
const OF_CLIENT = /^(host|forwarded|via|x-forwarded-.*|x-real-ip|x-http-method.*|x-original-url|x-rewrite-url)$/
// With ranges, an answer could be fetched without the part that reports its usage.
const OF_PARTS = /^(range|if-range|x-goog-fieldmask)$/
const CREDENTIALS: ReadonlySet<string> = new Set([
  ...['authorization', 'cookie', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-auth-token'],
])

/**
 * The headers sent upstream. Answers are requested uncompressed, because they are read on their way. If the relay adds
 * the key, no other key passes: with another account's key, an agent could send out what it has read.
 */
export function buildUpstreamHeaders(
  request: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  upstream: Upstream,
  added: Readonly<Record<string, string>>,
): OutgoingHttpHeaders {
  const isKept = makeHeaderFilter(request.headersDistinct.connection)
  const own = Object.entries(added).map(([name, value]) => [name.toLowerCase(), value] as const)
  const isOurs = new Set(own.map(([name]) => name))
  const headers: OutgoingHttpHeaders = {}
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (values === undefined || !isKept(name) || isOurs.has(name)) continue
    if (OF_CLIENT.test(name) || OF_PARTS.test(name)) continue
    if (own.length > 0 && CREDENTIALS.has(name)) continue
    headers[name] = values.length === 1 ? values[0] : values
  }
  const plain = { 'accept-encoding': 'identity', host: upstream.url.host }
  return { ...headers, ...Object.fromEntries(own), ...buildFramingHeaders(request.headers), ...plain }
}

// Only this header says where a body ends: without it, the body of a GET would be read as the next request, which
// nobody has checked.
function buildFramingHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  if (length !== undefined) return { 'content-length': length }
  return encoding === undefined ? {} : { 'transfer-encoding': 'chunked' }
}

/** Whether an answer is compressed anyway. */
export function isEncoded(headers: IncomingHttpHeaders): boolean {
  return !['', 'identity'].includes((headers['content-encoding'] ?? '').trim().toLowerCase())
}

/** What comes back. */
export function buildDownstreamHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const isKept = makeHeaderFilter([headers.connection ?? ''])
  const kept = Object.entries(headers).filter(([name]) => isKept(name) && name !== 'alt-svc')
  const { 'content-length': length } = headers
  return { ...Object.fromEntries(kept), ...(length === undefined ? {} : { 'content-length': length }) }
}

function makeHeaderFilter(connection: readonly string[] | undefined): (name: string) => boolean {
  const named = new Set((connection ?? []).flatMap((one) => one.split(',')).map((one) => one.trim().toLowerCase()))
  return (name) => !OF_CONNECTION.test(name) && !named.has(name)
}
