import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'

const leavings = new Set<() => void>()
let isWatching = false

/** The test runner ends its processes with SIGTERM. */
function atExit(leave: () => void): () => void {
  if (!isWatching) {
    isWatching = true
    process.once('SIGTERM', () => process.exit(143))
    process.once('exit', () => {
      for (const one of leavings) one()
    })
  }
  leavings.add(leave)
  return leave
}

/** A folder that all tests of this process share, and that goes with it. */
export function removedAtExit(folder: string): string {
  atExit(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A process that must not outlive this one: a test that fails ends nothing. */
export function endAtExit(child: ChildProcess): void {
  const leave = atExit(() => child.kill('SIGKILL'))
  child.once('close', () => leavings.delete(leave))
}
