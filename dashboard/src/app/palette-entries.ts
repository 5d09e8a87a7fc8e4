import { keys } from '../api/keys.js'
import { logOut } from '../api/session.js'
import { useRead } from '../api/use-api.js'
import type { IconName } from '../ui/icon.js'
import { toPlainText } from '../ui/plain-text.js'
import { openKeys } from './overlays.js'
import { PAGES } from './page-list.js'
import { switchTheme } from './preferences.js'

/** Something that the palette finds. It leads somewhere, or does something. */
export interface Entry {
  readonly group: 'Tasks' | 'Agents' | 'Actions' | 'Pages'
  readonly id: string
  readonly name: string
  readonly icon: IconName
  /** Said at the end of the line: a phase, or what an action does. */
  readonly side?: string
  readonly keys?: string
  readonly to?: string
  readonly run?: () => void
}

const PER_GROUP_MAX = 7

interface Tasks {
  readonly tasks: readonly {
    readonly id: string
    readonly title: string
    readonly phase: string
    readonly status: string
  }[]
}

interface Agents {
  readonly agents: readonly { readonly agent_id: string; readonly status: string }[]
}

/** What fits the words, best first, at most a few of each group. */
export function useEntries(words: string): readonly Entry[] {
  const tasks = useRead<Tasks>(keys.tasks({ limit: 1000 }), '/tasks', { query: { limit: 1000 } })
  const agents = useRead<Agents>(keys.agents, '/agents')
  const text = words.trim()
  const all: readonly Entry[] = [
    ...(tasks.data?.tasks ?? []).map(toTaskEntry),
    ...(agents.data?.agents ?? []).map(toAgentEntry),
    ...ACTIONS,
    ...PAGES.map(toPageEntry),
    ...(text === '' ? [] : [toLedgerSearch(text)]),
  ]
  const found = all
    .map((entry) => ({ entry, rank: rankEntry(entry, text) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .map(({ entry }) => entry)
  const groups =
    text === '' ? (['Pages', 'Actions', 'Tasks'] as const) : (['Tasks', 'Agents', 'Actions', 'Pages'] as const)
  return groups.flatMap((group) => found.filter((entry) => entry.group === group).slice(0, PER_GROUP_MAX + 1))
}

/** Where the words stand in a name; null when they do not. */
export function findMatch(name: string, words: string): { readonly start: number; readonly end: number } | null {
  const text = words.trim().toLowerCase()
  const start = text === '' ? -1 : name.toLowerCase().indexOf(text)
  return start === -1 ? null : { start, end: start + text.length }
}

// Whole words first, then beginnings of words, then anything that holds all words.
function rankEntry({ name, id }: Entry, text: string): number {
  if (text === '') return 1
  const [inName, inId] = [name.toLowerCase(), id.toLowerCase()]
  const lower = text.toLowerCase()
  if (inName.startsWith(lower) || inId === lower) return 4
  if (inName.includes(` ${lower}`)) return 3
  if (inName.includes(lower) || inId.includes(lower)) return 2
  return lower.split(/\s+/).every((word) => inName.includes(word) || inId.includes(word)) ? 1 : 0
}

const ACTIONS: readonly Entry[] = [
  { group: 'Actions', id: 'new-task', name: 'New task', icon: 'plus', to: '/board?new=true', keys: 'n' },
  {
    group: 'Actions',
    id: 'pause-all',
    name: 'Pause or unpause all agents',
    icon: 'pause',
    to: '/settings',
    side: 'in Settings',
  },
  { group: 'Actions', id: 'theme', name: 'Switch between light and dark', icon: 'theme', run: switchTheme },
  { group: 'Actions', id: 'keys', name: 'Show all keys', icon: 'list', keys: '?', run: openKeys },
  { group: 'Actions', id: 'log-out', name: 'Log out', icon: 'out', run: () => void logOut() },
]

function toTaskEntry({ id, title, phase }: Tasks['tasks'][number]): Entry {
  return {
    group: 'Tasks',
    id,
    name: toPlainText(title),
    icon: 'board',
    side: phase,
    to: `/tasks/${encodeURIComponent(id)}`,
  }
}

function toAgentEntry({ agent_id: id, status }: Agents['agents'][number]): Entry {
  return { group: 'Agents', id, name: id, icon: 'agent', side: status, to: `/agents/${encodeURIComponent(id)}` }
}

function toPageEntry({ to, name, icon, letter }: (typeof PAGES)[number]): Entry {
  return { group: 'Pages', id: to, name, icon, keys: `g ${letter}`, to }
}

function toLedgerSearch(text: string): Entry {
  const name = `Audit: search the ledger for “${text}”`
  return { group: 'Pages', id: 'ledger-search', name, icon: 'audit', to: `/audit?q=${encodeURIComponent(text)}` }
}
