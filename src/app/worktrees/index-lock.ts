import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK_WORD = 'phaselock merge'
const LOCK_BYTES_MAX = 100
const LOCK_TRIES_MAX = 20
const LOCK_WAIT_MS = 100

/** Takes a lock of git's under our name; false: somebody else has it. The lock appears with its word in it: an empty one is never ours. */
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

// One server merges into one repository once at a time: a lock of its own was left by a process that had its number before.
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

// Numbers of processes are given again; with the time of its start there is only one.
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
