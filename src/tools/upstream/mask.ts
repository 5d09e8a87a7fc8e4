import type { Json } from '../../core/json.js'
import { UpstreamFailure } from './failure.js'

const MASKED = '[masked]'
const DEPTH_MAX = 64
// Shorter ones would be found inside ordinary words.
const SECRET_CHARS_MIN = 6

/** Removes the secrets that a server was given from its output. */
export interface Mask {
  text(text: string): string
  /** A copy, keys included. A value that is nested too deeply is a failure of the server. */
  json(value: unknown): Json
  /** The last characters of a text. If its beginning was cut off, the cut may be inside a secret. */
  tail(text: string, about: { readonly charsMax: number; readonly isCut: boolean }): string
}

export function makeMask(secrets: readonly string[]): Mask {
  const forms = listForms(secrets)
  const longest = Math.max(0, ...forms.map((form) => form.length))
  const text = (given: string): string => forms.reduce((masked, form) => masked.replaceAll(form, MASKED), given)
  return {
    text,
    json: (value) => maskJson(value, text, 0),
    tail: (given, { charsMax, isCut }) =>
      text(given)
        .slice(isCut ? Math.max(0, longest - 1) : 0)
        .slice(-charsMax),
  }
}

/**
 * A secret as it is, and as encoded in addresses and basic authorization. The longest first, so that none hides inside
 * another.
 */
function listForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets
    .filter((secret) => secret.length >= SECRET_CHARS_MIN)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
    ])
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

function maskJson(value: unknown, text: Mask['text'], depth: number): Json {
  if (depth > DEPTH_MAX) throw new UpstreamFailure('sent values that are nested too deeply', true)
  if (typeof value === 'string') return text(value)
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((item) => maskJson(item, text, depth + 1))
  if (typeof value !== 'object') return null
  // From entries, so that a key such as __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [text(key), maskJson(member, text, depth + 1)]),
  )
}
