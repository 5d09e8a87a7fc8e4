import { useEffect, useRef, useState } from 'react'
import { useShortcuts } from './shortcuts.js'

interface Cursor {
  /** The id under the cursor; null before the first key. */
  readonly current: string | null
  readonly setCurrent: (id: string | null) => void
}

/** `j` and `k` move a cursor over a list, `Enter` opens what is under it. Rows carry `data-row` with their id. */
export function useListCursor(ids: readonly string[], onOpen: (id: string) => void, noun: string): Cursor {
  const [current, setCurrent] = useState<string | null>(null)
  const isMoved = useRef(false)
  // Where the cursor was. When its row is gone, the next one has taken its place.
  const place = useRef<number | null>(null)
  const at = current === null ? -1 : ids.indexOf(current)
  useEffect(() => {
    if (at !== -1) place.current = at
  }, [at])
  const move = (step: number): void => {
    if (ids.length === 0) return
    const wanted = at === -1 ? findFirst(step, place.current, ids.length) : at + step
    const next = Math.min(ids.length - 1, Math.max(0, wanted))
    isMoved.current = true
    setCurrent(ids[next] ?? null)
  }
  useShortcuts([
    { keys: 'j', does: `Next ${noun}`, run: () => move(1) },
    { keys: 'k', does: `Previous ${noun}`, run: () => move(-1) },
    { keys: 'Enter', does: `Open the ${noun}`, run: () => current !== null && onOpen(current) },
  ])
  useEffect(() => {
    if (!isMoved.current || current === null) return
    isMoved.current = false
    document.querySelector(`[data-row="${CSS.escape(current)}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return { current: current !== null && ids.includes(current) ? current : null, setCurrent }
}

function findFirst(step: number, place: number | null, count: number): number {
  if (place !== null) return step > 0 ? place : place - 1
  return step > 0 ? 0 : count - 1
}
