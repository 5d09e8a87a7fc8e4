import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { FileText } from '../load/bounded-files.js'

const BYTES_MAX = 1024 * 1024
export const ENTRIES_MAX = 1000

interface Entry {
  readonly name: string
  readonly isFolder: boolean
}

/** The files of a workflow. Nothing outside its folder is ever read, and no link is followed. */
export class Folder {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async open(path: string): Promise<Folder> {
    return new Folder(await realpath(path))
  }

  /** The text of a file, at most 1 MiB of UTF-8. */
  async readText(relative: string): Promise<FileText> {
    if (!isInside(relative)) return { status: 'refused', reason: "the path must stay below the contract's folder" }
    const path = join(this.path, relative)
    let file: FileHandle
    try {
      file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return { status: 'absent' }
      if (code === 'ELOOP') return { status: 'refused', reason: 'it is a link, and links are not followed' }
      return { status: 'refused', reason: `the file cannot be read (${code ?? 'fault'})` }
    }
    try {
      return await this.read(file, path)
    } finally {
      await file.close()
    }
  }

  /**
   * The entries of a folder by name, at most one more than `ENTRIES_MAX`; null when it is not a folder (a link does not
   * count).
   */
  async listEntries(relative: string): Promise<readonly Entry[] | null> {
    const path = join(this.path, relative)
    try {
      if (!isInside(relative) || (await realpath(path)) !== path || !(await lstat(path)).isDirectory()) return null
      const found = await readdir(path, { withFileTypes: true })
      return found
        .slice(0, ENTRIES_MAX + 1)
        .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return null
      throw cause
    }
  }

  // The opened file must be the one at this very path: a link in a parent folder leads elsewhere.
  private async read(file: FileHandle, path: string): Promise<FileText> {
    const opened = await file.stat()
    if (!opened.isFile()) return { status: 'refused', reason: 'it is not a regular file' }
    const real = await realpath(path).catch(() => null)
    const there = real === path ? await stat(path).catch(() => null) : null
    if (there === null || there.ino !== opened.ino || there.dev !== opened.dev)
      return { status: 'refused', reason: 'a link on the way to it leads elsewhere' }
    return readOpened(file)
  }
}

/** The text of an open file, at most 1 MiB of UTF-8. */
export async function readOpened(file: FileHandle): Promise<FileText> {
  const buffer = Buffer.alloc(BYTES_MAX + 1)
  let length = 0
  while (length <= BYTES_MAX) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null)
    if (bytesRead === 0) break
    length += bytesRead
  }
  if (length > BYTES_MAX) return { status: 'refused', reason: `the file is larger than ${BYTES_MAX} bytes` }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(buffer.subarray(0, length))
    return { status: 'text', text }
  } catch {
    return { status: 'refused', reason: 'the file is not UTF-8 text' }
  }
}

/** Whether a relative path stays below its folder, judged by its spelling. */
export function isInside(relative: string): boolean {
  return !relative.includes('\0') && !isAbsolute(relative) && !relative.split(/[/\\]/).includes('..')
}
