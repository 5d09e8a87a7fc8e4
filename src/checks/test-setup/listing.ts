import { posix } from 'node:path'
import { rememberAnswers } from '../../base/remember-answers.js'
import { matchesGlob } from '../../contract/glob.js'
import { findSetupKind, type HarnessKind, isBuildFile } from '../../core/paths/test-setup-names.js'
import type { ListedFile } from '../../tree/work-tree.js'

const GLOBS_MAX = 2000

/** The files of a work tree, with lookups of folders and globs. */
export interface Listing {
  readonly paths: readonly string[]
  readonly links: readonly string[]
  /** Files that belong to the test setup by their names. */
  readonly setup: readonly { readonly path: string; readonly kind: HarnessKind }[]
  /** Files that tell a build tool or a linter what to do. */
  readonly buildFiles: readonly string[]
  has(path: string): boolean
  isFolder(path: string): boolean
  /** The files that a path means: those that a glob matches, or the path itself, whether it exists or not. */
  filesAt(path: string): readonly string[]
}

export function makeListing(listed: readonly ListedFile[]): Listing {
  const sorted = sortedListings.get(listed) ?? sortListing(listed)
  sortedListings.set(listed, sorted)
  const { paths, links, setup, buildFiles, files, folders } = sorted
  const matched = new Map<string, readonly string[]>()
  const filesAt = (path: string): readonly string[] => {
    if (!isGlob(path)) return [path]
    const known = matched.get(path)
    if (known !== undefined) return known
    if (matched.size >= GLOBS_MAX) throw new Error(`a command and its scripts hold more than ${GLOBS_MAX} globs`)
    const start = path.slice(0, path.search(GLOB))
    const [, end] = /^\*\*(\/[^*?{]+)$/.exec(path) ?? []
    const isMatch = (one: string): boolean =>
      end === undefined ? one.startsWith(start) && matchesGlob(path, one) : `/${one}`.endsWith(end)
    const found = paths.filter(isMatch)
    matched.set(path, found)
    return found
  }
  return {
    ...{ paths, links, setup, buildFiles },
    has: (path) => files.has(path),
    isFolder: (path) => folders.has(path),
    filesAt,
  }
}

interface SortedListing extends Pick<Listing, 'paths' | 'links' | 'setup' | 'buildFiles'> {
  readonly files: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
}

// A gate asks about the same listing many times.
const sortedListings = new WeakMap<readonly ListedFile[], SortedListing>()

function sortListing(listed: readonly ListedFile[]): SortedListing {
  const paths = listed.map(({ path }) => path)
  const setup = paths.flatMap((path) => {
    const { kind } = readRole(path)
    return kind === null ? [] : [{ path, kind }]
  })
  return {
    ...{ paths, setup, files: new Set(paths), folders: collectFolders(paths) },
    links: listed.filter(({ isLink }) => isLink).map(({ path }) => path),
    buildFiles: paths.filter((path) => readRole(path).isBuildFile),
  }
}

// With one file more, the listing is another one.
const readRole = rememberAnswers((path) => ({ kind: findSetupKind(path), isBuildFile: isBuildFile(path) }))

/** Whether a path is a glob. */
export function isGlob(path: string): boolean {
  return GLOB.test(path)
}

const GLOB = /[*?]/

/** A path relative to the root; null if it leaves the tree. */
export function resolvePath(folder: string, path: string): string | null {
  const whole = posix.normalize(posix.join(folder, path)).replace(/(?<=.)\/$/, '')
  return whole === '..' || whole.startsWith('../') ? null : whole
}

function collectFolders(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>(['.'])
  let last = ''
  for (const path of paths) {
    let at = path.lastIndexOf('/')
    // Most files are in the same folder as the one before.
    if (at === last.length && path.startsWith(last)) continue
    last = path.slice(0, Math.max(at, 0))
    for (; at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return folders
}
