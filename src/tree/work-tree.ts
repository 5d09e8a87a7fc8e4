import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256Hex } from '../base/sha256.js'
import { restoreListing, reuseListing } from './listings.js'
import {
  formatFdPath,
  formatIdentity,
  type OpenFile,
  openDirectory,
  openFile,
  openParent,
  splitPath,
} from './lookup.js'
import { groupNamesByFolder } from './names-by-folder.js'
import { getErrno, TreeUnreadable } from './problems.js'
import type { ProjectFiles } from './project-files.js'
import { readBytes, readChunks } from './read-bytes.js'
import { type MetEntry, walkFrom } from './walk.js'

const FILE_BYTES_MAX = 10 * 1024 * 1024
const HASHED_BYTES_MAX = 1024 * 1024 * 1024
const HASHES_KEPT_MAX = 200_000
const ENTRIES_MAX = 200_000
const ENTRIES_PER_TURN = 500
// File systems have coarse clocks: two writes this close together may have the same time.
const SETTLED_MS = 2_000

/** Output of installing and caching anywhere, and of building at the root: not the project's own files. */
export const NOT_THE_PROJECT: SkippedNames = {
  anywhere: new Set(['.git', 'node_modules', '.venv', '__pycache__', '.tox']),
  atRoot: new Set(['dist', 'target', 'coverage', 'venv']),
}

export interface SkippedNames {
  readonly anywhere: ReadonlySet<string>
  readonly atRoot: ReadonlySet<string>
}

export interface ListedFile {
  readonly path: string
  readonly isLink: boolean
}

/** Read-only access to a work tree that never leaves it, whatever links or renames occur. */
export interface WorkTree {
  /** null when there is no such regular file; throws when it is too large or cannot be read. */
  read(path: string): Promise<Buffer | null>
  /** Regular files and links below the root, in a stable order, without excluded folders. */
  list(skipped: SkippedNames): Promise<readonly ListedFile[]>
  /** The same of one folder, whether it belongs to the project or not; empty when there is none. */
  listFolder(folder: string): Promise<readonly ListedFile[]>
  /**
   * SHA-256 of the content, for a link also of its target; null when there is no such file. Throws when a link leaves
   * the tree, unless it is the interpreter of a virtual environment.
   */
  hash(path: string): Promise<string | null>
  /** The same of many files; null also for one that cannot be hashed. */
  hashEach(paths: Iterable<string>): Promise<ReadonlyMap<string, string | null>>
}

interface OpenOptions {
  /**
   * A folder of unchanged identity is not read again, and a listing that is equal to the one before is the same array.
   * Not for a view of several layers.
   */
  readonly reusesNames: boolean
  /** The project as a look at the tree listed it a moment ago; null: it is listed when asked for. */
  readonly files?: ProjectFiles | null
}

export function openWorkTree(
  root: string,
  { reusesNames, files = null }: OpenOptions = { reusesNames: false },
): WorkTree {
  const list = async (skipped: SkippedNames): Promise<readonly ListedFile[]> => {
    const isOfProject = skipped === NOT_THE_PROJECT
    if (files !== null && isOfProject) return restoreListing(root, files)
    const listed = await listInside(root, { skipped, reusesNames })
    return reusesNames && isOfProject ? reuseListing(root, listed) : listed
  }
  return {
    read: (path) => readInside(root, path),
    list,
    listFolder: (folder) => listFolder(root, folder, reusesNames),
    hash: (path) => hashInside(root, path),
    hashEach: (paths) => hashEachInside(root, paths),
  }
}

async function readInside(root: string, path: string): Promise<Buffer | null> {
  return useFile(root, path, async ({ fd }) => {
    const content = await readBytes(fd, FILE_BYTES_MAX + 1)
    if (content.length > FILE_BYTES_MAX) throw new TreeUnreadable(`${path} is larger than ${FILE_BYTES_MAX} bytes`)
    return content
  })
}

// Cached under everything that changes when a file is written: a hashed file is not read again for the next gate.
const hashes = new Map<string, string>()

