import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { COMMITTER } from './run-git.js'

const LEFT_GIT_MS_MAX = 30_000
const LEFT_LOCK_MS_MAX = 10_000
const LOOK_MS = 50
const MARK = `GIT_COMMITTER_EMAIL=${COMMITTER.email}`

/** Waits for what a killed server had git do in this folder: it goes on without us. Gives false when it takes too long. */
export async function waitForGit(folder: string): Promise<boolean> {
  for (let waited = 0; isAtWork(folder); waited += LOOK_MS) {
    if (waited >= LEFT_GIT_MS_MAX) return false
    await sleep(LOOK_MS)
  }
  return true
}

/** Removes a lock that only gits of ours take. One whose git still runs is waited for. */
export async function dropLock(lock: string): Promise<void> {
  // Where processes cannot be looked at, the only sign of one is that its lock goes away.
  const waitMs = existsSync('/proc/self/environ') ? 0 : LEFT_LOCK_MS_MAX
  for (let waited = 0; existsSync(lock) && waited < waitMs; waited += LOOK_MS) await sleep(LOOK_MS)
  // Whoever works in the tree may have put a folder there.
  rmSync(lock, { recursive: true, force: true })
}

// The folder is this one, and whoever started it has given it our name: people's own gits are left out.
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
