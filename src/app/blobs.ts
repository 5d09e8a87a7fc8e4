import { sha256Hex } from '../base/sha256.js'
import { toCanonicalJson } from '../contract/fingerprint.js'
import type { Json } from '../core/json.js'
import type { Blob } from '../store/store.js'

/** A value as the store keeps it: its canonical text, addressed by its hash. */
export function blobOf(value: Json): Blob {
  const content = toCanonicalJson(value)
  return { sha256: sha256Hex(content), content }
}
