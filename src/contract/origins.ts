import type { Json, JsonObject } from '../core/json.js'
import type { LoadedContract } from './load/load-contract.js'

/** Where a value of a contract was written. */
interface Origin {
  /** The path with ids instead of indexes: `phases.PLAN.gates.plan_approval.type`. */
  readonly path: string
  /** The contract's own file, a file that it extends, or a preset. */
  readonly file: string
  readonly line: number
}

/** The origin of each value that was written somewhere. Defaults have none. */
export function listOrigins(result: LoadedContract): readonly Origin[] {
  return listBelow(result, { value: result.document, at: '', path: '' })
}

/** The origins as lines for people: a part that comes from a single file is one line. */
export function formatOrigins(result: LoadedContract): readonly string[] {
  return Object.keys(result.document).flatMap((key) =>
    formatPart(result, { value: result.document[key] ?? null, at: key, path: key }),
  )
}

interface Part {
  readonly value: Json
  /** Its path in the document, with numbers. */
  readonly at: string
  readonly path: string
}

function formatPart(result: LoadedContract, part: Part): readonly string[] {
  const origins = listBelow(result, part)
  const [first] = origins
  if (first === undefined) return []
  const place = result.positions.get(part.at)
  const file = place?.file ?? result.file
  if (origins.some((origin) => origin.file !== first.file))
    return listParts(part).flatMap((inner) => formatPart(result, inner))
  const line = place !== undefined && file === first.file ? place.line : first.line
  return [`${part.path}  (${first.file}:${line})`]
}

function listBelow(result: LoadedContract, part: Part): readonly Origin[] {
  const parts = listParts(part)
  if (parts.length > 0) return parts.flatMap((inner) => listBelow(result, inner))
  const place = result.positions.get(part.at)
  // A value that was not written has the position of its parent.
  const isWritten = place !== undefined && (part.at.endsWith(']') || place.path.endsWith(findKey(part.at)))
  return !isWritten ? [] : [{ path: part.path, file: place.file ?? result.file, line: place.line }]
}

function findKey(at: string): string {
  return at.slice(at.lastIndexOf('.') + 1)
}

/** The parts of a value; a list of texts is one value. */
function listParts({ value, at, path }: Part): readonly Part[] {
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) {
    if (!value.some((item) => typeof item === 'object' && item !== null)) return []
    return value.map((item: Json, index) => ({
      value: item,
      at: `${at}[${index}]`,
      path: `${path}.${nameEntry(item) ?? index}`,
    }))
  }
  const before = at === '' ? '' : '.'
  return Object.entries(value).map(([key, member]) => ({
    value: member,
    at: `${at}${before}${key}`,
    path: `${path}${before}${key}`,
  }))
}

function nameEntry(item: Json): string | null {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return null
  const { id, from, to, check, type } = item as JsonObject
  if (typeof from === 'string' && typeof to === 'string') return `${from}->${to}`
  const name = [id, check, type].find((value) => typeof value === 'string')
  return typeof name === 'string' ? name : null
}
