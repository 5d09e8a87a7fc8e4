import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const HASH_CHARS = 16
/** Folders that one look finds at most. */
const FOLDERS_MAX = 100_000
const BEGUN = '.new'
const GONE = '.gone'

/** Where one task's own work tree lies: beside the state directory, which no agent sees, and under a name that does not tell its. */
export interface TreePlace {
  readonly name: string
  /** Everything of it. */
  readonly folder: string
  readonly tree: string
  /** The settings of its repository as they were written when it was made. */
  readonly config: string
  /** What git ignored in the repository besides its `.gitignore` files. */
  readonly excludes: string
  /** The id of its task. */
  readonly owner: string
  /** There until its task is recorded: nobody has worked in it. */
  readonly unused: string
}

export function getWorktreesDir(stateDir: string): string {
  const hash = createHash('sha256').update(stateDir).digest('hex').slice(0, HASH_CHARS)
  return join(dirname(stateDir), `worktrees-${hash}`)
}

export function getPlace(stateDir: string, taskId: string): TreePlace {
  const name = formatName(taskId)
  return makePlace(name, join(getWorktreesDir(stateDir), name))
}

/** Where it is made; it gets its name when all of it is there. */
export function makeBegunPlace(stateDir: string, taskId: string): TreePlace {
  const name = formatName(taskId)
  const mine = randomBytes(6).toString('hex')
  return makePlace(name, join(getWorktreesDir(stateDir), `${name}.${mine}${BEGUN}`))
}

export function formatBranch(taskId: string): string {
  return `phaselock/${formatName(taskId)}`
}

/** Removes the whole folder; half of a work tree is none, so its name goes first. */
export function removePlace(place: TreePlace): void {
  if (!existsSync(place.folder)) return
  const gone = `${place.folder}.${randomBytes(6).toString('hex')}${GONE}`
  renameSync(place.folder, gone)
  // What somebody still writes into, or has closed to us, waits for the next start: it belongs to no task any more.
  tryRemove(gone)
}

/** Names of the folders that lie there, and removes those that were begun or are on their way out. */
export function sweepPlaces(stateDir: string, onFault: (error: unknown) => void): readonly string[] {
  const dir = getWorktreesDir(stateDir)
  if (!existsSync(dir)) return []
  const names = readdirSync(dir).slice(0, FOLDERS_MAX)
  const isLeft = (name: string): boolean => name.endsWith(BEGUN) || name.endsWith(GONE)
  for (const name of names.filter(isLeft)) {
    const why = tryRemove(join(dir, name))
    if (why !== null) onFault(why)
  }
  return names.filter((name) => !isLeft(name))
}

/** Whose folder of this name it is: some names do not tell. */
export function readOwner(stateDir: string, name: string): string {
  try {
    const id = readFileSync(join(getWorktreesDir(stateDir), name, 'task'), 'utf8')
    return formatName(id) === name ? id : name
  } catch {
    return name
  }
}

/** Why the folder could not be removed; null: it is gone. */
function tryRemove(folder: string): unknown {
  try {
    rmSync(folder, { recursive: true, force: true })
    return null
  } catch (error) {
    return error
  }
}

// git takes no name of a branch with two dots or a dot at an end; a name that we end in something of our own is hashed as well.
function formatName(taskId: string): string {
  const isPlain = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/.test(taskId) && !/\.(lock|new|gone)$/.test(taskId)
  return isPlain ? taskId : `task-${createHash('sha256').update(taskId).digest('hex').slice(0, HASH_CHARS)}`
}

function makePlace(name: string, folder: string): TreePlace {
  const at = (part: string): string => join(folder, part)
  const files = { config: at('config'), excludes: at('excludes'), owner: at('task'), unused: at('unused') }
  return { name, folder, tree: at('tree'), ...files }
}
