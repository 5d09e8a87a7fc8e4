import { createHash } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import type { Entry } from '../lookup.js'
import { getErrno } from '../problems.js'
import { readChunks } from '../read-bytes.js'

/** SHA-256 of the file that was looked at, whatever has its name by now; null for an unreadable one. */
export async function hashEntry({ fd, stat }: Entry): Promise<string | null> {
  let opened: number
  try {
    opened = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (getErrno(error) !== 'EACCES') throw error
    return null
  }
  const hash = createHash('sha256')
  try {
    for await (const chunk of readChunks(opened, Number(stat.size))) hash.update(chunk)
  } finally {
    closeSync(opened)
  }
  return hash.digest('hex')
}
