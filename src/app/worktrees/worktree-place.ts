import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import type { Resources } from '../resources.js'

const HASH_CHARS = 16
/** Maximum number of folders found in one scan. */
const FOLDERS_MAX = 100_000
const BEGUN = '.new'
const GONE = '.gone'

/**
 * The place of one task's own work tree: next to the state directory, hidden from agents, and under a name that does
 * not reveal the state directory's.
 */
export interface TreePlace {
  readonly name: string
  /** The whole folder. */
  readonly folder: string
  readonly tree: string
  /** The settings of its repository as they were at creation. */
  readonly config: string
  /** What git ignored in the repository besides its `.gitignore` files. */
  readonly excludes: string
  /** The id of its task. */
  readonly owner: string
  /** Exists until its task is recorded: nobody has worked in it. */
  readonly unused: string
}

export function getWorktreesDir(stateDir: string): string {
  const hash = sha256Hex(stateDir).slice(0, HASH_CHARS)
  return join(dirname(stateDir), `worktrees-${hash}`)
}

export function getPlace(stateDir: string, taskId: string): TreePlace {
  const name = formatName(taskId)
  return makePlace(name, join(getWorktreesDir(stateDir), name))
}

/** The same for a task that may have been made before the trees of this node were shared. */
export function findPlace(app: Pick<Resources, 'stateDir' | 'keptDir'>, taskId: string): TreePlace {
  const earlier = getPlace(app.stateDir, taskId)
  return existsSync(earlier.folder) ? earlier : getPlace(app.keptDir, taskId)
}

/** The folder in which it is built; renamed when complete. */
export function makeBegunPlace(stateDir: string, taskId: string): TreePlace {
  const name = formatName(taskId)
  const mine = randomBytes(6).toString('hex')
  return makePlace(name, join(getWorktreesDir(stateDir), `${name}.${mine}${BEGUN}`))
}

export function formatBranch(taskId: string): string {
  return `phaselock/${formatName(taskId)}`
}

/** Removes the whole folder; renames it first, because a partial work tree must not be found. */
export function removePlace(place: TreePlace): void {
  if (!existsSync(place.folder)) return
  const gone = `${place.folder}.${randomBytes(6).toString('hex')}${GONE}`
  renameSync(place.folder, gone)
  // A folder that is still being written or is inaccessible waits for the next start: it belongs to no task any more.
  tryRemove(gone)
}

/** Lists the folders there, and removes unfinished and deleted ones; null: they may belong to another node. */
export function sweepPlaces(stateDir: string, onFault: ((error: unknown) => void) | null): readonly string[] {
  const dir = getWorktreesDir(stateDir)
  if (!existsSync(dir)) return []
  const names = readdirSync(dir).slice(0, FOLDERS_MAX)
  const isLeft = (name: string): boolean => name.endsWith(BEGUN) || name.endsWith(GONE)
  for (const name of onFault === null ? [] : names.filter(isLeft)) {
    const why = tryRemove(join(dir, name))
    if (why !== null) onFault?.(why)
  }
  return names.filter((name) => !isLeft(name))
}

/** The task of a folder name: some names do not reveal it. */
export function readOwner(stateDir: string, name: string): string {
  try {
    const id = readFileSync(join(getWorktreesDir(stateDir), name, 'task'), 'utf8')
    return formatName(id) === name ? id : name
  } catch {
    return name
  }
}

/** Why the folder could not be removed; null: it was removed. */
function tryRemove(folder: string): unknown {
  try {
    rmSync(folder, { recursive: true, force: true })
    return null
  } catch (error) {
    return error
  }
}

// git accepts no branch name with two dots or a dot at either end; a name with one of our own suffixes is hashed as
// well.
function formatName(taskId: string): string {
  const isPlain = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/.test(taskId) && !/\.(lock|new|gone)$/.test(taskId)
  return isPlain ? taskId : `task-${sha256Hex(taskId).slice(0, HASH_CHARS)}`
}

function makePlace(name: string, folder: string): TreePlace {
  const at = (part: string): string => join(folder, part)
  const files = { config: at('config'), excludes: at('excludes'), owner: at('task'), unused: at('unused') }
  return { name, folder, tree: at('tree'), ...files }
}
