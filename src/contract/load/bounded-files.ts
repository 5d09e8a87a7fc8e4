import { constants } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { ContractCode } from '../diagnostic.js'
import { Folder, isInside, readOpened } from '../documents/folder.js'

export type FileText =
  | { readonly status: 'text'; readonly text: string }
  | { readonly status: 'absent' }
  | { readonly status: 'refused'; readonly reason: string }

/** Looks up files below one folder; without a folder nothing is ever found. */
export type FileLookup = (relative: string) => Promise<FileText>

const NOT_REGULAR: FileText = { status: 'refused', reason: 'it is not a regular file' }
const OUTSIDE: FileText = { status: 'refused', reason: "the path must stay below the contract's folder" }

/** Links are followed inside the folder and never out of it. */
export function makeFileLookup(baseDir: string | null): FileLookup {
  return async (path) => {
    if (!isInside(path)) return OUTSIDE
    if (baseDir === null) return { status: 'absent' }
    try {
      const folder = await Folder.open(baseDir)
      const target = relative(folder.path, await realpath(join(folder.path, path)))
      return isInside(target) ? await folder.readText(target) : OUTSIDE
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return { status: 'absent' }
      return { status: 'refused', reason: `the file cannot be read (${code ?? 'fault'})` }
    }
  }
}

/** A UTF-8 text file of at most 1 MiB. */
export async function readBounded(path: string): Promise<FileText> {
  try {
    // Opening a device can have effects, and opening a pipe can block forever.
    if (!(await stat(path)).isFile()) return NOT_REGULAR
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return await readOpened(file)
    } finally {
      await file.close()
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return { status: 'absent' }
    return { status: 'refused', reason: `the file cannot be read (${code ?? String(cause)})` }
  }
}

/** The code for why a file was refused. */
export function getCodeOfReason(reason: string): ContractCode {
  if (reason.includes('larger')) return 'contract.too_large'
  return reason.includes('UTF-8') ? 'contract.not_utf8' : 'contract.unreadable'
}
