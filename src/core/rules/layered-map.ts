/** An immutable map: writing returns a new one and copies a few dozen entries on average, whatever its size. */
export type Layers<V> = readonly ReadonlyMap<string, V>[]

// Writes go to the first layer; a full layer is merged into the next. The last one is unbounded: callers bound the
// number of keys.
const LAYER_KEYS_MAX = [16, 256, 4096]

const EMPTY: ReadonlyMap<string, never> = new Map<string, never>()

export const NO_LAYERS: Layers<never> = [EMPTY, EMPTY, EMPTY, EMPTY]

/** The newest value of a key. */
export function read<V>(layers: Layers<V>, key: string): V | undefined {
  for (const layer of layers) {
    const value = layer.get(key)
    if (value !== undefined) return value
  }
  return undefined
}

export function write<V>(layers: Layers<V>, key: string, value: V): Layers<V> {
  const next = [...layers]
  let poured: ReadonlyMap<string, V> = new Map([[key, value]])
  for (const [level, layer] of layers.entries()) {
    const merged = new Map(layer)
    for (const [name, newer] of poured) merged.set(name, newer)
    const most = LAYER_KEYS_MAX[level]
    if (most === undefined || merged.size <= most) {
      next[level] = merged
      break
    }
    next[level] = EMPTY
    poured = merged
  }
  return next
}

/** Makes the layers of a whole map at once; the same as writing its entries one by one. */
export function makeLayers<V>(entries: ReadonlyMap<string, V>): Layers<V> {
  return [...NO_LAYERS.slice(1), entries]
}

/** Without the oldest entries. */
export function dropOldest<V>(layers: Layers<V>): Layers<V> {
  return [...layers.slice(0, -1), EMPTY]
}

/** Every key once, with its newest value. */
export function listValues<V>(layers: Layers<V>): Iterable<V> {
  const all = new Map<string, V>()
  for (const layer of layers.toReversed()) for (const [key, value] of layer) all.set(key, value)
  return all.values()
}
