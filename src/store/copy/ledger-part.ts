import type { Value } from '../database.js'
import { EVENT_COLUMNS } from '../wire.js'

/** One row of a ledger, the same for every store. What is not here is made from these rows again. */
export type LedgerPart =
  /** The columns of `EVENT_COLUMNS`. */
  | readonly ['event', ...Value[]]
  | readonly ['task', num: number, openDeps: number, document: string]
  /** The content in base64. */
  | readonly ['blob', sha256: string, content: string]
  | readonly ['answer', principal: string, key: string, bodyHash: string, status: number, answer: string, at: number]

export type PartName = LedgerPart[0]

const EVENT_NAMES = EVENT_COLUMNS.split(', ')

export function toEventPart(row: Readonly<Record<string, unknown>>): LedgerPart {
  return ['event', ...EVENT_NAMES.map((name) => (row[name] ?? null) as Value)]
}

/** The columns of an event by name. */
export function toEventRow([, ...values]: readonly ['event', ...Value[]]): Record<string, Value> {
  return Object.fromEntries(EVENT_NAMES.map((name, index) => [name, values[index] ?? null]))
}

const SHAPES: Readonly<Record<string, string>> = {
  event: 'nsnsnsnSSsss',
  task: 'nns',
  blob: 'ss',
  answer: 'sssnsn',
}

/** The part in a line of JSON; null when it is something else. */
export function parsePart(line: string): LedgerPart | null {
  const value = parseArray(line)
  const shape = value === null ? undefined : SHAPES[String(value[0])]
  if (value === null || shape === undefined || value.length !== shape.length + 1) return null
  const isRight = [...shape].every((kind, index) => isOfKind(value[index + 1], kind))
  return isRight ? (value as unknown as LedgerPart) : null
}

// s: text, S: text or null, n: a number.
function isOfKind(value: unknown, kind: string): boolean {
  if (kind === 'n') return typeof value === 'number' && Number.isSafeInteger(value)
  return typeof value === 'string' || (kind === 'S' && value === null)
}

function parseArray(line: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(line)
    return Array.isArray(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
