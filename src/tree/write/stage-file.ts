import { createHash, type Hash } from 'node:crypto'
import { type BigIntStats, close, closeSync, constants, fchmod, fchown, fstatSync, fsync, open, write } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { formatFdPath, formatInode, type OpenResult } from '../lookup.js'
import { ignoreGone, makeRefused, type TreeRefusal } from '../problems.js'
import { readChunks } from '../read-bytes.js'
import type { Content } from './tree-steps.js'

const openFile = promisify(open)
const closeFile = promisify(close)
const changeMode = promisify(fchmod)
const changeOwner = promisify(fchown)
const syncFile = promisify(fsync)
const writeChunk = promisify(write)

const STAGED_BYTES_MAX = 1024 * 1024 * 1024
const NEW_FILE_MODE = 0o644
const PRIVATE_MODE = 0o600
/** Setuid, setgid and sticky are never kept. */
export const MODE_MASK = 0o777

/** A complete and durable file, under an unpredictable name, next to the one it will replace. */
export interface StagedFile {
  readonly directory: string
  readonly name: string
  readonly inode: string
  readonly bytes: number
  readonly sha256: string
}

interface ToStage {
  readonly directoryFd: number
  readonly name: string
  /** Written one after the other. */
  readonly contents: readonly Content[]
  /** null: 0644 within the umask. */
  readonly mode: number | null
  readonly path: string
}

export async function stage({
  directoryFd,
  name,
  contents,
  mode,
  path,
}: ToStage): Promise<OpenResult<{ readonly staged: StagedFile }>> {
  const directory = fstatSync(directoryFd, { bigint: true })
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW
  // Private until its mode is known: what replaces a private file is private from its first byte.
  const fd = await openFile(formatFdPath(directoryFd, name), flags, mode === null ? NEW_FILE_MODE : PRIVATE_MODE)
  let isWhole = false
  try {
    await giveToOwnerOf(directory, fd)
    if (mode !== null) await changeMode(fd, mode & MODE_MASK)
    const written = await writeContents(fd, contents, path)
    if (!written.ok) return written
    await syncFile(fd)
    const inode = formatInode(fstatSync(fd, { bigint: true }))
    isWhole = true
    return { ok: true, staged: { directory: formatInode(directory), name, inode, ...written.sum } }
  } finally {
    await closeFile(fd)
    if (!isWhole) await ignoreGone(unlink(formatFdPath(directoryFd, name)))
  }
}

interface Sum {
  readonly bytes: number
  readonly sha256: string
}

async function writeContents(
  fd: number,
  contents: readonly Content[],
  path: string,
): Promise<{ readonly ok: true; readonly sum: Sum } | TreeRefusal> {
  const hash = createHash('sha256')
  let bytes = 0
  for (const content of contents) {
    bytes += await writeContent(fd, content, hash)
    if (bytes > STAGED_BYTES_MAX) return makeRefused('too_large', path)
  }
  return { ok: true, sum: { bytes, sha256: hash.digest('hex') } }
}

async function writeContent(fd: number, content: Content, hash: Hash): Promise<number> {
  if (typeof content !== 'function') {
    hash.update(content)
    await writeAll(fd, content)
    return content.length
  }
  const from = content()
  let bytes = 0
  try {
    for await (const chunk of readChunks(from, STAGED_BYTES_MAX + 1)) {
      hash.update(chunk)
      await writeAll(fd, chunk)
      bytes += chunk.length
    }
  } finally {
    closeSync(from)
  }
  return bytes
}

async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  let at = 0
  while (at < bytes.length) at += (await writeChunk(fd, bytes, at, bytes.length - at)).bytesWritten
}

/** Only root may change owners. By descriptor, never by name: the name could refer to another file by now. */
export async function giveToOwnerOf(directory: BigIntStats, fd: number): Promise<void> {
  if (process.geteuid?.() !== 0) return
  const stat = fstatSync(fd, { bigint: true })
  if (stat.uid === directory.uid && stat.gid === directory.gid) return
  await changeOwner(fd, Number(directory.uid), Number(directory.gid))
}
