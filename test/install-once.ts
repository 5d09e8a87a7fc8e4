import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const WAIT_MS = 200

/**
 * Fills a folder that all tests share, once: `install` gets an empty folder and gives the reason why it cannot be
 * filled, or null. Another process that needs the same folder waits.
 */
export function installOnce(dir: string, install: (making: string) => string | null): string | null {
  if (existsSync(dir)) return null
  mkdirSync(dirname(dir), { recursive: true })
  const lock = `${dir}.lock`
  while (!takeLock(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)
  const making = `${dir}.${process.pid}`
  try {
    if (existsSync(dir)) return null
    rmSync(making, { recursive: true, force: true })
    mkdirSync(making)
    const reason = install(making)
    if (reason === null) renameSync(making, dir)
    return reason
  } finally {
    rmSync(making, { recursive: true, force: true })
    rmSync(lock, { force: true })
  }
}

/** The lock of a process that has ended counts for nothing. */
function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if (!isHeld(lock)) rmSync(lock, { force: true })
  return false
}

function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0)
    return true
  } catch (error) {
    // It ended between two looks, or it belongs to another account.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