async function hashInside(root: string, path: string): Promise<string | null> {
  const found = await useFile(root, path, async ({ fd, stat }) => {
    const identity = formatIdentity(stat)
    const known = hashes.get(identity)
    if (known !== undefined) return known
    if (stat.size > HASHED_BYTES_MAX) throw new TreeUnreadable(`${path} is larger than ${HASHED_BYTES_MAX} bytes`)
    const isSettled = Date.now() - Number(stat.ctimeMs) > SETTLED_MS
    const hash = createHash('sha256')
    for await (const chunk of readChunks(fd, HASHED_BYTES_MAX)) hash.update(chunk)
    const digest = hash.digest('hex')
    if (isSettled && formatIdentity(fstatSync(fd, { bigint: true })) === identity) keepHash(identity, digest)
    return digest
  })
  return found ?? hashOfLink(root, path)
}

async function hashEachInside(root: string, paths: Iterable<string>): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>()
  for (const [folder, names] of groupNamesByFolder(paths)) {
    const parts = splitPath(folder)
    const opened = parts === null ? null : openDirectory(root, parts)
    try {
      for (const name of names) {
        const path = posix.join(folder, name)
        const known = opened?.ok === true ? findKnownHash(opened.fd, name) : undefined
        found.set(path, known ?? (await hashInside(root, path).catch(() => null)))
        if (found.size % ENTRIES_PER_TURN === 0) await nextTurn()
      }
    } finally {
      if (opened?.ok === true) closeSync(opened.fd)
    }
  }
  return found
}

// What was read before is not even opened.
function findKnownHash(directoryFd: number, name: string): string | undefined {
  const stat = lstatSync(formatFdPath(directoryFd, name), { bigint: true, throwIfNoEntry: false })
  return stat?.isFile() === true ? hashes.get(formatIdentity(stat)) : undefined
}

function keepHash(identity: string, digest: string): void {
  if (hashes.size >= HASHES_KEPT_MAX) hashes.clear()
  hashes.set(identity, digest)
}

/** Folders of installed packages, in which the interpreter is a link to the one of the machine (`.venv/bin/python`). */
const INSTALLED = /(?:^|\/)(?:node_modules|\.venv|venv|\.tox|\.nox)\//
const LINKS_MAX = 8

// A link is hashed with its target: both must be unchanged, and both must be inside.
async function hashOfLink(root: string, path: string, links = 1): Promise<string | null> {
  const target = linkTarget(root, path)
  if (target === null) return null
  const program = findInterpreter(root, path)
  if (program !== null) return sha256Hex(`program:${target}:${program}`)
  const pointed = posix.normalize(posix.join(posix.dirname(path), target))
  const isInstalled = INSTALLED.test(path)
  const leaves = target.startsWith('/') || pointed.startsWith('..')
  if (leaves && isInstalled) return sha256Hex(`link:${target}`)
  if (leaves) throw new TreeUnreadable(`${path} is a link that leaves the work tree`)
  const content = await readInside(root, pointed)
  // A link to a link is hashed with the whole chain. The prefix distinguishes it from a file that contains such a hash.
  if (content === null && links < LINKS_MAX && linkTarget(root, pointed) !== null)
    return sha256Hex(`${isInstalled ? 'link' : 'links'}:${target}:${await hashOfLink(root, pointed, links + 1)}`)
  if (content === null) return hashOfLinkedFolder(root, path, { target, pointed })
  return sha256Hex(`link:${target}:`, content)
}

// A link to a folder is hashed with everything in it, if that ends: the folder contains neither the link nor a link to
// another folder.
async function hashOfLinkedFolder(
  root: string,
  path: string,
  { target, pointed }: { readonly target: string; readonly pointed: string },
): Promise<string> {
  const folder = pointed.replace(/\/$/, '')
  const parts = splitPath(folder)
  const opened = parts === null || parts.length === 0 ? null : openDirectory(root, parts)
  if (opened?.ok === true) closeSync(opened.fd)
  if (opened?.ok !== true || parts === null)
    throw new TreeUnreadable(`${path} is a link to something that is neither a file nor a folder of the work tree`)
  if (path.startsWith(`${folder}/`))
    throw new TreeUnreadable(`${path} is a link to a folder that holds the link itself`)
  const whole = createHash('sha256').update(`folder:${target}:`)
  // Installed packages are checked separately.
  if (INSTALLED.test(`${folder}/`)) return whole.digest('hex')
  for (const listed of await listInside(root, { skipped: NOTHING, parts })) {
    const at = `${folder}/${listed.path}`
    if (listed.isLink && (await readInside(root, posix.join(posix.dirname(at), linkTarget(root, at) ?? ''))) === null)
      throw new TreeUnreadable(
        `${path} is a link to a folder, and ${listed.path} in it is a link that leads to no file`,
      )
    whole.update(JSON.stringify([listed.path, await hashInside(root, at)]))
  }
  return whole.digest('hex')
}

