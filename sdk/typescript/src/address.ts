import { InvalidOptions } from './errors.js'

/** Where the server is: an address that `fetch` takes, or a socket of the file system. */
export type Address =
  | { readonly kind: 'url'; readonly base: string }
  | { readonly kind: 'socket'; readonly path: string; readonly base: string }

const API = '/api/v1'
const SOCKET = /^(?:unix|http\+unix):\/\/(.*)$/i

/** Reads `http://…`, `https://…`, `unix:///path` and `http+unix://%2Fpath`. Trailing slashes do not matter. */
export function parseServerAddress(url: string): Address {
  const socket = SOCKET.exec(url.trim())
  if (socket !== null) return { kind: 'socket', path: socketPath(socket[1] ?? ''), base: API }
  const parsed = parse(url.trim())
  // Addresses are shown in logs, so they must not contain a password.
  if (parsed.username !== '' || parsed.password !== '')
    throw new InvalidOptions('the address must not carry a password')
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new InvalidOptions('the address must begin with http://, https:// or unix://')
  if (parsed.search !== '' || parsed.hash !== '') throw new InvalidOptions('the address must not have a query')
  const path = omitSlashes(parsed.pathname)
  return { kind: 'url', base: `${parsed.origin}${path.endsWith(API) ? path : `${path}${API}`}` }
}

function parse(url: string): URL {
  try {
    return new URL(url)
  } catch {
    throw new InvalidOptions('the address of the server is not a URL')
  }
}

function socketPath(given: string): string {
  const path = omitSlashes(decoded(given))
  if (!path.startsWith('/') || path.includes('\0')) throw new InvalidOptions('the socket must be an absolute path')
  return path
}

function decoded(given: string): string {
  try {
    return decodeURIComponent(given)
  } catch {
    throw new InvalidOptions('the path of the socket cannot be read')
  }
}

function omitSlashes(path: string): string {
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}
