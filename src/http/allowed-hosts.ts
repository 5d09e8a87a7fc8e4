import type { IncomingMessage } from 'node:http'

/** The accepted names of the server: a web page that points its own name at us is refused. */
export function listAllowedHosts(bound: {
  readonly host: string
  readonly port: number
  readonly extra: readonly string[]
}): ReadonlySet<string> {
  const names = new Set(['localhost', '127.0.0.1', '[::1]', ...bound.extra])
  if (bound.host !== '0.0.0.0' && bound.host !== '::')
    names.add(bound.host.includes(':') && !bound.host.startsWith('[') ? `[${bound.host}]` : bound.host)
  const withPorts = [...names].map((name) => `${name}:${bound.port}`)
  return new Set(bound.port === 80 || bound.port === 443 ? [...withPorts, ...names] : withPorts)
}

/** Why the request is refused because of its Host, Origin or target; null when it is not. */
export function findHostProblem(request: IncomingMessage, hosts: ReadonlySet<string>): string | null {
  const given = countHostHeaders(request.rawHeaders)
  if (given !== 1) return given === 0 ? 'The request has no Host header.' : 'The request has more than one Host header.'
  const host = request.headers.host ?? ''
  if (!hosts.has(host.toLowerCase())) return `Host ${JSON.stringify(host.slice(0, 200))} is not accepted here.`
  if (!(request.url ?? '').startsWith('/')) return 'The request target must be a path.'
  const { origin } = request.headers
  if (origin === undefined) return null
  const match = /^https?:\/\/(.+)$/.exec(origin)
  return match?.[1] !== undefined && hosts.has(match[1].toLowerCase())
    ? null
    : `Origin ${JSON.stringify(origin.slice(0, 200))} is not allowed here.`
}

function countHostHeaders(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name !== undefined && name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}
