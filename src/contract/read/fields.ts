import type { ContractCode, Place } from '../diagnostic.js'
import type { ListNode, MapNode, ScalarNode, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import type { Reading } from './reading.js'

const TEXT_CHARS_MAX = 256 * 1024

// Ten years in seconds: more than any limit means, and far from where dates and timers stop working.
const POSITIVE_MAX = 315_360_000

/** One map of the file, read field by field. Every getter reports what is wrong and then answers with the fallback. */
export class Fields {
  readonly reading: Reading
  readonly node: MapNode

  private constructor(reading: Reading, node: MapNode) {
    this.reading = reading
    this.node = node
  }

  /** Reports keys that are not in `keys` and do not start with `x-`. */
  static openFields(reading: Reading, node: SourceNode, keys: readonly string[]): Fields | null {
    const map = expectKind(reading, node, 'map')
    if (map === null) return null
    for (const [key, entry] of map.entries) {
      if (keys.includes(key) || key.startsWith('x-')) continue
      reading.report({
        code: 'contract.unknown_key',
        at: entry.keyAt,
        message: `The key '${key}' is not known here.`,
        remedy: `${formatDidYouMean(key, keys)}Known keys: ${keys.join(', ')}. Keys of your own start with x-.`,
      })
    }
    return new Fields(reading, map)
  }

  has(key: string): boolean {
    return this.node.entries.has(key)
  }

  get(key: string): SourceNode | undefined {
    return this.node.entries.get(key)?.value
  }

  at(key: string): Place {
    return this.get(key)?.at ?? this.node.keyAt ?? this.node.at
  }

  reportMissing(key: string, example: string): void {
    this.reading.report({
      code: 'contract.missing_field',
      at: this.node.keyAt ?? this.node.at,
      message: `The field '${key}' is missing.`,
      remedy: `Add ${key}, for example ${example}.`,
    })
  }

  reportBad(key: string, code: ContractCode, message: string, remedy?: string): void {
    this.reading.report({ code, at: this.at(key), message, ...(remedy === undefined ? {} : { remedy }) })
  }

  getText(key: string, fallback = ''): string {
    const node = this.get(key)
    return node === undefined ? fallback : (readText(this.reading, node) ?? fallback)
  }

  /** A text that must be there and must not be empty. */
  needText(key: string, example: string): string {
    if (!this.has(key)) {
      this.reportMissing(key, example)
      return ''
    }
    const text = this.getText(key)
    if (text.trim() === '' && this.isText(key)) {
      this.reportBad(
        key,
        'contract.invalid_value',
        `The field '${key}' is empty.`,
        `Write ${key}, for example ${example}.`,
      )
    }
    return text
  }

  getFlag(key: string, fallback: boolean): boolean {
    const node = this.get(key)
    if (node === undefined) return fallback
    if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value
    reportWrongType(this.reading, node, 'true or false')
    return fallback
  }

  getPositive(key: string, fallback: number): number {
    const node = this.get(key)
    if (node === undefined) return fallback
    if (node.kind === 'scalar' && typeof node.value === 'number') {
      if (Number.isSafeInteger(node.value) && node.value >= 1 && node.value <= POSITIVE_MAX) return node.value
      if (node.value > POSITIVE_MAX) {
        this.reportBad(key, 'contract.invalid_value', `The field '${key}' is ${node.value}, more than ${POSITIVE_MAX}.`)
        return fallback
      }
      this.reportBad(key, 'contract.not_positive', `The field '${key}' is ${node.value}, not a positive integer.`)
      return fallback
    }
    reportWrongType(this.reading, node, 'a positive integer')
    return fallback
  }

  /** One of `values`; anything else is reported under `code` with the list of known values. */
  choice<T extends string>(
    key: string,
    values: readonly T[],
    fallback: T,
    code: ContractCode = 'contract.invalid_value',
  ): T {
    const node = this.get(key)
    if (node === undefined) return fallback
    const text =
      node.kind === 'scalar' && typeof node.value === 'boolean' ? String(node.value) : readText(this.reading, node)
    if (text === null) return fallback
    const found = values.find((value) => value === text)
    if (found !== undefined) return found
    this.reportBad(
      key,
      code,
      `'${text}' is not a known ${key}.`,
      `${formatDidYouMean(text, values)}Known: ${values.join(', ')}.`,
    )
    return fallback
  }

  /** A list of non-empty texts; null when the field is not there. The list remembers where it stands. */
  getTexts(key: string): string[] | null {
    const node = this.get(key)
    return node === undefined ? null : readTexts(this.reading, node)
  }

  list(key: string): ListNode | null {
    const node = this.get(key)
    return node === undefined ? null : expectKind(this.reading, node, 'list')
  }

  map(key: string): MapNode | null {
    const node = this.get(key)
    return node === undefined ? null : expectKind(this.reading, node, 'map')
  }

  /** The map under `key`, with its keys checked. */
  openInner(key: string, keys: readonly string[]): Fields | null {
    const node = this.get(key)
    return node === undefined ? null : Fields.openFields(this.reading, node, keys)
  }

  private isText(key: string): boolean {
    const node = this.get(key)
    return node?.kind === 'scalar' && typeof node.value === 'string'
  }
}

export function readText(reading: Reading, node: SourceNode): string | null {
  if (node.kind === 'scalar' && typeof node.value === 'string') {
    if (node.value.length <= TEXT_CHARS_MAX) return node.value
    reading.report({ code: 'contract.invalid_value', at: node.at, message: `A text is longer than ${TEXT_CHARS_MAX}.` })
    return null
  }
  const remedy = node.kind === 'scalar' && typeof node.value === 'number' ? 'Put it in quotes.' : undefined
  reportWrongType(reading, node, 'a text', remedy)
  return null
}

export function readTexts(reading: Reading, node: SourceNode): string[] {
  const list = expectKind(reading, node, 'list')
  if (list === null) return reading.made([], node)
  const texts: string[] = []
  const kept: SourceNode[] = []
  for (const item of list.items) {
    const text = readText(reading, item)
    if (text === null) continue
    if (text.trim() === '') {
      reading.report({ code: 'contract.invalid_value', at: item.at, message: 'An entry of the list is empty.' })
      continue
    }
    texts.push(text)
    kept.push(item)
  }
  return reading.made(texts, { ...list, items: kept })
}

type NodeOf<K extends SourceNode['kind']> = K extends 'map' ? MapNode : K extends 'list' ? ListNode : ScalarNode

export function expectKind<K extends SourceNode['kind']>(
  reading: Reading,
  node: SourceNode,
  kind: K,
): NodeOf<K> | null {
  if (node.kind === kind) return node as NodeOf<K>
  reportWrongType(
    reading,
    node,
    kind === 'map' ? 'a map of keys and values' : kind === 'list' ? 'a list' : 'a single value',
  )
  return null
}

export function reportWrongType(reading: Reading, node: SourceNode, expected: string, remedy?: string): void {
  reading.report({
    code: 'contract.wrong_type',
    at: node.at,
    message: `Expected ${expected}, found ${describe(node)}.`,
    ...(remedy === undefined ? {} : { remedy }),
  })
}

function describe(node: SourceNode): string {
  if (node.kind === 'map') return 'a map'
  if (node.kind === 'list') return 'a list'
  if (node.value === null) return 'nothing'
  return typeof node.value === 'string' ? 'a text' : `${typeof node.value} ${String(node.value)}`
}
