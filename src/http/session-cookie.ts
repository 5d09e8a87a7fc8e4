import type { IncomingMessage } from 'node:http'
import { computeCsrfToken } from '../app/identity/sessions.js'
import { type Problem, refuse } from '../app/result.js'
import { sha256Hex } from '../base/sha256.js'
import { isReadMethod } from './is-read-method.js'

const MAX_AGE_SECONDS = 12 * 3600

const forwarded = new WeakMap<IncomingMessage, string>()

/** Another node has read the cookie of this request. */
export function keepForwardedSession(request: IncomingMessage, value: string): void {
  forwarded.set(request, value)
}

/** The value of the session cookie; null when the request has none, or several that differ. */
export function readSessionCookie(request: IncomingMessage): string | null {
  const known = forwarded.get(request)
  if (known !== undefined) return known
  const name = nameCookie(request)
  const values = (request.headers.cookie ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=')
    return pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : []
  })
  return new Set(values).size === 1 ? (values[0] ?? null) : null
}

export function formatSessionCookie(request: IncomingMessage, value: string): string {
  return formatCookie(request, value, MAX_AGE_SECONDS)
}

export function formatEndedCookie(request: IncomingMessage): string {
  return formatCookie(request, '', 0)
}

/**
 * Why a request with a session cookie is refused, although the session is valid: another web page may have sent it.
 * Other ports of this machine are the same site for a browser, so the SameSite attribute alone is not enough.
 */
export function findForgeryProblem(request: IncomingMessage, cookie: string): Problem | null {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return refuse('host_not_allowed', 'The request came from a page of another origin.').problem
  if (isReadMethod(request.method ?? '')) return null
  const given = request.headers['x-csrf-token']
  if (typeof given === 'string' && sha256Hex(given) === sha256Hex(computeCsrfToken(cookie))) return null
  return refuse(
    'csrf_token_missing',
    given === undefined
      ? 'The request has a session cookie and no X-CSRF-Token header.'
      : 'The X-CSRF-Token header does not belong to this session.',
  ).problem
}

// Cookies ignore ports: without the port in its name, two servers on one machine would end each other's sessions.
function nameCookie({ socket }: IncomingMessage): string {
  return `phaselock_${socket.localPort ?? 0}`
}

function formatCookie(request: IncomingMessage, value: string, maxAge: number): string {
  const attributes = `HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAge}`
  return `${nameCookie(request)}=${value}; ${attributes}${isEncrypted(request) ? '; Secure' : ''}`
}

export function isEncrypted({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}

/** The origin that the browser shows for this server: what a passkey signs. */
export function findOrigin(request: IncomingMessage): string {
  const { origin, host } = request.headers
  return origin ?? `${isEncrypted(request) ? 'https' : 'http'}://${host ?? ''}`
}
