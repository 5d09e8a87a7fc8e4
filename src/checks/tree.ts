import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { type FileHandle, open, readdir, readlink } from 'node:fs/promises'

const FILE_BYTES_MAX = 10 * 1024 * 1024
const ENTRIES_MAX = 200_000
const DEPTH_MAX = 64
/** Folders that hold what was installed or built: their test files are not the project's tests. */
export const INSTALLED_OR_BUILT: ReadonlySet<string> = new Set([
  '.git',
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.tox',
  'dist',
  'target',
  'coverage',
])

/** Read-only look at a work tree that never leaves it, whatever links or renames are in the way. */
export interface WorkTree {
  /** null when there is no such regular file; throws when it is too large or cannot be read. */
  read(path: string): Promise<Buffer | null>
  /** Regular files and links below the root, in a stable order. Folders of these names are left out. */
  list(skipped: ReadonlySet<string>): Promise<readonly string[]>
  /** SHA-256 of the content (of the target for a link); null when there is no such file. */
  hash(path: string): Promise<string | null>
}

export function openWorkTree(root: string): WorkTree {
  return {
    read: (path) => readInside(root, path),
    list: (skipped) => listInside(root, skipped),
    hash: async (path) => {
      const content = await readInside(root, path)
      if (content !== null) return createHash('sha256').update(content).digest('hex')
      return hashOfLink(root, path)
    },
  }
}

// Walks component by component through open directories: a check of the whole path followed by an open of it could be raced.
async function readInside(root: string, path: string): Promise<Buffer | null> {
  const handle = await openInside(root, path)
  if (handle === null) return null
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return null
    if (stat.size > FILE_BYTES_MAX) throw new Error(`${path} is larger than ${FILE_BYTES_MAX} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

async function openInside(root: string, path: string): Promise<FileHandle | null> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || parts.includes('..') || path.startsWith('/') || path.includes('\0')) return null
  const name = parts.pop() ?? ''
  const parent = await openDirectory(root, parts)
  if (parent === null) return null
  try {
    return await openEntry(parent, name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
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
    const next = await openEntry(
      handle,
      part,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY,
    ).finally(() => handle.close())
    if (next === null) return null
    handle = next
  }
  return handle
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EMLINK'])

async function openEntry(directory: FileHandle, name: string, flags: number): Promise<FileHandle | null> {
  try {
    return await open(`/proc/self/fd/${directory.fd}/${name}`, flags)
  } catch (error) {
    if (ABSENT.has(codeOf(error))) return null
    throw error
  }
}

async function hashOfLink(root: string, path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(`link:${await readlink(`${root}/${path}`)}`)
      .digest('hex')
  } catch (error) {
    if (ABSENT.has(codeOf(error)) || codeOf(error) === 'EINVAL') return null
    throw error
  }
}

async function listInside(root: string, skipped: ReadonlySet<string>): Promise<readonly string[]> {
  const found: string[] = []
  let seen = 0
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > DEPTH_MAX) throw new Error(`the work tree is nested deeper than ${DEPTH_MAX} folders`)
    for (const entry of await readdir(folder === '' ? root : `${root}/${folder}`, { withFileTypes: true })) {
      seen += 1
      if (seen > ENTRIES_MAX) throw new Error(`the work tree has more than ${ENTRIES_MAX} entries`)
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) await walk(path, depth + 1)
      } else if (entry.isFile() || entry.isSymbolicLink()) found.push(path)
    }
  }
  await walk('', 0)
  return found.sort()
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
