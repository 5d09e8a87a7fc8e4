import { sha256Hex } from '../base/sha256.js'
import type { Json } from '../core/json.js'

/** The project's only canonical JSON: keys sorted by code unit, no whitespace, no undefined members. */
export function toCanonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item) => toCanonicalJson(item)).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const object = value as { readonly [key: string]: Json | undefined }
  const members = Object.keys(object)
    .sort()
    .flatMap((key) => {
      const member = object[key]
      return member === undefined ? [] : [`${JSON.stringify(key)}:${toCanonicalJson(member)}`]
    })
  return `{${members.join(',')}}`
}

/** SHA-256 (hex) of the canonical JSON. */
export function hashJson(value: Json): string {
  return sha256Hex(toCanonicalJson(value))
}
