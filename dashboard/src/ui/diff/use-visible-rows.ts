import { type RefObject, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { computeRange, type RowRange } from './row-range.js'

/** A longer list is printed in part. */
const PRINTED_MAX = 5000
const ON_PAPER: RowRange = { first: 0, end: PRINTED_MAX }

/**
 * Which of many rows of equal height are near the screen. The list may be as long as it likes: only these rows are in
 * the page, and scrolling anywhere moves the range.
 */
export function useVisibleRows(list: RefObject<HTMLElement | null>, count: number, rowHeight: number): RowRange {
  const [range, setRange] = useState<RowRange>({ first: 0, end: Math.min(count, 40) })
  useLayoutEffect(() => {
    let frame = 0
    const paper = window.matchMedia('print')
    const measure = () => {
      frame = 0
      // Chromium announces a change no more once it was read here: all rows are asked for here as well.
      if (paper.matches) return setRange(ON_PAPER)
      const box = list.current?.getBoundingClientRect()
      if (box === undefined) return
      const next = computeRange({ top: box.top, windowHeight: window.innerHeight, count, rowHeight })
      setRange((before) => (before.first === next.first && before.end === next.end ? before : next))
    }
    // On paper nothing can be scrolled to: all rows are there before the browser lays the pages out.
    const print = () => (paper.matches ? flushSync(() => setRange(ON_PAPER)) : measure())
    paper.addEventListener('change', print)
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
      paper.removeEventListener('change', print)
      document.removeEventListener('scroll', schedule, { capture: true })
      window.removeEventListener('resize', schedule)
      observer.disconnect()
    }
  }, [list, count, rowHeight])
  return { first: Math.min(range.first, count), end: Math.min(range.end, count) }
}
