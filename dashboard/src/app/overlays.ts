import { useSyncExternalStore } from 'react'

type Overlay = 'palette' | 'keys' | null

let shown: Overlay = null
const listeners = new Set<() => void>()

export const openPalette = (): void => show('palette')
export const openKeys = (): void => show('keys')
export const closeOverlay = (): void => show(null)

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

function show(overlay: Overlay): void {
  shown = overlay
  for (const listener of listeners) listener()
}
