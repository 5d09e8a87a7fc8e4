import { sha256Hex } from '../../base/sha256.js'
import type { Json, JsonObject } from '../../core/json.js'

const STRING_BYTES_MAX = 16 * 1024
const MEMBER_BYTES_MAX = 48 * 1024
// A GREEN gate is judged by the files that a RED gate pins: they are bounded where they are listed.
const MEMBERS_KEPT_WHOLE: ReadonlySet<string> = new Set(['files'])
const DEPTH_MAX = 64
// Room for the note that replaces the cut part: a string that was cut once is not cut again.
const NOTE_BYTES = 160
const NODE_BYTES = 8

/**
 * The same data with long texts cut to their beginning, length and hash, and at most 48 KiB and 64 levels in each
 * member. Every member has a separate budget: a caller who fills one with junk does not displace another that the state
 * is folded from. Data within the bounds is returned unchanged.
 */
export function boundData(data: JsonObject, stringBytesMax = STRING_BYTES_MAX): JsonObject {
  const textMax = Math.max(stringBytesMax, 2 * NOTE_BYTES)
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (MEMBERS_KEPT_WHOLE.has(name)) return [name, value]
      return [name, bound(value, { bytes: MEMBER_BYTES_MAX, stringBytesMax: textMax }, 1)]
    }),
  )
}

interface Budget {
  bytes: number
  readonly stringBytesMax: number
}

function bound(value: Json, budget: Budget, depth: number): Json {
  budget.bytes -= NODE_BYTES
  if (typeof value === 'string') return boundText(value, budget)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return `[cut: more than ${DEPTH_MAX} levels]`
  return isArray(value) ? boundArray(value, budget, depth) : boundObject(value, budget, depth)
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function boundArray(items: readonly Json[], budget: Budget, depth: number): readonly Json[] {
  const kept: Json[] = []
  for (const item of items) {
    if (budget.bytes <= NOTE_BYTES) return [...kept, `… [cut: ${items.length - kept.length} more items]`]
    kept.push(bound(item, budget, depth + 1))
  }
  return kept
}

function boundObject(object: JsonObject, budget: Budget, depth: number): JsonObject {
  const kept: [string, Json][] = []
  const entries = Object.entries(object)
  for (const [name, value] of entries) {
    if (budget.bytes <= NOTE_BYTES) {
      return Object.fromEntries([...kept, ['…', `[cut: ${entries.length - kept.length} more fields]`]])
    }
    kept.push([boundText(name, budget), bound(value, budget, depth + 1)])
  }
  return Object.fromEntries(kept)
}

function boundText(text: string, budget: Budget): string {
  const bytesMax = Math.max(Math.min(budget.stringBytesMax, budget.bytes), NOTE_BYTES)
  const kept = countJsonBytes(text, bytesMax) <= bytesMax ? text : cutText(text, bytesMax - NOTE_BYTES)
  budget.bytes -= countJsonBytes(kept, Number.POSITIVE_INFINITY)
  return kept
}

/** The size of the text in JSON, where control characters take six bytes; a long text is not scanned. */
function countJsonBytes(text: string, enough: number): number {
  return text.length > enough ? text.length : Buffer.byteLength(JSON.stringify(text))
}

function cutText(text: string, bytesMax: number): string {
  const note = `… [cut: ${text.length} characters, sha256 ${sha256Hex(text)}]`
  let end = Math.min(text.length, bytesMax)
  for (let bytes = countJsonBytes(text.slice(0, end), end); bytes > bytesMax && end > 0; ) {
    end = Math.max(0, end - Math.max(1, Math.ceil((bytes - bytesMax) / 6)))
    bytes = countJsonBytes(text.slice(0, end), end)
  }
  // Never half a pair: a lone surrogate is not text.
  const last = text.charCodeAt(end - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end) + note
}
