import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A work tree beside a folder that nothing may touch. */
export interface Place {
  readonly tree: string
  readonly outside: string
  /** Everything outside: names, kinds, rights, owners and contents. */
  snapshot(): string
  remove(): void
}

export const SENTINEL = 'the sentinel must not be read\n'

export function makePlace(on = tmpdir()): Place {
  const base = mkdtempSync(join(on, 'phaselock-tree-'))
  const tree = join(base, 'tree')
  const outside = join(base, 'outside')
  mkdirSync(tree)
  mkdirSync(join(outside, 'folder'), { recursive: true })
  writeFileSync(join(outside, 'secret.txt'), SENTINEL)
  writeFileSync(join(outside, 'folder/secret.txt'), SENTINEL)
  return {
    tree,
    outside,
    snapshot: () => describe(outside) + names(base) + describe('/etc/hosts'),
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}

function names(folder: string): string {
  return readdirSync(folder).sort().join('\n')
}

/** Names, kinds, rights and contents of everything at and below a path, links not followed. */
export function describe(path: string): string {
  const stat = lstatSync(path)
  const about = `${path} ${stat.mode.toString(8)} ${stat.uid}:${stat.gid}`
  if (stat.isSymbolicLink()) return `${about} -> ${readlinkSync(path)}\n`
  if (stat.isFile()) return `${about} = ${readFileSync(path, 'latin1')}\n`
  if (!stat.isDirectory()) return `${about} special\n`
  return [
    `${about}\n`,
    ...readdirSync(path)
      .sort()
      .map((name) => describe(join(path, name))),
  ].join('')
}
