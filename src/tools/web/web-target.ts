const URL_CHARS_MAX = 4096
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

type Target =
  | { readonly ok: true; readonly url: URL }
  /** `isMalformed`: it is not an address at all; otherwise the contract does not allow it. */
  | { readonly ok: false; readonly isMalformed: boolean; readonly problem: string }

/**
 * An address that `web_fetch` may request under these `web.allowed_hosts`, or why not. The parsed address is checked
 * and requested, so no second reading of the text can differ.
 */
export function readTarget(text: string, allowedHosts: readonly string[]): Target {
  const malformed = (problem: string): Target => ({ ok: false, isMalformed: true, problem })
  const refused = (problem: string): Target => ({ ok: false, isMalformed: false, problem })
  if (text.length > URL_CHARS_MAX) return malformed(`is longer than ${URL_CHARS_MAX} characters`)
  // The parser drops control characters and trims spaces: then the request would differ from the text.
  if (/[\p{Cc}\s]/u.test(text)) return malformed('contains a space or a control character')
  if (!URL.canParse(text)) return malformed('is not an address such as https://example.org/page')
  const url = new URL(text)
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined) return malformed('is not an http or https address')
  if (url.username !== '' || url.password !== '') return refused('carries a user name or a password')
  const isListed = allowedHosts.some((entry) => matchesHost(entry.toLowerCase(), url, defaultPort))
  if (!isListed) return refused(`is on a host that web.allowed_hosts does not list (${formatHosts(allowedHosts)})`)
  url.hash = ''
  return { ok: true, url }
}

/** `host` means its default ports, `host:port` that port alone, `*.host` every name below it and not itself. */
function matchesHost(entry: string, url: URL, defaultPort: string): boolean {
  const [, wildcard, name, port] = /^(\*\.)?([^:*]+)(?::(\d+))?$/.exec(entry) ?? []
  if (name === undefined) return false
  if (port === undefined ? url.port !== '' : (url.port || defaultPort) !== port) return false
  return wildcard === undefined ? url.hostname === name : url.hostname.endsWith(`.${name}`)
}

function formatHosts(hosts: readonly string[]): string {
  return hosts.length === 0 ? 'it is empty' : `allowed: ${hosts.slice(0, 20).join(', ')}`
}
