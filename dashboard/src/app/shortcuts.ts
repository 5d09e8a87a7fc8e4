import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { getPreferences } from './preferences.js'

export interface Shortcut {
  /** One key ("n", "Enter"), or two in a row ("g i"). */
  readonly keys: string
  /** What it does, for the list of all keys. */
  readonly does: string
  readonly run: () => void
}

const SEQUENCE_MS_MAX = 1200

const registered = new Map<object, readonly Shortcut[]>()
const listeners = new Set<() => void>()
let all: readonly Shortcut[] = []
let first: { readonly key: string; readonly at: number } | null = null

/** Keys that work while the component is shown. Those of a page come before those of the frame. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const run = useEffectEvent((keys: string) => shortcuts.find((one) => one.keys === keys)?.run())
  const named = shortcuts.map(({ keys, does }) => `${keys}\t${does}`).join('\n')
  useEffect(() => {
    const owner = {}
    const bound = named
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'))
      .map(([keys = '', does = '']) => ({ keys, does, run: () => run(keys) }))
    change(() => registered.set(owner, bound))
    return () => change(() => registered.delete(owner))
  }, [named])
}

/** All keys that work now, those of the innermost component first. */
export function useAllShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => all,
  )
}

/** Listens for keys. Letters do nothing while a field has the focus, a dialog is open, or they are switched off. */
export function startShortcuts(): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const shortcut = findShortcut(event)
    if (shortcut === null) return
    event.preventDefault()
    shortcut.run()
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}

function findShortcut(event: KeyboardEvent): Shortcut | null {
  if (event.defaultPrevented || event.isComposing) return null
  if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) return findByKeys('Ctrl K')
  if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event)) return null
  if (event.key.length === 1 && !getPreferences().letterKeys) return null
  const before = first !== null && event.timeStamp - first.at < SEQUENCE_MS_MAX ? first.key : null
  first = null
  const pair = before === null ? null : findByKeys(`${before} ${event.key}`)
  if (pair !== null) return pair
  if (all.some(({ keys }) => keys.startsWith(`${event.key} `))) first = { key: event.key, at: event.timeStamp }
  return findByKeys(event.key)
}

function findByKeys(keys: string): Shortcut | null {
  return all.find((one) => one.keys === keys) ?? null
}

// Enter and space belong to the button or link that has the focus.
function isBusy({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open], [role="menu"]') !== null) return true
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true
  return (key === 'Enter' || key === ' ') && /^(A|BUTTON|SUMMARY)$/.test(target.tagName)
}

function change(edit: () => void): void {
  edit()
  all = [...registered.values()].reverse().flat()
  for (const listener of listeners) listener()
}
