import { InvalidOptions } from './errors.js'
import { isObject, type JsonObject } from './json.js'

const TOKEN = /^[\x21-\x7e]{1,8192}$/

/** Refuses values that are not valid in a header, without repeating them. */
export function checkToken(token: unknown): string {
  if (typeof token !== 'string' || token === '') throw new InvalidOptions('a token is needed')
  if (!TOKEN.test(token)) throw new InvalidOptions('the token contains characters that are not allowed')
  return token
}

/** The claims of a token, unverified: only used to know when to renew, never to decide anything. */
export function readClaims(token: string): JsonObject {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(payload), (one) => one.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(claims) ? claims : {}
  } catch {
    return {}
  }
}
