import { rmSync } from 'node:fs'

const left = new Set<string>()

/** A folder that all tests of this process share, and that goes with it. The test runner ends its processes with SIGTERM. */
export function removedAtExit(folder: string): string {
  if (left.size === 0) {
    process.once('SIGTERM', () => process.exit(143))
    process.once('exit', () => {
      for (const one of left) rmSync(one, { recursive: true, force: true })
    })
  }
  left.add(folder)
  return folder
}
