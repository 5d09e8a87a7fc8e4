import { closeSync, lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { makeDirectory, writeFileAtomically } from '../base/atomic-file.js'
import { isAtOrBelow } from '../base/is-at-or-below.js'
import { type IgnoreText, reuseRules } from './ignore-rules.js'
import { ENTRIES_MAX } from './limits.js'
import { formatFdPath, openDirectory } from './lookup.js'
import { TreeUnreadable } from './problems.js'
import { type MetEntry, walkFrom } from './walk.js'

const REMEMBERED_MAX = 4

/** Which parts of a tree are covered: ignored paths, files that tools leave behind, and installed packages anywhere. */
export interface DependencyRules {
  readonly rules: readonly IgnoreText[]
  /** Additional ignore rules, as lines of a `.gitignore`. */
  readonly also: readonly string[]
}

const DEPENDENCY_FOLDERS: ReadonlySet<string> = new Set([
  ...['node_modules', '.venv', 'venv', '.tox', 'vendor', 'site-packages', '__pypackages__', 'bower_components'],
])

/** Dependencies and ignored files, by folder and name: a folder, or a stamp that changes with the file. */
type Listing = Map<string, Map<string, string>>
const FOLDER = 'd'

/** Records dependencies and ignored files. Files changed after `before` (in ms) count as missing. */
export function keepDependencies(root: string, about: DependencyRules & { file: string; before: number }): void {
  makeDirectory(dirname(about.file))
  keep(about.file, list(root, about, about.before))
}

/** What was added or changed since the record; for an added folder, only the folder. */
export function findChangedDependencies(root: string, about: DependencyRules & { file: string }): readonly string[] {
  const before = recall(about.file)
  const found: string[] = []
  let came: string | null = null
  for (const met of walkDependencies(root, about)) {
    // An entry replaced by a folder, or added with one, is covered by it.
    if (came !== null && isAtOrBelow(came, met.folder)) continue
    const stamp = readStamp(met)
    if (stamp === null || before.get(met.folder)?.get(met.name) === stamp) continue
    if (stamp === FOLDER) came = met.path
    found.push(met.path)
  }
  return found
}

/** Records these paths, with everything below them, as they are now. What changed after `before` (in ms) is not taken. */
export function acceptDependencies(
  root: string,
  about: DependencyRules & { file: string; paths: readonly string[]; before: number },
): void {
  const isAccepted = (path: string): boolean => about.paths.some((one) => isAtOrBelow(one, path))
  const listing: Listing = new Map()
  for (const [path, stamp] of walkPaths(recall(about.file))) if (!isAccepted(path)) add(listing, path, stamp)
  for (const [path, stamp] of walkPaths(list(root, about, about.before)))
    if (isAccepted(path)) add(listing, path, stamp)
  keep(about.file, listing)
}

function keep(file: string, listing: Listing): void {
  const packed = gzipSync(JSON.stringify([...walkPaths(listing)]), { level: 1 })
  writeFileAtomically(file, packed)
  remember(file, listing)
}

const remembered = new Map<string, Listing>()

function remember(file: string, listing: Listing): void {
  remembered.delete(file)
  remembered.set(file, listing)
  if (remembered.size > REMEMBERED_MAX) remembered.delete(remembered.keys().next().value ?? '')
}

function recall(file: string): Listing {
  const known = remembered.get(file)
  if (known !== undefined) return known
  const listing: Listing = new Map()
  for (const [path, stamp] of JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as [string, string][])
    add(listing, path, stamp)
  remember(file, listing)
  return listing
}

function add(listing: Listing, path: string, stamp: string): void {
  const slash = path.lastIndexOf('/')
  getNames(listing, path.slice(0, Math.max(slash, 0))).set(path.slice(slash + 1), stamp)
}

function getNames(listing: Listing, folder: string): Map<string, string> {
  const known = listing.get(folder)
  if (known !== undefined) return known
  const names = new Map<string, string>()
  listing.set(folder, names)
  return names
}

function* walkPaths(listing: Listing): Generator<readonly [path: string, stamp: string]> {
  for (const [folder, names] of listing)
    for (const [name, stamp] of names) yield [folder === '' ? name : `${folder}/${name}`, stamp]
}

function list(root: string, rules: DependencyRules, before: number): Listing {
  const listing: Listing = new Map()
  for (const met of walkDependencies(root, rules)) {
    const stamp = readStamp(met, before)
    if (stamp !== null) getNames(listing, met.folder).set(met.name, stamp)
  }
  return listing
}

function* walkDependencies(root: string, { rules, also }: DependencyRules): Generator<MetEntry> {
  const opened = openDirectory(root, [])
  if (!opened.ok) throw new TreeUnreadable(`the work tree ${root} cannot be opened`)
  const ignored = reuseRules(rules)
  const always = reuseRules([{ base: '', text: also.join('\n') }])
  const isMeant = ({ path, name, kind }: MetEntry): boolean => {
    const isDirectory = kind === 'directory'
    if (isDirectory && DEPENDENCY_FOLDERS.has(name)) return true
    return ignored.isIgnored(path, isDirectory) || always.isIgnored(path, isDirectory)
  }
  // Everything below a covered folder is covered: no rules need to be checked there.
  let meantDepth: number | null = null
  try {
    const isEntered = ({ name }: MetEntry): boolean => name !== '.git'
    for (const met of walkFrom(opened.fd, { isEntered, entriesMax: ENTRIES_MAX, reusesNames: true })) {
      if (met.name === '.git') continue
      if (meantDepth === null || met.depth <= meantDepth) {
        meantDepth = null
        if (!isMeant(met)) continue
        if (met.kind === 'directory') meantDepth = met.depth
      }
      yield met
    }
  } finally {
    closeSync(opened.fd)
  }
}

function readStamp({ directoryFd, name, kind }: MetEntry, before = Number.POSITIVE_INFINITY): string | null {
  if (kind === 'directory') return FOLDER
  const stat = lstatSync(formatFdPath(directoryFd, name), { throwIfNoEntry: false })
  if (stat === undefined || stat.ctimeMs > before) return null
  return `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino} ${stat.mode}`
}
