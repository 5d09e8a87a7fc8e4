import type { IconName } from '../ui/icon.js'

export interface PageEntry {
  readonly to: string
  readonly name: string
  readonly icon: IconName
  /** Pressed after `g`. */
  readonly letter: string
  readonly group: 'work' | 'record' | 'settings'
}

/** The pages in the navigation, in its order. */
export const PAGES: readonly PageEntry[] = [
  { to: '/', name: 'Inbox', icon: 'inbox', letter: 'i', group: 'work' },
  { to: '/board', name: 'Board', icon: 'board', letter: 'b', group: 'work' },
  { to: '/agents', name: 'Agents', icon: 'agent', letter: 'g', group: 'work' },
  { to: '/coordinations', name: 'Councils', icon: 'council', letter: 'o', group: 'work' },
  { to: '/contracts', name: 'Contracts', icon: 'contract', letter: 'c', group: 'record' },
  { to: '/audit', name: 'Audit', icon: 'audit', letter: 'a', group: 'record' },
  { to: '/insights', name: 'Insights', icon: 'chart', letter: 'n', group: 'record' },
  { to: '/settings', name: 'Settings', icon: 'settings', letter: 's', group: 'settings' },
]
