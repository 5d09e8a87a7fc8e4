import { useSyncExternalStore } from 'react'

type Overlay = 'palette' | 'keys' | null

let shown: Overlay = null
let typed = ''
const listeners = new Set<() => void>()

/** Opens the palette. What is typed before it is there is kept for it. */
export function openPalette(): void {
  if (shown === 'palette') return
  typed = ''
  addEventListener('keydown', keepTyped, true)
  show('palette')
}

/** What was typed since the palette was opened; from now on its own field takes the keys. */
export function takeTyped(): string {
  removeEventListener('keydown', keepTyped, true)
  return typed
}

export const openKeys = (): void => show('keys')
export function closeOverlay(): void {
  takeTyped()
  show(null)
}

/** What lies over the page: the palette, the list of keys, or nothing. */
export function useOverlay(): Overlay {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
}

// The code of the palette may still be on its way. No letter may act on the page meanwhile, and none may be lost.
function keepTyped(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key.length === 1) typed += event.key
  else if (event.key === 'Backspace') typed = typed.slice(0, -1)
  else if (event.key !== 'Enter') return
  event.preventDefault()
  event.stopImmediatePropagation()
}

function show(overlay: Overlay): void {
  shown = overlay
  for (const listener of listeners) listener()
}
