import { isDeepStrictEqual } from 'node:util'
import { applyEdits, type FormattingOptions, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { isObject, type Json, type JsonObject } from '../../core/json.js'
import { type ConfigEntry, ConfigProblem } from './config-entry.js'

const READING = { allowTrailingComma: true, disallowComments: false }

/** The text with our entries. Comments, order and layout of everything else stay. */
export function addJsonEntries(text: string | null, entries: readonly ConfigEntry[]): string {
  let edited = text === null || text.trim() === '' ? '{}\n' : text
  for (const entry of entries) {
    const value = getAt(readJsonConfig(edited), entry.path)
    if (entry.kind === 'set') {
      if (!isDeepStrictEqual(value, entry.value)) edited = setAt(edited, entry.path, entry.value)
      continue
    }
    if (value !== undefined && !Array.isArray(value)) throw new ConfigProblem(`has no list at ${entry.path.join('.')}`)
    const list = (value ?? []) as readonly Json[]
    const missing = entry.items.filter((item) => !list.some((known) => isDeepStrictEqual(known, item)))
    if (missing.length === 0) continue
    edited =
      list.length === 0
        ? setAt(edited, entry.path, [...missing])
        : appendItems(edited, entry.path, missing, list.length)
  }
  return edited
}

/**
 * The text without our entries; null: nothing else was in it. `before`: the text before they were added, whose own
 * values stay or come back; undefined: unknown.
 */
export function removeJsonEntries(
  text: string,
  entries: readonly ConfigEntry[],
  before: string | null | undefined,
): string | null {
  const old = before === undefined ? undefined : before === null ? {} : readJsonConfig(before)
  let edited = text
  for (const entry of entries.toReversed()) edited = removeEntry(edited, entry, old)
  return Object.keys(readJsonConfig(edited)).length === 0 && (before === undefined || before === null) ? null : edited
}

function removeEntry(text: string, entry: ConfigEntry, old: JsonObject | undefined): string {
  const value = getAt(readJsonConfig(text), entry.path)
  if (value === undefined) return text
  const earlier = old === undefined ? undefined : getAt(old, entry.path)
  if (entry.kind === 'set')
    return earlier === undefined ? dropAt(text, entry.path, old) : setAt(text, entry.path, earlier)
  if (!Array.isArray(value)) return text
  const kept = Array.isArray(earlier) ? earlier : []
  const isOurs = (item: Json): boolean =>
    !kept.some((known) => isDeepStrictEqual(known, item)) &&
    (entry.mark === null
      ? // Without a record nobody knows whose such an item is.
        old !== undefined && entry.items.some((own) => isDeepStrictEqual(own, item))
      : JSON.stringify(item).includes(entry.mark))
  let edited = text
  for (let index = value.length - 1; index >= 0; index -= 1)
    if (isOurs(value[index] as Json)) edited = edit(edited, [...entry.path, index], undefined)
  const rest = getAt(readJsonConfig(edited), entry.path)
  return Array.isArray(rest) && rest.length === 0 && earlier === undefined ? dropAt(edited, entry.path, old) : edited
}

/** Parses JSON, with comments and trailing commas where a CLI accepts them; throws for anything but an object. */
export function readJsonConfig(text: string): JsonObject {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, READING)
  const [first] = errors
  if (first !== undefined)
    throw new ConfigProblem(
      `is not valid JSON (line ${text.slice(0, first.offset).split('\n').length}: ${printParseErrorCode(first.error)})`,
    )
  if (!isObject(value)) throw new ConfigProblem('is not a JSON object')
  return value
}

/** Throws for comments and trailing commas, where the CLI would skip the whole file: then nothing would be bound. */
export function checkPlainJson(text: string): void {
  readJsonConfig(text)
  try {
    JSON.parse(text)
  } catch {
    throw new ConfigProblem('has comments or trailing commas, for which its agent CLI skips the whole file')
  }
}

// A member, and the objects around it that it was alone in.
function dropAt(text: string, path: readonly string[], old: JsonObject | undefined): string {
  let edited = edit(text, path, undefined)
  for (let length = path.length - 1; length > 0; length -= 1) {
    const outer = path.slice(0, length)
    const value = getAt(readJsonConfig(edited), outer)
    const wasThere = old !== undefined && getAt(old, outer) !== undefined
    if (!isObject(value) || Object.keys(value).length > 0 || wasThere) break
    edited = edit(edited, outer, undefined)
  }
  return edited
}

function setAt(text: string, path: readonly string[], value: Json): string {
  for (let length = 1; length < path.length; length += 1) {
    const outer = getAt(readJsonConfig(text), path.slice(0, length))
    if (outer !== undefined && !isObject(outer))
      throw new ConfigProblem(`has no object at ${path.slice(0, length).join('.')}`)
  }
  return edit(text, path, value)
}

function appendItems(text: string, path: readonly string[], items: readonly Json[], count: number): string {
  let edited = text
  for (const [index, item] of items.entries())
    edited = applyEdits(
      edited,
      modify(edited, [...path, count + index], item, { formattingOptions: findLayout(edited), isArrayInsertion: true }),
    )
  return edited
}

function edit(text: string, path: readonly (string | number)[], value: Json | undefined): string {
  return applyEdits(text, modify(text, [...path], value, { formattingOptions: findLayout(text) }))
}

function findLayout(text: string): FormattingOptions {
  const [, indent = '  '] = /^[{[][^\n]*\r?\n([ \t]+)\S/.exec(text.trimStart()) ?? []
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

function getAt(value: JsonObject, path: readonly string[]): Json | undefined {
  let found: Json | undefined = value
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined
    found = found[name]
  }
  return found
}
