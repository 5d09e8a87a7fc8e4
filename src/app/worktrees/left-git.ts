import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { COMMITTER } from './run-git.js'

const LEFT_GIT_MS_MAX = 30_000
const LEFT_LOCK_MS_MAX = 10_000
const LOOK_MS = 50
const MARK = `GIT_COMMITTER_EMAIL=${COMMITTER.email}`

/** Waits for a git process that a killed server started in this folder. Returns false when it takes too long. */
export async function waitForGit(folder: string): Promise<boolean> {
  for (let waited = 0; isAtWork(folder); waited += LOOK_MS) {
    if (waited >= LEFT_GIT_MS_MAX) return false
    await sleep(LOOK_MS)
  }
  return true
}

/** Removes a lock that only our git processes take. Waits while its process still runs. */
export async function dropLock(lock: string): Promise<void> {
  // If processes cannot be listed, the lock's removal is the only sign that one has ended.
  const waitMs = existsSync('/proc/self/environ') ? 0 : LEFT_LOCK_MS_MAX
  for (let waited = 0; existsSync(lock) && waited < waitMs; waited += LOOK_MS) await sleep(LOOK_MS)
  // Somebody working in the tree may have created a folder there.
  rmSync(lock, { recursive: true, force: true })
}

// The process runs in this folder and carries our name: other people's git processes are left out.
function isAtWork(folder: string): boolean {
  if (!existsSync('/proc/self/environ') || !existsSync(folder)) return false
  const real = realpathSync(folder)
  return readdirSync('/proc').some((entry) => {
    if (!/^\d+$/.test(entry)) return false
    try {
      const at = join('/proc', entry)
      return readlinkSync(join(at, 'cwd')) === real && readFileSync(join(at, 'environ'), 'utf8').includes(MARK)
    } catch {
      return false
    }
  })
}
