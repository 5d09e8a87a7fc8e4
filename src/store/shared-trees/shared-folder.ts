import { randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { makeDirectory, syncDirectory, writeFileAtomically } from '../../base/atomic-file.js'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { takePrivateFolder } from '../state-directory.js'
import { StoreRefused } from '../store.js'
import { FileLock } from './file-lock.js'

const ID = /^trees-[0-9a-f]{16}$/
const ID_FILE = 'shared.id'
const BOUND = 'shared-trees.json'
/** What is kept about trees, by tree or by task. What is only a cache stays in the state directory. */
const KEPT = ['trees', 'views', 'stashes', 'merges']
const ABOUT = {
  name: 'folder of shared trees',
  option: '--shared-trees',
  holds: 'what is kept about work trees',
}

/** What nodes tell each other about their folder. */
export interface SharedTreesNote {
  readonly id: string
  readonly folder: string
}

/** The folder in which several nodes keep what they know about work trees on a disk that they share. */
export interface SharedFolder extends SharedTreesNote {
  /** Used instead of the state directory for what is kept about trees. */
  readonly keptDir: string
  /** Permissions that were tightened, as sentences. */
  readonly closed: readonly string[]
  /** The lock of a node. Two of the same node in one process exclude nobody. */
  lockOf(nodeId: string): FileLock
  /** Whether the node has ever used this folder. */
  hasNode(nodeId: string): boolean
}

interface Places {
  readonly stateDir: string
  readonly workspace: string
}

/**
 * Takes the folder that `--shared-trees` names, for this account alone, and binds the state directory to it. Throws
 * StoreRefused when it must not be used.
 */
export function takeSharedFolder(given: string, places: Places): SharedFolder {
  const asked = resolve(given)
  refuseOverlap(existsSync(asked) ? realpathSync(asked) : asked, places)
  const closed = takePrivateFolder(asked, ABOUT)
  // By its real path: parents may be links.
  const folder = realpathSync(asked)
  refuseOverlap(folder, places)
  const id = takeId(folder)
  const keptDir = join(folder, 'kept')
  for (const dir of [keptDir, join(folder, 'locks')]) makeDirectory(dir)
  bind(places.stateDir, { id, folder })
  const getLockFile = (nodeId: string): string => join(folder, 'locks', `${nodeId}.lock`)
  return {
    ...{ id, folder, keptDir, closed },
    lockOf: (nodeId) => new FileLock(getLockFile(nodeId)),
    hasNode: (nodeId) => existsSync(getLockFile(nodeId)),
  }
}

/** Refuses to start without the folder that a state directory is bound to: its trees would count as they are. */
export function refuseUnshared(stateDir: string): void {
  const bound = readBound(stateDir)
  if (bound === null) return
  throw new StoreRefused(
    'unreachable',
    `This node keeps what it knows about its work trees in ${bound.folder}. Start it with --shared-trees ${bound.folder}`,
  )
}

// An agent that works in the folder could change what is expected of its tree.
function refuseOverlap(folder: string, { stateDir, workspace }: Places): void {
  const refuse = (where: string): StoreRefused =>
    new StoreRefused(
      'unreachable',
      `The folder of shared trees ${folder} ${where}. Name an empty folder beside it with --shared-trees.`,
    )
  if (isAtOrBelow(workspace, folder)) throw refuse(`is inside the work tree ${workspace}, where agents could reach it`)
  if (isAtOrBelow(stateDir, folder))
    throw refuse(`is inside the state directory ${stateDir}, which belongs to one node`)
  if (isAtOrBelow(folder, stateDir)) throw refuse(`contains the state directory ${stateDir}, which holds every key`)
  if (isAtOrBelow(folder, workspace)) throw refuse(`contains the work tree ${workspace}`)
}

// The first node makes it. Trees are known by their paths, so every node must see the folder under the same one.
function takeId(folder: string): string {
  const file = join(folder, ID_FILE)
  if (!existsSync(file)) makeId(folder, file)
  const [id = '', at = ''] = readFileSync(file, 'utf8').trimEnd().split('\n')
  if (!ID.test(id))
    throw new StoreRefused(
      'unreachable',
      `${file} is not the id of a folder of shared trees. Restore it from a backup.`,
    )
  if (at === folder) return id
  throw new StoreRefused(
    'unreachable',
    `The folder of shared trees is ${folder} here and ${at} for the node that made it. Mount the disk so that it has the same path.`,
  )
}

function makeId(folder: string, file: string): void {
  const begun = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(begun, `trees-${randomBytes(8).toString('hex')}\n${folder}\n`, { mode: 0o600, flush: true })
  try {
    // Of several nodes that start at the same time, one makes it.
    linkSync(begun, file)
    syncDirectory(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(begun, { force: true })
  }
}

// What was kept before goes along at the first start with the folder.
function bind(stateDir: string, { id, folder }: SharedTreesNote): void {
  const bound = readBound(stateDir)
  if (bound !== null && bound.id !== id)
    throw new StoreRefused(
      'unreachable',
      `This node keeps what it knows about its work trees in ${bound.folder}, and ${folder} is another folder. Start it with --shared-trees ${bound.folder}`,
    )
  if (bound !== null) return
  const begun = join(folder, `begun-${randomBytes(6).toString('hex')}`)
  mkdirSync(begun, { mode: 0o700 })
  for (const name of KEPT)
    if (existsSync(join(stateDir, name)))
      cpSync(join(stateDir, name), join(begun, name), { recursive: true, preserveTimestamps: true })
  moveMissing(begun, join(folder, 'kept'))
  rmSync(begun, { recursive: true, force: true })
  writeFileAtomically(join(stateDir, BOUND), `${JSON.stringify({ id, folder })}\n`)
}

// What another node has put there stays as it is.
function moveMissing(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (!existsSync(target)) renameSync(source, target)
    else if (entry.isDirectory()) moveMissing(source, target)
  }
}

function readBound(stateDir: string): SharedTreesNote | null {
  const file = join(stateDir, BOUND)
  if (!existsSync(file)) return null
  try {
    const { id, folder } = JSON.parse(readFileSync(file, 'utf8')) as SharedTreesNote
    if (ID.test(id) && typeof folder === 'string') return { id, folder }
  } catch {
    // Refused below.
  }
  throw new StoreRefused('unreachable', `${file} cannot be read. Restore it from a backup of this state directory.`)
}
