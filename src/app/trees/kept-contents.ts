import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, readFileIfPresent } from '../../base/atomic-file.js'
import { sha256Hex } from '../../base/sha256.js'

/** Larger files are not stored. */
export const KEPT_BYTES_MAX = 1024 * 1024
const ALL_BYTES_MAX = 512 * 1024 * 1024
/** Target size after the oldest were removed. */
const LEFT_BYTES = 384 * 1024 * 1024

/**
 * Contents of files by SHA-256, so that a work tree can be restored. When there are too many, the oldest are removed.
 */
export class KeptContents {
  #bytes: number | null = null

  constructor(private readonly dir: string) {}

  keep(content: Buffer): void {
    if (content.length >= KEPT_BYTES_MAX) return
    const file = join(this.dir, sha256Hex(content))
    if (statSync(file, { throwIfNoEntry: false })?.size === content.length) return
    makeDirectory(this.dir)
    writeFileSync(file, content, { mode: 0o600 })
    this.#bytes = (this.#bytes ?? this.#measured()) + content.length
    if (this.#bytes > ALL_BYTES_MAX) this.#makeRoom()
  }

  /** Null when it was never stored, was removed, or is damaged. */
  get(sha256: string): Buffer | null {
    const file = join(this.dir, sha256)
    const content = readFileIfPresent(file)
    return content !== null && sha256Hex(content) === sha256 ? content : null
  }

  #measured(): number {
    return this.#files().reduce((sum, one) => sum + one.bytes, 0)
  }

  #makeRoom(): void {
    const oldestFirst = this.#files().sort((a, b) => a.at - b.at)
    let bytes = oldestFirst.reduce((sum, one) => sum + one.bytes, 0)
    for (const one of oldestFirst) {
      if (bytes <= LEFT_BYTES) break
      rmSync(one.file, { force: true })
      bytes -= one.bytes
    }
    this.#bytes = bytes
  }

  #files(): { readonly file: string; readonly bytes: number; readonly at: number }[] {
    return readdirSync(this.dir).flatMap((name) => {
      const file = join(this.dir, name)
      // Another node may remove one at the same time.
      const found = statSync(file, { throwIfNoEntry: false })
      return found === undefined ? [] : [{ file, bytes: found.size, at: found.mtimeMs }]
    })
  }
}
