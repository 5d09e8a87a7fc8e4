import { type RefObject, useEffect, useRef } from 'react'

/**
 * When the row that has the focus is done and gone, the row that takes its place gets the focus, so that a person with
 * a keyboard goes on with the next one instead of starting at the top of the page.
 */
export function useFocusOnNextRow(keys: readonly string[]): RefObject<HTMLOListElement | null> {
  const list = useRef<HTMLOListElement>(null)
  const focused = useRef<{ readonly key: string; readonly index: number } | null>(null)
  useEffect(() => {
    const note = ({ target }: FocusEvent): void => {
      const key = target instanceof Element ? (target.closest('[data-row]')?.getAttribute('data-row') ?? null) : null
      focused.current = key === null ? null : { key, index: keys.indexOf(key) }
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [keys])
  useEffect(() => {
    const before = focused.current
    if (before === null || keys.includes(before.key) || document.activeElement !== document.body) return
    focused.current = null
    const rows = list.current?.querySelectorAll<HTMLElement>('.item__title a') ?? []
    const next = rows[Math.min(before.index, rows.length - 1)] ?? document.getElementById('main')
    next?.focus()
  }, [keys])
  return list
}
