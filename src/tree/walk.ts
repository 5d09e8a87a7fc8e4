import { closeSync, type Dirent, opendirSync } from 'node:fs'
import { type Kind, openDirectoryIn } from './lookup.js'

const DEPTH_MAX = 64
const NAMES_AT_ONCE = 256

/** One name met on the way through a tree. Good only until the next one: its directory is closed then. */
export interface Met {
  /** Relative to the directory the walk began in. */
  readonly path: string
  readonly name: string
  readonly kind: Kind
  /** 0 for what lies directly in the directory the walk began in. */
  readonly depth: number
  /** The open directory that holds the name. */
  readonly directoryFd: number
}

export interface Walk {
  /** Called when a directory was opened, before anything in it is met. */
  readonly enter?: (path: string, fd: number) => void
  /** Whether to go into a directory that was met. */
  readonly isEntered: (met: Met) => boolean
  /** Called for a directory that is there and may not be opened. */
  readonly denied?: (path: string) => void
  readonly entriesMax: number
}

/** The tree is larger or deeper than the walk may be. */
export class TooMuch extends Error {}

/**
 * Everything below an open directory, in the order of names, through open directories only: nothing outside is ever met, whatever
 * is renamed meanwhile. Throws when there is too much of it.
 */
export function* walkFrom(fd: number, walk: Walk): Generator<Met> {
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

function* walkInto(here: Here, walk: Walk, budget: Budget): Generator<Met> {
  if (here.depth > DEPTH_MAX) throw new TooMuch(`the work tree is nested deeper than ${DEPTH_MAX} folders`)
  walk.enter?.(here.path, here.fd)
  for (const entry of namesIn(here.fd, budget)) {
    const path = here.path === '' ? entry.name : `${here.path}/${entry.name}`
    const met: Met = { path, name: entry.name, kind: kindOf(entry), depth: here.depth, directoryFd: here.fd }
    yield met
    if (met.kind !== 'directory' || !walk.isEntered(met)) continue
    // Gone or swapped for something else since it was listed: then it is not part of the tree now.
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

function namesIn(fd: number, budget: Budget): readonly Dirent[] {
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

function kindOf(entry: Dirent): Kind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'special'
}
