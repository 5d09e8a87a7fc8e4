import { sha256Hex } from '../../base/sha256.js'

export const EXPORT_FORMAT = 'phaselock-ledger/1'
export const FIRST_DIGEST = '0'.repeat(64)

/** The signed text of the closing line: the SHA-256 covers the header and every event line, each with its line feed. */
export interface ExportClosing {
  readonly count: number
  readonly streams: number
  readonly sha256: string
  readonly merkle_root: string
}

const DIGEST_END = /^(.*),"digest":"([0-9a-f]{64})"\}$/s

/** Each line has a digest over itself and all lines before it, so that a changed line can be located. */
export function addDigest(eventText: string, before: string): { readonly text: string; readonly digest: string } {
  const digest = computeDigest(eventText, before)
  return { text: `${eventText.slice(0, -1)},"digest":"${digest}"}`, digest }
}

/** The event's text without its digest, or null when the digest does not match. */
export function checkLine(line: string, before: string): { readonly text: string; readonly digest: string } | null {
  const match = DIGEST_END.exec(line)
  if (match === null) return null
  const text = `${match[1]}}`
  const digest = match[2] ?? ''
  return computeDigest(text, before) === digest ? { text, digest } : null
}

function computeDigest(text: string, before: string): string {
  return sha256Hex(before, text)
}
