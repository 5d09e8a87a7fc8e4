import { closeSync, type Dirent, opendirSync } from 'node:fs'
import { FOLDERS_MAX, isTooLong } from './limits.js'
import { type Kind, openDirectoryIn } from './lookup.js'
import { TreeUnreadable } from './problems.js'

const NAMES_AT_ONCE = 256

/** One entry of a tree. Valid until the next one: its directory is closed then. */
export interface MetEntry {
  /** Relative to the directory the walk began in. */
  readonly path: string
  /** The path of its directory, '' for the start of the walk. */
  readonly folder: string
  readonly name: string
  readonly kind: Kind
  /** 0 for entries directly in the start directory. */
  readonly depth: number
  /** The open directory that holds the name. */
  readonly directoryFd: number
}

interface Walk {
  /** Called when a directory was opened, before its entries are visited. */
  readonly enter?: (path: string, fd: number) => void
  /** Whether to enter a directory. */
  readonly isEntered: (met: MetEntry) => boolean
  /** Called for a directory that exists but cannot be opened. */
  readonly denied?: (path: string) => void
  /** Called for entries that are too deep: a name that is not visited, or a directory that is not entered. */
  readonly tooDeep?: (path: string) => void
  readonly entriesMax: number
}

/** The tree is larger than the walk may be. */
export class TooMuch extends TreeUnreadable {}

/**
 * Everything below an open directory, in the order of names, through open directories only: nothing outside is ever
 * visited, whatever is renamed meanwhile. Throws when there is too much; entries that are too deep are left out.
 */
export function* walkFrom(fd: number, walk: Walk): Generator<MetEntry> {
  yield* walkInto({ fd, path: '', depth: 0 }, walk, { left: walk.entriesMax, max: walk.entriesMax })
}

interface Budget {
  left: number
  readonly max: number
}

interface Here {
  readonly fd: number
  readonly path: string
  readonly depth: number
}

function* walkInto(here: Here, walk: Walk, budget: Budget): Generator<MetEntry> {
  walk.enter?.(here.path, here.fd)
  for (const entry of readNames(here.fd, budget)) {
    const path = here.path === '' ? entry.name : `${here.path}/${entry.name}`
    if (here.depth > FOLDERS_MAX || isTooLong(path)) {
      walk.tooDeep?.(path)
      continue
    }
    const { name } = entry
    const met: MetEntry = {
      ...{ path, folder: here.path, name, kind: toKind(entry), depth: here.depth, directoryFd: here.fd },
    }
    yield met
    if (met.kind !== 'directory' || !walk.isEntered(met)) continue
    // No entry of it could be visited.
    if (here.depth >= FOLDERS_MAX) {
      walk.tooDeep?.(path)
      continue
    }
    // Removed or replaced since it was listed: then it is not part of the tree now.
    const next = openDirectoryIn(here.fd, entry.name)
    if (!next.ok) {
      if (next.problem === 'denied') walk.denied?.(path)
      continue
    }
    try {
      yield* walkInto({ fd: next.fd, path, depth: here.depth + 1 }, walk, budget)
    } finally {
      closeSync(next.fd)
    }
  }
}

function readNames(fd: number, budget: Budget): readonly Dirent[] {
  const names: Dirent[] = []
  const directory = opendirSync(`/proc/self/fd/${fd}`, { bufferSize: NAMES_AT_ONCE })
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      budget.left -= 1
      if (budget.left < 0) throw new TooMuch(`the work tree has more than ${budget.max} entries`)
      names.push(entry)
    }
  } finally {
    directory.closeSync()
  }
  return names.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function toKind(entry: Dirent): Kind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'special'
}
