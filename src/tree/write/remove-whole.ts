import { closeSync, opendirSync } from 'node:fs'
import { rmdir, unlink } from 'node:fs/promises'
import { formatFdPath, type Name, openDirectoryIn } from '../lookup.js'
import { getErrno } from '../problems.js'

const DEPTH_MAX = 256
const ENTRIES_MAX = 2_000_000
const NAMES_AT_ONCE = 256

/** Removes an entry with everything below it. Links are removed, never followed. False when it failed. */
export async function removeWhole(directoryFd: number, name: string): Promise<boolean> {
  try {
    await removeEntry(directoryFd, name, { depth: 0, budget: { left: ENTRIES_MAX } })
    return true
  } catch (error) {
    if (getErrno(error) === '') throw error
    return false
  }
}

interface Reach {
  readonly depth: number
  readonly budget: { left: number }
}

async function removeEntry(directoryFd: number, name: Name, reach: Reach): Promise<void> {
  const opened = openDirectoryIn(directoryFd, name)
  if (!opened.ok) {
    if (opened.problem !== 'missing') await unlink(formatFdPath(directoryFd, name))
    return
  }
  try {
    if (reach.depth < DEPTH_MAX) await removeContents(opened.fd, { ...reach, depth: reach.depth + 1 })
  } finally {
    closeSync(opened.fd)
  }
  await rmdir(formatFdPath(directoryFd, name))
}

async function removeContents(fd: number, reach: Reach): Promise<void> {
  for (let names = readSomeNames(fd); names.length > 0; names = readSomeNames(fd)) {
    for (const name of names) {
      reach.budget.left -= 1
      // Another process may add names as fast as they are removed.
      if (reach.budget.left < 0) return
      await removeEntry(fd, name, reach)
    }
  }
}

// As bytes: a name that is not UTF-8 could not be removed by its text.
function readSomeNames(fd: number): readonly Buffer[] {
  const directory = opendirSync(`/proc/self/fd/${fd}`, { bufferSize: NAMES_AT_ONCE, encoding: 'latin1' })
  const names: Buffer[] = []
  try {
    for (let entry = directory.readSync(); entry !== null && names.length < NAMES_AT_ONCE; entry = directory.readSync())
      names.push(Buffer.from(entry.name, 'latin1'))
  } finally {
    directory.closeSync()
  }
  return names
}
