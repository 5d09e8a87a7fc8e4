import { lookup as resolveName } from 'node:dns/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Code } from '../../core/codes.js'
import { raceAbort } from '../or-aborted.js'
import { isPublicAddress } from './web-address.js'

const TIMEOUT_MS = 20_000
const ADDRESSES_MAX = 32
const HEADER_BYTES_MAX = 16 * 1024

/** How names are resolved, and which addresses are allowed. */
export interface WebAccess {
  readonly resolve: (host: string) => Promise<readonly string[]>
  readonly isPublic: (address: string) => boolean
  readonly timeoutMs: number
}

export const INTERNET: WebAccess = {
  resolve: async (host) => (await resolveName(host, { all: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
  timeoutMs: TIMEOUT_MS,
}

/** Why an address is refused. */
export class AddressRefused extends Error {
  constructor(
    message: string,
    readonly code: Code = 'tool_failed',
  ) {
    super(message)
  }
}

interface PublicRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly access?: WebAccess
  readonly signal: AbortSignal
}

/**
 * Requests a page of the public internet. Its name is resolved once, all its addresses must be public, and the
 * connection goes to one of the checked addresses. Redirects are not followed.
 */
export async function askPublic(url: URL, asked: PublicRequest): Promise<IncomingMessage> {
  const { access = INTERNET, signal, method, headers, body } = asked
  const addresses = await resolvePublicAddresses(url, access, signal)
  const { request, Agent } = url.protocol === 'https:' ? https : http
  const options = {
    method,
    signal,
    headers: { ...headers },
    // Separate and not kept alive: no connection of another call, no proxy from the environment.
    agent: new Agent({ keepAlive: false, maxSockets: 1 }),
    lookup: makeLookup(addresses),
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    rejectUnauthorized: true,
  }
  return new Promise((resolve, reject) => {
    const asking = request(url, options, resolve)
    asking.on('error', reject)
    asking.on('socket', (socket) => {
      socket.on('connect', () => {
        if (socket.remoteAddress === undefined || !access.isPublic(socket.remoteAddress))
          asking.destroy(
            new AddressRefused('the connection led to an address that is not public', 'constraint_violation'),
          )
      })
    })
    asking.end(body)
  })
}

/** Returns the checked addresses, whatever a name server answers by now. */
function makeLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, done) => {
    const [first] = all
    if (options.all === true) done(null, [...all])
    else done(null, first?.address ?? '', first?.family)
  }
}

async function resolvePublicAddresses(url: URL, access: WebAccess, signal: AbortSignal): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = isIP(host) === 0 ? await raceAbort(access.resolve(host), signal) : [host]
  if (addresses.length === 0) throw new AddressRefused(`the host ${host} has no address`)
  // A private address among public ones is a way to reach the internal network: then none of them is used.
  const inside = addresses.find((address) => !access.isPublic(address))
  if (inside !== undefined)
    throw new AddressRefused(
      `the host ${host} leads to ${inside}, which is not a public address`,
      'constraint_violation',
    )
  return addresses.slice(0, ADDRESSES_MAX)
}
