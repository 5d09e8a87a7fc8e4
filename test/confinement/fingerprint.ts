import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Every path of a tree with its type, mode, owner, time and content. Names are bytes, not text. */
export function fingerprint(tree: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (path: Buffer, shown: string): void => {
    const stats = lstatSync(path)
    const content = stats.isFile() ? sha256(readFileSync(path)) : stats.isSymbolicLink() ? readlinkSync(path) : ''
    const type = (stats.mode & 0o170000).toString(8)
    const mode = (stats.mode & 0o7777).toString(8)
    found.set(shown, `${type} ${mode} ${stats.uid}:${stats.gid} ${stats.mtimeMs} ${content}`)
    if (!stats.isDirectory()) return
    for (const name of readdirSync(path, { encoding: 'buffer' }))
      visit(Buffer.concat([path, Buffer.from('/'), name]), `${shown}/${name.toString('latin1')}`)
  }
  visit(Buffer.from(tree), '.')
  return found
}

/** The paths in which two fingerprints differ. */
export function differing(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).sort()
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
