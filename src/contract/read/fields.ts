import type { ContractCode, Place } from '../diagnostic.js'
import type { ListNode, MapNode, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import type { Reading } from './reading.js'

/** One map of the file, for checks of what is written. */
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

  missing(key: string, example: string): void {
    this.reading.report({
      code: 'contract.missing_field',
      at: this.node.keyAt ?? this.node.at,
      message: `The field '${key}' is missing.`,
      remedy: `Add ${key}, for example ${example}.`,
    })
  }

  reportBad(key: string, code: ContractCode, message: string, remedy?: string): void {
    this.reading.report({ code, at: this.at(key), message, remedy })
  }
}

type NodeOf<K> = K extends 'map' ? MapNode : ListNode

export function expectKind<K extends 'map' | 'list'>(reading: Reading, node: SourceNode, kind: K): NodeOf<K> | null {
  if (node.kind === kind) return node as NodeOf<K>
  return reportWrongType(reading, node, kind === 'map' ? 'a map of keys and values' : 'a list')
}

export function reportWrongType(reading: Reading, node: SourceNode, expected: string, remedy?: string): null {
  const message = `Expected ${expected}, found ${describe(node)}.`
  reading.report({ code: 'contract.wrong_type', at: node.at, message, remedy })
  return null
}

function describe(node: SourceNode): string {
  if (node.kind === 'map') return 'a map'
  if (node.kind === 'list') return 'a list'
  if (node.value === null) return 'nothing'
  return typeof node.value === 'string' ? 'a text' : `${typeof node.value} ${String(node.value)}`
}
