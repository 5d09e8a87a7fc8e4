import { closeSync, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import ignore from 'ignore'
import { IgnoreRules, type IgnoreText } from './ignore-rules.js'
import { inside, openDirectory } from './lookup.js'
import { TreeUnreadable } from './problems.js'
import { type Met, walkFrom } from './walk.js'

const ENTRIES_MAX = 1_000_000
const REMEMBERED_MAX = 4

/** What of a tree is looked at: ignored paths, what tools leave behind, and installed packages wherever they lie. */
export interface DependencyRules {
  readonly rules: readonly IgnoreText[]
  /** What counts as ignored besides, as lines of a `.gitignore`. */
  readonly also: readonly string[]
}

const DEPENDENCY_FOLDERS: ReadonlySet<string> = new Set([
  ...['node_modules', '.venv', 'venv', '.tox', 'vendor', 'site-packages', '__pypackages__', 'bower_components'],
])

/** Every path of dependencies and ignored files: a folder, or a stamp that any change of the file changes. */
type Listing = ReadonlyMap<string, string>
const FOLDER = 'd'

/** Writes down how dependencies and ignored files are. What was changed after `before` (in ms) counts as not there. */
export function keepDependencies(root: string, about: DependencyRules & { file: string; before: number }): void {
  const listing = list(root, about, about.before)
  mkdirSync(dirname(about.file), { recursive: true, mode: 0o700 })
  const packed = gzipSync(JSON.stringify([...listing]), { level: 1 })
  writeFileSync(`${about.file}.new`, packed, { mode: 0o600, flush: true })
  renameSync(`${about.file}.new`, about.file)
  remember(about.file, listing)
}

/** What came or was changed since that was written down; of a folder that came, the folder alone. */
export function dependenciesSince(root: string, about: DependencyRules & { file: string }): readonly string[] {
  const before = recall(about.file)
  const found: string[] = []
  let folder: string | null = null
  for (const [path, stamp] of list(root, about, Number.POSITIVE_INFINITY)) {
    if (folder !== null && path.startsWith(folder)) continue
    const was = before.get(path)
    if (was === stamp) continue
    // What was in a file's place, or came with a folder, goes with it.
    folder = stamp === FOLDER ? `${path}/` : null
    found.push(path)
  }
  return found
}

/** Takes these paths, with everything below them, over as they are now. */
export function acceptDependencies(
  root: string,
  about: DependencyRules & { file: string; paths: readonly string[] },
): void {
  const isAccepted = (path: string): boolean => about.paths.some((one) => path === one || path.startsWith(`${one}/`))
  const kept = [...recall(about.file)].filter(([path]) => !isAccepted(path))
  const now = [...list(root, about, Number.POSITIVE_INFINITY)].filter(([path]) => isAccepted(path))
  const listing = new Map([...kept, ...now])
  writeFileSync(`${about.file}.new`, gzipSync(JSON.stringify([...listing]), { level: 1 }), { mode: 0o600, flush: true })
  renameSync(`${about.file}.new`, about.file)
  remember(about.file, listing)
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
  const listing = new Map(JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as [string, string][])
  remember(file, listing)
  return listing
}

function list(root: string, { rules, also }: DependencyRules, before: number): Listing {
  const opened = openDirectory(root, [])
  if (!opened.ok) throw new TreeUnreadable(`the work tree ${root} cannot be opened`)
  const ignored = new IgnoreRules(rules)
  const always = ignore({ ignorecase: false }).add([...also])
  const isMeant = ({ path, name, kind }: Met): boolean => {
    const isDirectory = kind === 'directory'
    if (isDirectory && DEPENDENCY_FOLDERS.has(name)) return true
    return ignored.isIgnored(path, isDirectory) || always.test(isDirectory ? `${path}/` : path).ignored
  }
  const found = new Map<string, string>()
  // Whatever lies below a folder that is meant is meant: nothing there has to be held against the rules.
  let folder: string | null = null
  try {
    const isEntered = ({ name }: Met): boolean => name !== '.git'
    for (const met of walkFrom(opened.fd, { isEntered, entriesMax: ENTRIES_MAX })) {
      if (met.name === '.git') continue
      const isInside: boolean = folder !== null && met.path.startsWith(folder)
      if (!isInside && !isMeant(met)) continue
      if (!isInside && met.kind === 'directory') folder = `${met.path}/`
      const stamp = met.kind === 'directory' ? FOLDER : stampOf(met, before)
      if (stamp !== null) found.set(met.path, stamp)
    }
    return found
  } finally {
    closeSync(opened.fd)
  }
}

function stampOf({ directoryFd, name }: Met, before: number): string | null {
  const stat = lstatSync(inside(directoryFd, name), { throwIfNoEntry: false })
  if (stat === undefined || stat.ctimeMs > before) return null
  return `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino} ${stat.mode}`
}
