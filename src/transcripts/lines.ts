const LINE_FEED = 0x0a

/** The read state of a file between two chunks. */
interface LineState {
  /** Whether the rest of an overlong line is being skipped. */
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
 * The lines that a chunk completes. `end` is where a piece ends in the chunk, including its line feed. At most
 * `lineBytesMax` of an incomplete line are kept.
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
      // The chunk's buffer is reused for the next one.
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
