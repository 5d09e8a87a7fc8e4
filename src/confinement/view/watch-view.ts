import { closeSync, lstatSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { sha256Hex } from '../../base/sha256.js'
import { formatFdPath, openDirectory, splitPath } from '../../tree/lookup.js'
import { groupNamesByFolder } from '../../tree/names-by-folder.js'
import { TooMuch, walkFrom } from '../../tree/walk.js'
import type { Composition } from '../confinement.js'

const PROGRAM_BYTES_MAX = 8 * 1024 * 1024
const ENTRIES_MAX = 1_000_000
const ENTRIES_PER_TURN = 500
/** File times have at most this resolution in milliseconds: two changes within it look like one. */
const CLOCK_STEP_MS = 12
const FOLDERS_HELD_MAX = 200
const NOT_LOOKED_AT: ReadonlySet<string> = new Set(['.git', 'node_modules', '.venv', 'venv', '.tox', '__pycache__'])
/** Changes with every write: the change time cannot be set. */
type Stamp = string

/** Where a command writes: its whole view and, with an overlay, the layer that contains everything that was touched. */
interface Watched {
  readonly view: string
  readonly touched: string | null
}

/** Records the pinned and guarded files of a view before a command starts; returns those that it wrote afterwards. */
export async function watchView(
  at: Watched,
  { pinned, programs = [], isGuarded }: Composition,
): Promise<() => Promise<readonly string[]>> {
  const isProgram = new Set(programs)
  const before = await readStamps(at.view, pinned, isProgram)
  const isPinned = new Set(pinned)
  const isOther = (path: string): boolean => !isPinned.has(path) && isGuarded(path)
  const others = at.touched === null ? await readGuardedStamps(at.view, isOther) : NONE
  const newest = [...before.values(), ...others.values()].reduce((max, file) => Math.max(max, file.changedMs), 0)
  if (Date.now() - newest < CLOCK_STEP_MS) await wait(CLOCK_STEP_MS)
  return async () => {
    const written = findChanged(before, await readStamps(at.view, pinned, isProgram))
    try {
      const now = await readGuardedStamps(at.touched ?? at.view, isOther)
      return [...written, ...findChanged(others, now)].sort()
    } catch (error) {
      if (error instanceof TooMuch) return ['.']
      throw error
    }
  }
}

interface SeenFile {
  readonly stamp: Stamp
  readonly changedMs: number
}
type Stamps = ReadonlyMap<string, SeenFile>
const NONE: Stamps = new Map()
const GONE: SeenFile = { stamp: 'gone', changedMs: 0 }

function findChanged(before: Stamps, after: Stamps): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => before.get(path)?.stamp !== after.get(path)?.stamp)
}

// Folder by folder, never through a link: if a link replaced a folder, everything in it counts as gone.
async function readStamps(root: string, paths: readonly string[], isProgram: ReadonlySet<string>): Promise<Stamps> {
  const stamps = new Map<string, SeenFile>()
  let looked = 0
  for (const [folder, names] of groupNamesByFolder(paths)) {
    const opened = openDirectory(root, splitPath(folder) ?? [])
    for (const name of names) {
      const path = posix.join(folder, name)
      stamps.set(
        path,
        opened.ok ? (isProgram.has(path) ? readContentStamp(opened.fd, name) : readStamp(opened.fd, name)) : GONE,
      )
    }
    if (opened.ok) closeSync(opened.fd)
    looked += names.length
    if (looked % ENTRIES_PER_TURN < names.length) await nextTurn()
  }
  return stamps
}

async function readGuardedStamps(root: string, isOther: (path: string) => boolean): Promise<Stamps> {
  const opened = openDirectory(root, [])
  if (!opened.ok) return NONE
  const found = new Map<string, SeenFile>()
  let looked = 0
  try {
    const isEntered = ({ name }: { readonly name: string }): boolean => !NOT_LOOKED_AT.has(name)
    for (const { path, name, kind, directoryFd } of walkFrom(opened.fd, { isEntered, entriesMax: ENTRIES_MAX })) {
      if ((kind === 'file' || kind === 'link') && isOther(path)) found.set(path, readStamp(directoryFd, name))
      looked += 1
      if (looked % ENTRIES_PER_TURN === 0) await nextTurn()
    }
    return found
  } finally {
    closeSync(opened.fd)
  }
}

// Ignores the effects of a mode change.
function readContentStamp(directoryFd: number, name: string): SeenFile {
  const stat = lstatSync(formatFdPath(directoryFd, name), { bigint: true, throwIfNoEntry: false })
  if (stat === undefined || !stat.isFile() || stat.size > PROGRAM_BYTES_MAX) return readStamp(directoryFd, name)
  const content = sha256Hex(readFileSync(formatFdPath(directoryFd, name)))
  return { stamp: `${stat.mtimeNs} ${content}`, changedMs: Number(stat.ctimeMs) }
}

function readStamp(directoryFd: number, name: string): SeenFile {
  const stat = lstatSync(formatFdPath(directoryFd, name), { bigint: true, throwIfNoEntry: false })
  if (stat === undefined) return GONE
  return {
    stamp: `${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`,
    changedMs: Number(stat.ctimeMs),
  }
}

/**
 * The folders that lead to pinned files, from the top. In a copied view they are mounted onto themselves, so that none
 * of them can be moved away and back, which would change no file in it.
 */
export function listFoldersToHold({ pinned }: Composition): readonly string[] {
  const folders = new Set<string>()
  for (const path of pinned)
    for (let at = posix.dirname(path); at !== '.' && !folders.has(at); at = posix.dirname(at)) folders.add(at)
  const depth = (path: string): number => path.split('/').length
  return [...folders].sort((a, b) => depth(a) - depth(b)).slice(0, FOLDERS_HELD_MAX)
}