const NOTHING: SkippedNames = { anywhere: new Set(), atRoot: new Set() }

/**
 * The target of a virtual environment's program outside the tree, as `python -m venv` makes it: the resolved path, and
 * what changes when the file there is replaced. Null for every other link.
 */
function findInterpreter(root: string, path: string): string | null {
  const [, environment] = /^(.+)\/bin\/[^/]+$/.exec(path) ?? []
  if (environment === undefined) return null
  const settings = openFile(root, `${environment}/pyvenv.cfg`)
  if (!settings.ok) return null
  closeSync(settings.fd)
  try {
    const program = realpathSync(join(root, path))
    if (!relative(realpathSync(root), program).startsWith('../')) return null
    const { mode, size, mtimeNs } = statSync(program, { bigint: true })
    const isProgram = (mode & S_IFMT) === S_IFREG && (mode & 0o111n) !== 0n
    return isProgram ? `${program}:${size}:${mtimeNs}` : null
  } catch {
    return null
  }
}

const S_IFMT = BigInt(constants.S_IFMT)
const S_IFREG = BigInt(constants.S_IFREG)

async function useFile<T>(root: string, path: string, work: (file: OpenFile) => Promise<T>): Promise<T | null> {
  const file = openFile(root, path)
  if (!file.ok) {
    if (file.problem === 'denied') throw new TreeUnreadable(`${path} cannot be read: permission denied`)
    return null
  }
  try {
    return await work(file)
  } finally {
    closeSync(file.fd)
  }
}

function linkTarget(root: string, path: string): string | null {
  const parent = openParent(root, path)
  if (!parent.ok) return null
  try {
    return readlinkSync(formatFdPath(parent.fd, parent.name))
  } catch (error) {
    if (['ENOENT', 'EINVAL', 'ENAMETOOLONG'].includes(getErrno(error))) return null
    throw error
  } finally {
    closeSync(parent.fd)
  }
}

interface ListOptions {
  readonly skipped: SkippedNames
  readonly parts?: readonly string[]
  readonly reusesNames?: boolean
}

async function listFolder(root: string, folder: string, reusesNames: boolean): Promise<readonly ListedFile[]> {
  const parts = splitPath(folder) ?? []
  const opened = openDirectory(root, parts)
  if (opened.ok) closeSync(opened.fd)
  else if (opened.problem === 'denied') throw new TreeUnreadable(`${folder} cannot be read: permission denied`)
  else return []
  const skipped = { ...NOT_THE_PROJECT, atRoot: NOTHING.atRoot }
  const below = await listInside(root, { skipped, parts, reusesNames })
  return below.map(({ path, isLink }) => ({ path: `${folder}/${path}`, isLink }))
}

async function listInside(
  root: string,
  { skipped, parts = [], reusesNames = false }: ListOptions,
): Promise<readonly ListedFile[]> {
  const opened = openDirectory(root, parts)
  if (!opened.ok) throw new TreeUnreadable(`the work tree ${root} cannot be opened`)
  const isSkipped = ({ name, depth }: MetEntry) =>
    skipped.anywhere.has(name) || (depth === 0 && skipped.atRoot.has(name))
  const denied = (path: string) => {
    throw new TreeUnreadable(`${path} cannot be read: permission denied`)
  }
  const found: ListedFile[] = []
  let met = 0
  try {
    for (const { path, kind } of walkFrom(opened.fd, {
      isEntered: (entry) => !isSkipped(entry),
      denied,
      entriesMax: ENTRIES_MAX,
      reusesNames,
    })) {
      met += 1
      if (met % ENTRIES_PER_TURN === 0) await nextTurn()
      if (kind === 'file' || kind === 'link') found.push({ path, isLink: kind === 'link' })
    }
  } finally {
    closeSync(opened.fd)
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}
