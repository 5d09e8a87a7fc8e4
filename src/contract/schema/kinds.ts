import type { Json, JsonObject } from '../../core/json.js'
import type { ContractCode } from '../diagnostic.js'
import type { MapNode, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { compilePattern, findGlobProblem } from '../patterns.js'
import { expectKind, type Fields, reportWrongType } from '../read/fields.js'
import type { Reading } from '../read/reading.js'
import type { Part } from './object.js'

const TEXT_CHARS_MAX = 256 * 1024

// Ten years in seconds: more than any sensible limit, and far below where dates and timers break.
const POSITIVE_MAX = 315_360_000

/** Where a value is read. */
export interface Scope {
  readonly reading: Reading
  /** The field that contains the value. */
  readonly key: string
  /** An example of a valid value. */
  readonly example: string
  /** The name of the surrounding entry in errors: its key in a map, or the id of a rule. Null in a list. */
  readonly owner: string | null
}

/** One kind of value: how it is read, how the JSON Schema describes it, and its name in the reference. */
export interface Kind<T> {
  /** Reports problems; null when the value cannot be used. */
  readonly read: (node: SourceNode, scope: Scope) => T | null
  /** Reports that a required field is missing, if the usual message does not fit. */
  readonly reportMissing?: (fields: Fields, scope: Scope) => void
  /** Replaces an unusable value; without it the field is left out. */
  readonly blank?: T
  readonly json: JsonObject
  readonly words: string
  /** The objects that `json` refers to. */
  readonly parts?: readonly Part[]
}

export type TypeOf<K> = K extends Kind<infer T> ? T : never

export const NAME_PATTERN = '^[A-Za-z0-9_-]{1,64}$'
export const ID_PATTERN = '^[A-Za-z0-9_.-]{1,64}$'

export const text: Kind<string> = {
  read: (node, { reading }) => readText(reading, node),
  blank: '',
  json: { type: 'string' },
  words: 'text',
}

/** A text that is not empty. */
export const filled: Kind<string> = checked(
  text,
  (given, bad, { key, example }) => {
    if (given.trim() === '') bad(`The field '${key}' is empty.`, `Write ${key}, for example ${example}.`)
  },
  { pattern: '\\S' },
)

export const name: Kind<string> = { ...filled, words: 'name' }
export const path: Kind<string> = { ...filled, words: 'path' }

export const flag: Kind<boolean> = {
  read: (node, { reading }) => {
    if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value
    return reportWrongType(reading, node, 'true or false')
  },
  blank: false,
  json: { type: 'boolean' },
  words: 'true or false',
}

export const positive: Kind<number> = {
  read: (node, { reading, key }) => {
    const value = node.kind === 'scalar' ? node.value : null
    if (typeof value !== 'number') return reportWrongType(reading, node, 'a positive integer')
    if (Number.isSafeInteger(value) && value >= 1 && value <= POSITIVE_MAX) return value
    const isLarge = value > POSITIVE_MAX
    reading.report({
      code: isLarge ? 'contract.invalid_value' : 'contract.not_positive',
      at: node.at,
      message: `The field '${key}' is ${value}, ${isLarge ? `more than ${POSITIVE_MAX}` : 'not a positive integer'}.`,
    })
    return null
  },
  blank: 1,
  json: { type: 'integer', minimum: 1, maximum: POSITIVE_MAX },
  words: 'positive integer',
}

export const number: Kind<number> = {
  read: (node, { reading }) => {
    if (node.kind === 'scalar' && typeof node.value === 'number') return node.value
    return reportWrongType(reading, node, 'a number')
  },
  json: { type: 'number' },
  words: 'number',
}

/** One of `values`; anything else is reported under `code` with the list of known values. */
export function choice<T extends string>(
  values: readonly T[],
  blank?: T,
  code: ContractCode = 'contract.invalid_value',
): Kind<T> {
  return {
    read: (node, { reading, key }) => {
      // `true` and `false` are answered with the known values as well.
      const isFlag = node.kind === 'scalar' && typeof node.value === 'boolean'
      const given = isFlag ? String(node.value) : readText(reading, node)
      const found = values.find((value) => value === given)
      if (given !== null && found === undefined) {
        const remedy = `${formatDidYouMean(given, values)}Known: ${values.join(', ')}.`
        reading.report({ code, at: node.at, message: `'${given}' is not a known ${key}.`, remedy })
      }
      return found ?? null
    },
    ...(blank === undefined ? {} : { blank }),
    json: { enum: values },
    words: listed(values.map((value) => `\`${value}\``)),
  }
}

/** A list of non-empty texts, with its position. */
export const texts: Kind<string[]> = {
  read: (node, { reading }) => {
    const list = expectKind(reading, node, 'list')
    if (list === null) return reading.made([], node)
    const values: string[] = []
    const kept: SourceNode[] = []
    for (const item of list.items) {
      const value = readText(reading, item)
      if (value?.trim() === '')
        reading.report({ code: 'contract.invalid_value', at: item.at, message: 'An entry of the list is empty.' })
      else if (value !== null) {
        values.push(value)
        kept.push(item)
      }
    }
    return reading.made(values, { ...list, items: kept })
  },
  blank: [],
  json: { type: 'array', items: filled.json },
  words: 'list of texts',
}

export const names: Kind<string[]> = { ...texts, words: 'list of names' }

/** The texts, each with a further check, which reports its problem. */
export function eachText(
  findProblem: (text: string) => string | null,
  { json, words, remedy }: { readonly json: JsonObject; readonly words: string; readonly remedy?: string },
): Kind<string[]> {
  const kind = checked(texts, (values, _bad, { reading }) => {
    for (const [index, given] of values.entries()) {
      const message = findProblem(given)
      if (message !== null) reading.reportAt('contract.invalid_value', [values, index], message, remedy)
    }
  })
  return { ...kind, json: { type: 'array', items: { type: 'string', ...json } }, words }
}

export const globs: Kind<string[]> = eachText(
  (glob) => {
    const problem = findGlobProblem(glob)
    return problem === null ? null : `The pattern '${glob}' is refused: ${problem}.`
  },
  { json: { pattern: '^[^/!]' }, words: 'list of globs' },
)

/** A regular expression that RE2 can take. */
export const pattern: Kind<string> = checked({ ...filled, words: 'RE2 pattern' }, (given, bad) => {
  const compiled = compilePattern(given)
  if (!compiled.ok) bad(`The pattern '${given}' is refused: ${compiled.reason}.`, undefined, 'contract.invalid_regex')
})

/** Any value. */
export const value: Kind<Json> = { read: (node, { reading }) => reading.toJson(node), json: {}, words: 'value' }

/** Any map. */
export const anyMap: Kind<JsonObject> = {
  read: (node, { reading }) => {
    const map = expectKind(reading, node, 'map')
    return map === null ? null : reading.toJsonObject(map)
  },
  json: { type: 'object' },
  words: 'map',
}

/** A list of entries; those that cannot be used are left out. */
export function list<T extends object>(item: Kind<T>): Kind<T[]> {
  return {
    read: (node, scope) => readList(item, node, scope, () => null),
    json: { type: 'array', items: item.json },
    words: `list of ${item.words}`,
    parts: item.parts ?? [],
  }
}

/** The same, with a name for each entry in errors. */
export function readList<T extends object>(
  item: Kind<T>,
  node: SourceNode,
  scope: Scope,
  ownerOf: (index: number) => string | null,
): T[] | null {
  const found = expectKind(scope.reading, node, 'list')
  if (found === null) return null
  const values = found.items.flatMap((entry, index) => item.read(entry, { ...scope, owner: ownerOf(index) }) ?? [])
  return scope.reading.made(values, found)
}

interface MapOptions {
  readonly names?: string
  /** Reports a name that does not match `names`. */
  readonly remedy?: string
}

/** A map from names to entries; those that cannot be used are left out. */
export function mapOf<T>(item: Kind<T>, { names, remedy }: MapOptions = {}): Kind<Record<string, T>> {
  const pattern = names === undefined ? null : new RegExp(names)
  return {
    read: (node, scope) => {
      const { reading } = scope
      const map = expectKind(reading, node, 'map')
      if (map === null) return null
      const values: Record<string, T> = Object.create(null)
      for (const [name, entry] of map.entries) {
        if (remedy !== undefined && pattern?.test(name) === false) {
          const message = `The name '${name.slice(0, 80)}' is not accepted.`
          reading.report({ code: 'contract.invalid_id', at: entry.keyAt, message, remedy })
        }
        const found = item.read(entry.value, { ...scope, owner: name }) ?? item.blank
        if (found !== undefined) values[name] = found
      }
      return reading.made(values, map)
    },
    json: {
      type: 'object',
      ...(names === undefined ? {} : { propertyNames: { pattern: names } }),
      additionalProperties: item.json,
    },
    words: `map of ${item.words === 'text' ? 'texts' : item.words}`,
    parts: item.parts ?? [],
  }
}

/** Reports something about the value that is read. */
type Bad = (message: string, remedy?: string, code?: ContractCode) => void

/** The kind with a further check, which reports its findings. */
export function checked<T>(
  kind: Kind<T>,
  check: (value: T, bad: Bad, scope: Scope) => void,
  json: JsonObject = {},
): Kind<T> {
  return {
    ...kind,
    json: { ...kind.json, ...json },
    read: (node, scope) => {
      const found = kind.read(node, scope)
      const bad: Bad = (message, remedy, code = 'contract.invalid_value') =>
        scope.reading.report({ code, at: node.at, message, remedy })
      if (found !== null) check(found, bad, scope)
      return found
    },
  }
}

/** A value that other code reads; here it is only described. */
export function described(json: JsonObject, words: string, parts: readonly Part[] = []): Kind<SourceNode> {
  return { read: (node) => node, json, words, parts }
}

export function describedAs({ json, words, parts }: Kind<unknown>): Kind<SourceNode> {
  return described(json, words, parts)
}

/** `key:` without a value, where a map is expected. */
export function emptyAsMap(node: SourceNode, at = node.at, keyAt: MapNode['keyAt'] = null): SourceNode {
  if (node.kind !== 'scalar' || node.value !== null) return node
  return { kind: 'map', at, keyAt, entries: new Map() }
}

/** `a, b or c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

export function readText(reading: Reading, node: SourceNode): string | null {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') {
    const isNumber = node.kind === 'scalar' && typeof node.value === 'number'
    return reportWrongType(reading, node, 'a text', isNumber ? 'Put it in quotes.' : undefined)
  }
  if (node.value.length <= TEXT_CHARS_MAX) return node.value
  reading.report({ code: 'contract.invalid_value', at: node.at, message: `A text is longer than ${TEXT_CHARS_MAX}.` })
  return null
}
