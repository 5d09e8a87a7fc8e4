import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

const { O_WRONLY, O_CREAT, O_EXCL, O_RDONLY } = constants

/**
 * Writes a whole file so that after a crash it has either the old or the new content, and survives power loss.
 * A link under its name is replaced, not followed.
 */
export function writeFileAtomically(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.tmp`
  rmSync(temporary, { force: true })
  const file = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL, mode)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  syncDirectory(dirname(path))
}

/** Makes a folder, with those above it, so that it survives power loss. Does nothing when it is there. */
export function makeDirectory(dir: string, mode = 0o700): void {
  const first = mkdirSync(dir, { recursive: true, mode })
  if (first === undefined) return
  for (let made = dir; ; made = dirname(made)) {
    syncDirectory(dirname(made))
    if (made === first || made === dirname(made)) return
  }
}

export function syncDirectory(dir: string): void {
  const handle = openSync(dir, O_RDONLY)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The content, or null when there is no such file. Other faults are thrown. */
export function readFileIfPresent(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
