import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION_AT = 4
/** Later versions of the index compress path names, so they cannot be searched. */
const PLAIN_VERSION_MAX = 3

/** Whether git may track files in the folder, read from its index without running git. In doubt it does. */
export function mayBeTracked(tree: string, folder: string): boolean {
  try {
    const index = readFileSync(join(tree, '.git/index'))
    return index.readUInt32BE(VERSION_AT) > PLAIN_VERSION_MAX || index.includes(`${folder}/`)
  } catch {
    return true
  }
}
