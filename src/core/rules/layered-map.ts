/** A map that is never changed: writing gives a new one and copies a few dozen entries on average, however many there are. */
export type Layers<V> = readonly ReadonlyMap<string, V>[]

// What is written goes into the first layer; a layer that is full is poured into the next. The last one has no bound of
// its own: who writes bounds the number of keys.
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

/** The same as writing every entry, in one step. */
export function makeLayers<V>(entries: ReadonlyMap<string, V>): Layers<V> {
  return [...NO_LAYERS.slice(1), entries]
}

/** Without what was written longest ago. */
export function dropOldest<V>(layers: Layers<V>): Layers<V> {
  return [...layers.slice(0, -1), EMPTY]
}

/** Every key once, with its newest value. */
export function listValues<V>(layers: Layers<V>): Iterable<V> {
  const all = new Map<string, V>()
  for (const layer of layers.toReversed()) for (const [key, value] of layer) all.set(key, value)
  return all.values()
}
