import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK_WORD = 'phaselock merge'
const LOCK_BYTES_MAX = 100
const LOCK_TRIES_MAX = 20
const LOCK_WAIT_MS = 100

/**
 * Takes a git lock under our name; false: another process has it. The lock file is created with its content: an empty
 * one is never ours.
 */
export async function takeLock(lock: string, own: string): Promise<boolean> {
  const word = `${own}.word`
  for (let attempt = 0; attempt < LOCK_TRIES_MAX; attempt += 1) {
    writeFileSync(word, `${LOCK_WORD} ${process.pid} ${readStartTime(process.pid) ?? ''}`)
    try {
      linkSync(word, lock)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (isLeft(lock)) rmSync(lock, { force: true })
      else await sleep(LOCK_WAIT_MS)
    } finally {
      rmSync(word, { force: true })
    }
  }
  return false
}

// A server runs one merge per repository at a time: a lock with our process id was left by an earlier process.
function isLeft(lock: string): boolean {
  const text = readText(lock)
  if (text === null || !text.startsWith(LOCK_WORD)) return false
  const [pid = '', born = ''] = text.slice(LOCK_WORD.length).trim().split(' ')
  if (pid === '' || Number(pid) === process.pid) return true
  const now = readStartTime(Number(pid))
  return now === null ? !isAlive(Number(pid)) : now !== born
}

function readText(lock: string): string | null {
  try {
    return lstatSync(lock).size <= LOCK_BYTES_MAX ? readFileSync(lock, 'utf8') : null
  } catch {
    return null
  }
}

// Process ids are reused; together with the start time they are unique.
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
