import { createHash } from 'node:crypto'
import { closeSync, fstatSync } from 'node:fs'
import { formatIdentity, isForeign, openFile } from './lookup.js'
import { makeRefused, type TreeRefusal } from './problems.js'
import { readChunks } from './read-bytes.js'

const STAMPED_BYTES_MAX = 256 * 1024 * 1024

/** A file of the work tree, read once through one descriptor, so that content and times belong together. */
export interface FileStamp {
  readonly sha256: string
  readonly bytes: number
  /** When its content, and when anything about it, was last changed. The owner can set the first, nobody the second. */
  readonly modifiedMs: number
  readonly changedMs: number
}

/** The stamp of a regular file inside the tree. Links are not followed. */
export async function stampFile(
  root: string,
  path: string,
): Promise<({ readonly ok: true } & FileStamp) | TreeRefusal> {
  const file = openFile(root, path)
  if (!file.ok) return file
  try {
    if (isForeign(root, file.stat)) return makeRefused('foreign', path)
    if (file.stat.size > BigInt(STAMPED_BYTES_MAX)) return makeRefused('too_large', path)
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of readChunks(file.fd, STAMPED_BYTES_MAX)) {
      hash.update(chunk)
      bytes += chunk.length
    }
    const after = fstatSync(file.fd, { bigint: true })
    if (formatIdentity(after) !== formatIdentity(file.stat)) return makeRefused('changed', path)
    return {
      ok: true,
      sha256: hash.digest('hex'),
      bytes,
      modifiedMs: Number(after.mtimeNs / 1_000_000n),
      changedMs: Number(after.ctimeNs / 1_000_000n),
    }
  } finally {
    closeSync(file.fd)
  }
}
