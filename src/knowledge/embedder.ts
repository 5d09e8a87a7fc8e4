/** Turns texts into vectors of length one. The same text gives the same vector under the same id. */
export interface Embedder {
  /** Model, runtime and everything else that changes the numbers: vectors with different ids are not comparable. */
  readonly id: string
  embed(text: string): Promise<Float32Array>
  close(): Promise<void>
}

/** Which embedder to use, in a form that can be sent to the thread. */
export type EmbedderChoice =
  | { readonly type: 'packaged'; readonly folder: string | null }
  | { readonly type: 'endpoint'; readonly url: string; readonly model: string; readonly key: string | null }
  | { readonly type: 'none' }

export type Loaded =
  | { readonly ok: true; readonly embedder: Embedder }
  /** `isMissing`: the packages of the model are not installed. */
  | { readonly ok: false; readonly reason: string; readonly isMissing: boolean }

/** A copy of length one; null for a zero vector. */
export function toUnitVector(vector: ArrayLike<number>): Float32Array | null {
  let sum = 0
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] ?? 0) ** 2
  const length = Math.sqrt(sum)
  if (!Number.isFinite(length) || length === 0) return null
  return Float32Array.from(vector, (value) => value / length)
}

/** A vector as stored in the search file. */
export function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer)
}
