const LINE_FEED = 0x0a

/** Where the reading of a file stands between two chunks. */
export interface LineState {
  /** Whether the rest of a line is passed over that was too long. */
  skipping: boolean
  readonly pending: Buffer[]
  pendingBytes: number
}

export type Piece =
  | { readonly kind: 'line'; readonly bytes: Buffer; readonly end: number }
  /** A part of a line that is too long. `begins` is true for its first part only. */
  | { readonly kind: 'long'; readonly begins: boolean; readonly length: number; readonly end: number }

export function startLines(skipping: boolean): LineState {
  return { skipping, pending: [], pendingBytes: 0 }
}

/**
 * The lines that a chunk completes. `end` is how far into the chunk a piece reaches, its line feed included. What is kept of a line
 * that is not complete is never more than `lineBytesMax`.
 */
export function* splitPieces(state: LineState, chunk: Buffer, lineBytesMax: number): Generator<Piece> {
  for (let start = 0; start < chunk.length; ) {
    const feed = chunk.indexOf(LINE_FEED, start)
    const isComplete = feed !== -1
    const part = chunk.subarray(start, isComplete ? feed : chunk.length)
    const end = isComplete ? feed + 1 : chunk.length
    const length = state.pendingBytes + part.length
    if (state.skipping || length > lineBytesMax) {
      const begins = !state.skipping
      forget(state, !isComplete)
      yield { kind: 'long', begins, length, end }
    } else if (isComplete) {
      const bytes = state.pending.length === 0 ? part : Buffer.concat([...state.pending, part])
      forget(state, false)
      yield { kind: 'line', bytes, end }
    } else {
      // The chunk's memory is used again for the next one.
      state.pending.push(Buffer.from(part))
      state.pendingBytes = length
    }
    start = end
  }
}

function forget(state: LineState, skipping: boolean): void {
  state.skipping = skipping
  state.pending.length = 0
  state.pendingBytes = 0
}
