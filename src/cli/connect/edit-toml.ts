import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'smol-toml'
import { isObject, type Json, type JsonObject } from '../../core/json.js'
import { type ConfigEntry, ConfigProblem } from './config-entry.js'

const BEGIN = '# >>> phaselock'
const END = '# <<< phaselock'
const BLOCK = new RegExp(`^${BEGIN}[^\\n]*\\n(?:(?!${END})[^\\n]*\\n)*${END}[^\\n]*(?:\\n|$)`, 'gm')

/**
 * The text with our entries in marked blocks: everything else stays as it is, to the byte. What the whole means is
 * parsed again and compared, so that a file in an unusual form is refused and never broken.
 */
export function addTomlEntries(text: string | null, entries: readonly ConfigEntry[]): string {
  const before = removeTomlEntries(text ?? '') ?? ''
  const expected = structuredClone(readTomlConfig(before)) as Record<string, Json>
  const tables = new Map<string, { readonly path: readonly string[]; readonly values: Record<string, Json> }>()
  for (const entry of entries) {
    if (entry.kind === 'add') throw new ConfigProblem('takes no list entries')
    const path = entry.path.slice(0, -1)
    const name = entry.path.at(-1) ?? ''
    const table = tables.get(path.join('.')) ?? { path, values: {} }
    tables.set(path.join('.'), table)
    table.values[name] = entry.value
    setIn(expected, entry.path, entry.value)
  }
  let edited = before
  for (const { path, values } of tables.values()) edited = insertBlock(edited, path, values)
  if (!isDeepStrictEqual(toPlain(readTomlConfig(edited)), toPlain(expected)))
    throw new ConfigProblem('is written in a form that cannot be extended safely; add the entries by hand')
  return edited
}

/** The text without our blocks; null: nothing else was in it. */
export function removeTomlEntries(text: string): string | null {
  const rest = text.replace(BLOCK, '')
  return rest.trim() === '' ? null : rest
}

export function readTomlConfig(text: string): JsonObject {
  try {
    return parse(text) as JsonObject
  } catch (error) {
    const { line } = Object(error) as { line?: unknown }
    throw new ConfigProblem(`is not valid TOML${typeof line === 'number' ? ` (line ${line})` : ''}`)
  }
}

function insertBlock(text: string, path: readonly string[], values: Record<string, Json>): string {
  const lines = stringify(values).trimEnd()
  const eol = text === '' || text.endsWith('\n') ? '' : '\n'
  if (path.length === 0) return `${BEGIN}\n${lines}\n${END}\n${text}`
  const at = findTable(text, path)
  if (at === null) return `${text}${eol}${BEGIN}\n[${path.join('.')}]\n${lines}\n${END}\n`
  const end = text.indexOf('\n', at)
  const head = end === -1 ? `${text}\n` : text.slice(0, end + 1)
  return `${head}${BEGIN}\n${lines}\n${END}\n${end === -1 ? '' : text.slice(end + 1)}`
}

// The comparison afterwards notices a header that only looks like one, inside of a string for example.
function findTable(text: string, path: readonly string[]): number | null {
  const header = new RegExp(
    `^[ \\t]*\\[[ \\t]*${path.join('[ \\t]*\\.[ \\t]*')}[ \\t]*\\][ \\t]*(?:#[^\\n]*)?\\r?$`,
    'm',
  )
  return header.exec(text)?.index ?? null
}

function setIn(target: Record<string, Json>, path: readonly string[], value: Json): void {
  let at = target
  for (const name of path.slice(0, -1)) {
    const next = at[name] ?? {}
    if (!isObject(next)) throw new ConfigProblem(`has no table at ${path.slice(0, -1).join('.')}`)
    at[name] = next
    at = next as Record<string, Json>
  }
  const name = path.at(-1) ?? ''
  if (Object.hasOwn(at, name)) throw new ConfigProblem(`has ${path.join('.')} already; remove it first`)
  at[name] = value
}

function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? String(one) : one)))
}
