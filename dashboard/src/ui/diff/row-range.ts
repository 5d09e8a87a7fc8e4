const OVERSCAN = 20

export interface RowRange {
  readonly first: number
  /** The row after the last one. */
  readonly end: number
}

/** The rows near the screen, rounded to half the overscan, so that a small scroll changes nothing. */
export function computeRange(view: {
  readonly top: number
  readonly windowHeight: number
  readonly count: number
  readonly rowHeight: number
}): RowRange {
  const { top, windowHeight, count, rowHeight } = view
  const step = OVERSCAN / 2
  const first = Math.floor(-top / rowHeight / step) * step - OVERSCAN
  const end = Math.ceil((windowHeight - top) / rowHeight / step) * step + OVERSCAN
  return { first: clamp(first, count), end: clamp(end, count) }
}

function clamp(value: number, max: number): number {
  return Math.max(0, Math.min(max, value))
}
