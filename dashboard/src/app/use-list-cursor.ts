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
  const move = (step: number): void => {
    if (ids.length === 0) return
    const at = current === null ? -1 : ids.indexOf(current)
    const next = at === -1 ? (step > 0 ? 0 : ids.length - 1) : Math.min(ids.length - 1, Math.max(0, at + step))
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
