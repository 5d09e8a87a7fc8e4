/** Turns texts into vectors of length one. The same text gives the same vector under the same id. */
export interface Embedder {
  /** Model, runtime and whatever else changes the numbers: vectors of another id are not comparable. */
  readonly id: string
  embed(text: string): Promise<Float32Array>
  close(): Promise<void>
}

/** Which embedder to use, as it is told to the thread. */
export type EmbedderChoice =
  | { readonly type: 'packaged'; readonly folder: string | null }
  | { readonly type: 'endpoint'; readonly url: string; readonly model: string; readonly key: string | null }
  | { readonly type: 'none' }

export type Loaded =
  | { readonly ok: true; readonly embedder: Embedder }
  /** `isMissing`: the packages of the model are not installed. */
  | { readonly ok: false; readonly reason: string; readonly isMissing: boolean }

/** A copy of length one; null where there is no direction in it. */
export function toUnitVector(vector: ArrayLike<number>): Float32Array | null {
  let sum = 0
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] ?? 0) ** 2
  const length = Math.sqrt(sum)
  if (!Number.isFinite(length) || length === 0) return null
  return Float32Array.from(vector, (value) => value / length)
}

/** A vector as it is kept in the search file. */
export function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer)
}
