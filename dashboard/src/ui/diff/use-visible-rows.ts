import { type RefObject, useLayoutEffect, useState } from 'react'

const OVERSCAN = 20

export interface RowRange {
  readonly first: number
  /** The row after the last one. */
  readonly end: number
}

/**
 * Which of many rows of equal height are near the screen. The list may be as long as it likes: only these rows are in
 * the page, and scrolling anywhere moves the range.
 */
export function useVisibleRows(list: RefObject<HTMLElement | null>, count: number, rowHeight: number): RowRange {
  const [range, setRange] = useState<RowRange>({ first: 0, end: Math.min(count, 40) })
  useLayoutEffect(() => {
    let frame = 0
    const measure = () => {
      frame = 0
      const box = list.current?.getBoundingClientRect()
      if (box === undefined) return
      const next = computeRange({ top: box.top, windowHeight: window.innerHeight, count, rowHeight })
      setRange((before) => (before.first === next.first && before.end === next.end ? before : next))
    }
    const schedule = () => {
      if (frame === 0) frame = requestAnimationFrame(measure)
    }
    measure()
    document.addEventListener('scroll', schedule, { capture: true, passive: true })
    window.addEventListener('resize', schedule)
    // What is above may grow or shrink: the list moves without being scrolled.
    const observer = new ResizeObserver(schedule)
    observer.observe(document.body)
    return () => {
      cancelAnimationFrame(frame)
      document.removeEventListener('scroll', schedule, { capture: true })
      window.removeEventListener('resize', schedule)
      observer.disconnect()
    }
  }, [list, count, rowHeight])
  return { first: Math.min(range.first, count), end: Math.min(range.end, count) }
}

/** Rounded to half the overscan, so that a small scroll changes nothing. */
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
