import { CONTRACT } from '../../src/contract/read/read-contract.js'
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

/** The JSON Schema of the format. */
export function formatSchema(): JsonObject {
  const [, ...others] = partsOfFormat().values()
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:phaselock:agent_workflow',
    title: 'Phaselock workflow contract',
    ...CONTRACT.definition,
    description: 'The contract of a workflow: phases, tools, gates and transitions. Keys that start with x- are yours.',
    $defs: Object.fromEntries(others.map((part) => [part.name, part.definition])),
  }
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
