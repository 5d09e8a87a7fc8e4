import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import type { Job } from '../confinement.js'

/** Folder of the state directory for packages that a package manager would store outside the work tree. */
export const FETCHED = 'fetched-packages'
/** Where an install stores them, at the top of its view of the work tree. */
export const FETCHED_INSIDE = '.phaselock-fetched'
const TREE = 'tree'
const REMOVED = { recursive: true, force: true } as const

/** The variable that names the package folder of each package manager. */
const VARIABLES = { go: 'GOMODCACHE', cargo: 'CARGO_HOME' } as const
const NAMES = Object.keys(VARIABLES) as readonly (keyof typeof VARIABLES)[]

/** What a command needs to find the fetched packages of its tree, or what an install needs to fetch them. */
export function findFetched(
  stateDir: string,
  { tree, isInstall, fetches }: Pick<Job, 'tree' | 'isInstall' | 'fetches'>,
): { readonly shown: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  if (fetches !== undefined)
    // Make fetched folders writable, because read-only ones could not be removed.
    return { shown: [], env: { [VARIABLES[fetches]]: join(tree, FETCHED_INSIDE, fetches), GOFLAGS: '-modcacherw' } }
  const at = (name: string): string => join(getPlace(stateDir, tree), name)
  const kept = isInstall === true ? [] : NAMES.filter((name) => existsSync(at(name)))
  return { shown: kept.map(at), env: Object.fromEntries(kept.map((name) => [VARIABLES[name], at(name)])) }
}

/** Stores the packages that an install fetched, replacing earlier ones. */
export async function keepFetched(
  stateDir: string,
  { tree, fetches }: Pick<Job, 'tree' | 'fetches'>,
  view: string,
): Promise<void> {
  if (fetches === undefined) return
  const from = join(view, FETCHED_INSIDE, fetches)
  // Never through a link, which could lead anywhere.
  if (!isFolder(join(view, FETCHED_INSIDE)) || !isFolder(from)) return
  const place = getPlace(stateDir, tree)
  await mkdir(place, { recursive: true, mode: 0o700 })
  await writeFile(join(place, TREE), tree, { mode: 0o600 })
  const [made, at] = [join(place, `${fetches}.new`), join(place, fetches)]
  await rm(made, REMOVED)
  await cp(from, made, { recursive: true, verbatimSymlinks: true })
  await rm(at, REMOVED)
  await rename(made, at)
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Removes the packages of work trees that are gone. */
export async function sweepFetched(stateDir: string): Promise<void> {
  const dir = join(stateDir, FETCHED)
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const file = join(dir, name, TREE)
    if (!existsSync(file) || !existsSync(readFileSync(file, 'utf8'))) await rm(join(dir, name), REMOVED)
  }
}

function getPlace(stateDir: string, tree: string): string {
  return join(stateDir, FETCHED, sha256Hex(tree).slice(0, 32))
}
