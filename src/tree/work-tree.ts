import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { type FileHandle, open, readdir, readlink } from 'node:fs/promises'
import { posix } from 'node:path'

const FILE_BYTES_MAX = 10 * 1024 * 1024
const HASHED_BYTES_MAX = 1024 * 1024 * 1024
const ENTRIES_MAX = 200_000
const DEPTH_MAX = 64
const HASHES_KEPT_MAX = 200_000

/** What installing and caching makes, wherever it lies, and what building makes at the root: not the project's own files. */
export const NOT_THE_PROJECT: Skipped = {
  anywhere: new Set(['.git', 'node_modules', '.venv', '__pycache__', '.tox']),
  atRoot: new Set(['dist', 'target', 'coverage', 'venv']),
}

export interface Skipped {
  readonly anywhere: ReadonlySet<string>
  readonly atRoot: ReadonlySet<string>
}

export interface Listed {
  readonly path: string
  readonly isLink: boolean
}

/** Read-only look at a work tree that never leaves it, whatever links or renames are in the way. */
export interface WorkTree {
  /** null when there is no such regular file; throws when it is too large or cannot be read. */
  read(path: string): Promise<Buffer | null>
  /** Regular files and links below the root, in a stable order, without the folders to be left out. */
  list(skipped: Skipped): Promise<readonly Listed[]>
  /** SHA-256 of the content, for a link of its target as well; null when there is no such file; throws when a link leaves the tree. */
  hash(path: string): Promise<string | null>
  /** SHA-256 over every path and content of the project: equal when nothing in it has changed. */
  fingerprint(): Promise<string>
}

export function openWorkTree(root: string): WorkTree {
  return {
    read: (path) => readInside(root, path),
    list: (skipped) => listInside(root, skipped),
    hash: (path) => hashInside(root, path),
    fingerprint: () => fingerprintOf(root),
  }
}

async function fingerprintOf(root: string): Promise<string> {
  const whole = createHash('sha256')
  for (const { path, isLink } of await listInside(root, NOT_THE_PROJECT)) {
    const hash = isLink ? `link ${await linkTarget(root, path)}` : await hashInside(root, path)
    whole.update(JSON.stringify([path, hash]))
  }
  return whole.digest('hex')
}

async function readInside(root: string, path: string): Promise<Buffer | null> {
  return withFile(root, path, async (handle, size) => {
    if (size > FILE_BYTES_MAX) throw new Error(`${path} is larger than ${FILE_BYTES_MAX} bytes`)
    return handle.readFile()
  })
}

// Kept by everything that changes when a file is written: what was hashed once is not read again for the next gate.
const hashes = new Map<string, string>()

async function hashInside(root: string, path: string): Promise<string | null> {
  const found = await withFile(root, path, async (handle, size, identity) => {
    const known = hashes.get(identity)
    if (known !== undefined) return known
    if (size > HASHED_BYTES_MAX) throw new Error(`${path} is larger than ${HASHED_BYTES_MAX} bytes`)
    const hash = createHash('sha256')
    for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Buffer)
    const digest = hash.digest('hex')
    if (hashes.size >= HASHES_KEPT_MAX) hashes.clear()
    hashes.set(identity, digest)
    return digest
  })
  return found ?? hashOfLink(root, path)
}

// A link stands for what it points to: both must stay as they were, and both must be inside.
async function hashOfLink(root: string, path: string): Promise<string | null> {
  const target = await linkTarget(root, path)
  if (target === null) return null
  const inside = posix.normalize(posix.join(posix.dirname(path), target))
  if (target.startsWith('/') || inside.startsWith('..')) throw new Error(`${path} is a link that leaves the work tree`)
  const content = await readInside(root, inside)
  if (content === null) throw new Error(`${path} is a link to something that is no file`)
  return createHash('sha256').update(`link:${target}:`).update(content).digest('hex')
}

type Work<T> = (handle: FileHandle, size: number, identity: string) => Promise<T>

async function withFile<T>(root: string, path: string, work: Work<T>): Promise<T | null> {
  return withParent(root, path, async (parent, name) => {
    const handle = await openEntry(parent, name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if (handle === null) return null
    try {
      const stat = await handle.stat({ bigint: true })
      if (!stat.isFile()) return null
      const identity = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(':')
      return await work(handle, Number(stat.size), identity)
    } finally {
      await handle.close()
    }
  })
}

async function linkTarget(root: string, path: string): Promise<string | null> {
  return withParent(root, path, async (parent, name) => {
    try {
      return await readlink(`/proc/self/fd/${parent.fd}/${name}`)
    } catch (error) {
      if (ABSENT.has(codeOf(error)) || codeOf(error) === 'EINVAL') return null
      throw error
    }
  })
}

// Walks component by component through open directories: a check of the whole path followed by an open of it could be raced.
async function withParent<T>(
  root: string,
  path: string,
  work: (parent: FileHandle, name: string) => Promise<T | null>,
): Promise<T | null> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || parts.includes('..') || path.startsWith('/') || path.includes('\0')) return null
  const name = parts.pop() ?? ''
  const parent = await openDirectory(root, parts)
  if (parent === null) return null
  try {
    return await work(parent, name)
  } finally {
    await parent.close()
  }
}

async function openDirectory(root: string, parts: readonly string[]): Promise<FileHandle | null> {
  // Without these links there is no way to open a name inside an open directory: then nothing can be read safely.
  if (!existsSync('/proc/self/fd'))
    throw new Error('work trees cannot be read safely on this system (no /proc/self/fd)')
  let handle = await open(root, constants.O_RDONLY | constants.O_DIRECTORY)
  for (const part of parts) {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY
    const next = await openEntry(handle, part, flags).finally(() => handle.close())
    if (next === null) return null
    handle = next
  }
  return handle
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EMLINK', 'ENAMETOOLONG'])

async function openEntry(directory: FileHandle, name: string, flags: number): Promise<FileHandle | null> {
  try {
    return await open(`/proc/self/fd/${directory.fd}/${name}`, flags)
  } catch (error) {
    if (ABSENT.has(codeOf(error))) return null
    throw error
  }
}

async function listInside(root: string, skipped: Skipped): Promise<readonly Listed[]> {
  const found: Listed[] = []
  let seen = 0
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > DEPTH_MAX) throw new Error(`the work tree is nested deeper than ${DEPTH_MAX} folders`)
    for (const entry of await readdir(folder === '' ? root : `${root}/${folder}`, { withFileTypes: true })) {
      seen += 1
      if (seen > ENTRIES_MAX) throw new Error(`the work tree has more than ${ENTRIES_MAX} entries`)
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        const isSkipped = skipped.anywhere.has(entry.name) || (depth === 0 && skipped.atRoot.has(entry.name))
        if (!isSkipped) await walk(path, depth + 1)
      } else if (entry.isFile() || entry.isSymbolicLink()) found.push({ path, isLink: entry.isSymbolicLink() })
    }
  }
  await walk('', 0)
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
