import type { Place } from '../diagnostic.js'
import type { ContractDocument } from '../document.js'
import type { Reading } from '../read/reading.js'

/**
 * The position of every object, list and field of the document that comes from the file, by path:
 * `phases[0].gates[1].type`.
 */
export function mapPositions(reading: Reading, document: ContractDocument): ReadonlyMap<string, Place> {
  const positions = new Map<string, Place>()
  collect(reading, document, '', positions)
  return positions
}

function collect(reading: Reading, value: object, path: string, positions: Map<string, Place>): void {
  const isKnown = reading.findOrigin(value) !== undefined
  if (isKnown && path !== '') positions.set(path, reading.place(value))
  for (const [key, member] of Object.entries(value)) {
    const here = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    if (isKnown) positions.set(here, reading.place(value, Array.isArray(value) ? Number(key) : key))
    if (typeof member === 'object' && member !== null) collect(reading, member, here, positions)
  }
}
