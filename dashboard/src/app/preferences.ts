import { useSyncExternalStore } from 'react'

/** What this browser remembers. Nothing of the server is in it. */
export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark'
  /** Whether single letters are shortcuts (WCAG 2.1.4). */
  readonly letterKeys: boolean
  readonly boardView: 'board' | 'list'
}

const STORED = 'phaselock-preferences'
const DEFAULTS: Preferences = { theme: 'system', letterKeys: true, boardView: 'board' }

let preferences: Preferences = readStored()
const listeners = new Set<() => void>()

export function getPreferences(): Preferences {
  return preferences
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => preferences,
  )
}

export function setPreferences(change: Partial<Preferences>): void {
  preferences = { ...preferences, ...change }
  try {
    localStorage.setItem(STORED, JSON.stringify(preferences))
  } catch {
    // A browser that keeps nothing: the choice holds until the page is closed.
  }
  applyTheme()
  for (const listener of listeners) listener()
}

/** Shows the page in the chosen theme. */
export function applyTheme(): void {
  if (preferences.theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = preferences.theme
}

/** Switches to the theme that is not shown now. */
export function switchTheme(): void {
  const isDark =
    preferences.theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : preferences.theme === 'dark'
  setPreferences({ theme: isDark ? 'light' : 'dark' })
}

function readStored(): Preferences {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '{}')
    return { ...DEFAULTS, ...(typeof stored === 'object' ? stored : {}) }
  } catch {
    return DEFAULTS
  }
}
