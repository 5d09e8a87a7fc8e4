import { createHmac, timingSafeEqual } from 'node:crypto'

const TOKEN_BYTES_MAX = 8 * 1024
const SKEW_SECONDS_MAX = 60
const PART = /^[A-Za-z0-9_-]+$/

export interface SigningKey {
  readonly kid: string
  readonly secret: Buffer
}

export type Claims = Readonly<Record<string, unknown>>

/** A compact HS256 token with exactly the header keys `alg`, `typ` and `kid`. */
export function signToken(key: SigningKey, typ: string, claims: Claims): string {
  const body = `${encode({ alg: 'HS256', typ, kid: key.kid })}.${encode(claims)}`
  return `${body}.${computeMac(key, body).toString('base64url')}`
}

type Verification = { readonly ok: true; readonly claims: Claims } | { readonly ok: false; readonly why: string }

/**
 * Verifies after RFC 8725: fixed algorithm, exact header, known key, canonical encoding, type, issuer, audience and times.
 * Libraries accept some malformed tokens (white space, unused bits); here every part must be the only spelling of its bytes.
 */
export function verifyToken(
  token: string,
  keys: readonly SigningKey[],
  expected: { readonly typ: string; readonly issuer: string; readonly audience: string; readonly now: number },
): Verification {
  if (token.length > TOKEN_BYTES_MAX) return failVerification('the token is too long')
  const [head, payload, signature, ...more] = token.split('.')
  if (head === undefined || payload === undefined || signature === undefined || more.length > 0)
    return failVerification('the token does not have three parts')
  const header = decode(head)
  const given = decodeBytes(signature)
  if (header === null || given === null) return failVerification('the token is not canonical base64url JSON')
  const { alg, typ, kid } = header
  if (Object.keys(header).length !== 3 || alg !== 'HS256' || typ !== expected.typ || typeof kid !== 'string')
    return failVerification('the header is not the one Phaselock writes')
  const key = keys.find((one) => one.kid === kid)
  if (key === undefined) return failVerification('the key is not known')
  const right = computeMac(key, `${head}.${payload}`)
  if (given.length !== right.length || !timingSafeEqual(given, right))
    return failVerification('the signature does not match')
  const claims = decode(payload)
  if (claims === null) return failVerification('the claims are not canonical JSON')
  return checkTimes(claims, expected)
}

/** The `typ` a token claims to have, unverified: it only selects the rules to verify it by. */
export function readClaimedType(token: string): string | null {
  if (token.length > TOKEN_BYTES_MAX) return null
  const header = decode(token.slice(0, Math.max(0, token.indexOf('.'))))
  return header !== null && typeof header.typ === 'string' ? header.typ : null
}

/** True while a verified token has not expired, allowing for clock skew. */
export function isUnexpired(claims: Claims, now: number): boolean {
  return typeof claims.exp === 'number' && claims.exp + SKEW_SECONDS_MAX > now / 1000
}

function checkTimes(
  claims: Claims,
  expected: { readonly issuer: string; readonly audience: string; readonly now: number },
): Verification {
  if (claims.iss !== expected.issuer || claims.aud !== expected.audience)
    return failVerification('issuer or audience do not match')
  const { iat, exp, jti } = claims
  if (!isTime(iat) || !isTime(exp) || typeof jti !== 'string' || jti === '')
    return failVerification('iat, exp or jti is missing')
  if (!isUnexpired(claims, expected.now)) return failVerification('the token is expired')
  if (iat - SKEW_SECONDS_MAX > expected.now / 1000) return failVerification('the token is not valid yet')
  return { ok: true, claims }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function failVerification(why: string): Verification {
  return { ok: false, why }
}

function computeMac(key: SigningKey, text: string): Buffer {
  return createHmac('sha256', key.secret).update(text).digest()
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decodeBytes(part: string): Buffer | null {
  if (!PART.test(part)) return null
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : null
}

// Encoding it again must give the same text, which rejects duplicate keys, white space and odd numbers.
function decode(part: string): Record<string, unknown> | null {
  const bytes = decodeBytes(part)
  if (bytes === null) return null
  const text = bytes.toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
    return JSON.stringify(value) === text ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
