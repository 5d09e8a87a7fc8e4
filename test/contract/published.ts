import { CONTRACT } from '../../src/contract/read/read-contract.js'
import { has, when } from '../../src/contract/schema/conditions.js'
import { filled } from '../../src/contract/schema/kinds.js'
import type { AnyField, Part } from '../../src/contract/schema/object.js'
import type { Json, JsonObject } from '../../src/core/json.js'

/** Every object of the format, by name: the contract itself first. */
export function partsOfFormat(part: Part = CONTRACT, found = new Map<string, Part>()): ReadonlyMap<string, Part> {
  if (found.has(part.name)) return found
  found.set(part.name, part)
  const inner = Object.values(part.fields).flatMap((field) => field.kind.parts ?? [])
  for (const next of inner) partsOfFormat(next, found)
  return found
}

/** The JSON Schema of the format. What a contract with `extends` leaves out, the base may have. */
export function formatSchema(): JsonObject {
  const definitions = new Map([...partsOfFormat().values()].map((part) => [part.name, part.definition]))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:phaselock:agent_workflow',
    title: 'Phaselock workflow contract',
    description: 'The contract of a workflow: phases, tools, gates and transitions. Keys that start with x- are yours.',
    type: 'object',
    ...when(has('extends'), { $ref: `#/$defs/contract${OVER_BASE}` }, { $ref: '#/$defs/contract' }),
    $defs: Object.fromEntries([...definitions, ...listOverBase(definitions)]),
  }
}

/** The end of the name of a definition of which a contract that extends another may leave parts out. */
export const OVER_BASE = '_over_base'

type Definitions = ReadonlyMap<string, JsonObject>

/** The definitions with nothing required and `...` in lists; those that stay the same are used as they are. */
function listOverBase(definitions: Definitions): readonly (readonly [string, Json])[] {
  const changed = new Set<string>()
  const keep = (name: string): string => (changed.has(name) ? `${name}${OVER_BASE}` : name)
  const toText = (definition: Json): string => JSON.stringify(definition)
  for (let before = -1; before < changed.size; ) {
    before = changed.size
    for (const [name, definition] of definitions)
      if (toText(loosen(definition, keep)) !== toText(definition)) changed.add(name)
  }
  return [...definitions]
    .filter(([name]) => changed.has(name))
    .map(([name, definition]) => [`${name}${OVER_BASE}`, loosen(definition, keep)])
}

const CONDITIONS = ['required', 'allOf', 'oneOf', 'anyOf', 'if', 'then', 'else', 'not']

function loosen(definition: JsonObject, nameOf: (name: string) => string): Json {
  const { properties } = definition
  if (typeof properties !== 'object' || properties === null) return loosenValue(definition, nameOf)
  const kept = Object.entries(definition).filter(([key]) => !CONDITIONS.includes(key))
  const fields = Object.entries(properties).map(([key, field]) => [key, loosenValue(field, nameOf)])
  return { ...Object.fromEntries(kept), properties: Object.fromEntries(fields) }
}

function loosenValue(json: Json, nameOf: (name: string) => string): Json {
  if (Array.isArray(json)) return json.map((item) => loosenValue(item, nameOf))
  if (json === null || typeof json !== 'object') return json
  const entries = Object.entries(json as JsonObject).map(([key, value]): [string, Json] => {
    if (key === '$ref' && typeof value === 'string') return [key, value.replace(/[^/]+$/, nameOf)]
    if (key === 'items' && !isPlainText(value)) return [key, { anyOf: [{ const: '...' }, loosenValue(value, nameOf)] }]
    return INNER.includes(key) ? [key, loosenValue(value, nameOf)] : [key, value]
  })
  return Object.fromEntries(entries)
}

const INNER = ['items', 'oneOf', 'anyOf', 'allOf', 'additionalProperties']

function isPlainText(json: Json): boolean {
  return JSON.stringify(json) === JSON.stringify(filled.json)
}

/** The reference with the table of each object written below its mark. */
export function withTables(reference: string): string {
  const parts = partsOfFormat()
  return reference.replaceAll(/(<!-- fields: (\w+) -->\n)(?:\|.*\n)+/g, (whole, mark: string, name: string) => {
    const part = parts.get(name)
    return part === undefined ? whole : `${mark}${tableOf(part)}`
  })
}

function tableOf(part: Part): string {
  const rows = Object.entries(part.fields).map(([key, field]) =>
    row([`\`${key}\``, field.words ?? field.kind.words, unsetOf(field), field.about, `\`${key}: ${field.example}\``]),
  )
  return [row(['field', 'type', 'default', 'meaning', 'example']), row(Array(5).fill('---')), ...rows].join('')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
}

function unsetOf({ kind, unset, isRequired, fallback }: AnyField): string {
  if (unset !== undefined) return unset
  if (isRequired) return 'required'
  if (fallback === undefined) return kind.json.type === 'boolean' ? '`false`' : 'none'
  if (fallback === null) return 'null'
  if (Array.isArray(fallback) && fallback.length > 0) return fallback.map((item) => `\`${item}\``).join(', ')
  return fallback === '' || typeof fallback === 'object' ? 'empty' : `\`${fallback}\``
}

const COLUMNS_MAX = 120

/** JSON as the formatter of the project writes it: lists of plain values on one line where they fit. */
export function prettyJson(value: Json, indent = '', before = 0): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    const isPlain = value.every((item) => item === null || typeof item !== 'object')
    if (value.length === 0 || (isPlain && indent.length + before + line.length < COLUMNS_MAX)) return line
    return `[\n${value.map((item) => `${inner}${prettyJson(item, inner)}`).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return '{}'
  const lines = entries.map(([key, member]) => {
    const name = `${JSON.stringify(key)}: `
    return `${inner}${name}${prettyJson(member, inner, name.length)}`
  })
  return `{\n${lines.join(',\n')}\n${indent}}`
}
