import { closeSync, type Dirent, fstatSync, opendirSync } from 'node:fs'
import { FOLDERS_MAX, isTooLong } from './limits.js'
import { formatIdentity, type Kind, openDirectoryIn } from './lookup.js'
import { TreeUnreadable } from './problems.js'

const NAMES_AT_ONCE = 256
const NAMES_KEPT_MAX = 500_000
// File systems have coarse clocks: two changes this close together may have the same time.
const SETTLED_MS = 2_000

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
  /**
   * Whether a directory whose identity is unchanged has the same names. Not for a view of several layers: names of a
   * lower layer come and go without a change of the folder above.
   */
  readonly reusesNames?: boolean
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
  const names = walk.reusesNames === true ? reuseNames(here.fd, budget) : { entries: readNames(here.fd, budget) }
  const paths = joinPaths(names, here.path)
  for (const [at, entry] of names.entries.entries()) {
    const path = paths[at] ?? ''
    if (here.depth > FOLDERS_MAX || isTooLong(path)) {
      walk.tooDeep?.(path)
      continue
    }
    const { name, kind } = entry
    const met: MetEntry = { path, folder: here.path, name, kind, depth: here.depth, directoryFd: here.fd }
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

interface NamedEntry {
  readonly name: string
  readonly kind: Kind
}

interface FolderNames {
  readonly entries: readonly NamedEntry[]
  /** The paths of the entries when the folder was last walked. */
  walked?: { readonly folder: string; readonly paths: readonly string[] }
}

// By everything that changes when an entry of a folder is added, removed, renamed or replaced.
const kept = new Map<string, FolderNames>()
let keptNames = 0

// The same texts as in the walk before: what is remembered about a path is found sooner under the same text.
function joinPaths(names: FolderNames, folder: string): readonly string[] {
  if (names.walked?.folder === folder) return names.walked.paths
  const paths = names.entries.map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
  names.walked = { folder, paths }
  return paths
}

/** The same as `readNames`, without reading an unchanged directory again. */
function reuseNames(fd: number, budget: Budget): FolderNames {
  const stat = fstatSync(fd, { bigint: true })
  const identity = formatIdentity(stat)
  const known = kept.get(identity)
  if (known !== undefined) {
    budget.left -= known.entries.length
    if (budget.left < 0) throw new TooMuch(`the work tree has more than ${budget.max} entries`)
    return known
  }
  const isSettled = Date.now() - Number(stat.ctimeMs) > SETTLED_MS
  const names = { entries: readNames(fd, budget) }
  if (isSettled && formatIdentity(fstatSync(fd, { bigint: true })) === identity) keepNames(identity, names)
  return names
}

function keepNames(identity: string, names: FolderNames): void {
  const { length } = names.entries
  keptNames += length + 1
  if (keptNames > NAMES_KEPT_MAX) {
    kept.clear()
    keptNames = length + 1
  }
  kept.set(identity, names)
}

/** The entries of an open directory, in the order of names. */
function readNames(fd: number, budget: Budget): readonly NamedEntry[] {
  const names: NamedEntry[] = []
  const directory = opendirSync(`/proc/self/fd/${fd}`, { bufferSize: NAMES_AT_ONCE })
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      budget.left -= 1
      if (budget.left < 0) throw new TooMuch(`the work tree has more than ${budget.max} entries`)
      names.push({ name: entry.name, kind: toKind(entry) })
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
