import { spawnSync } from 'node:child_process'
import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeLeftoverMatcher } from '../../app/tool-calls/ignored-paths.js'

const LISTING_BYTES_MAX = 64 * 1024 * 1024
const GIT_SECONDS_MAX = 30
const FILES_MAX = 100_000
const NOT_ENTERED: ReadonlySet<string> = new Set([
  ...['.git', 'node_modules', '.venv', 'venv', '.tox', '.nox', 'target', 'build', 'dist', '__pycache__', 'vendor'],
])

/** Output of git in a folder, without running any program that the repository names. */
function askGit(folder: string, args: readonly string[], input = ''): string | null {
  const ended = spawnSync('git', ['-c', 'core.fsmonitor=false', '-C', folder, ...args], {
    input,
    encoding: 'utf8',
    maxBuffer: LISTING_BYTES_MAX,
    timeout: GIT_SECONDS_MAX * 1000,
  })
  return ended.status === 0 ? ended.stdout : null
}

/** Files that git tracks or, if none is tracked yet, existing files. Relative to the folder. */
export function listProjectFiles(folder: string): readonly string[] {
  const tracked = splitNames(askGit(folder, ['ls-files', '-z']))
  if (tracked.length > 0) return tracked
  const others = listUntrackedFiles(folder)
  return others.length > 0 ? others : walkFolder(folder)
}

/** Files that git neither tracks nor ignores. */
export function listUntrackedFiles(folder: string): readonly string[] {
  return splitNames(askGit(folder, ['ls-files', '-z', '--others', '--exclude-standard']))
}

/** The paths without those that git ignores, or that tools leave behind wherever they run. */
export function omitIgnored(folder: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return []
  const isLeft = makeLeftoverMatcher(() => false)
  const ignored = new Set(splitNames(askGit(folder, ['check-ignore', '-z', '--stdin'], paths.join('\0'))))
  return paths.filter((path) => !ignored.has(path) && !isLeft(path, false))
}

/** Ignored files and folders that are not installed packages: build output. */
export function listBuildOutputs(folder: string): readonly string[] {
  const ignored = splitNames(askGit(folder, ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory']))
  return ignored.map((path) => path.replace(/\/$/, '')).filter((path) => !PACKAGES.test(path))
}

const PACKAGES = /(^|\/)(node_modules|\.venv|venv|vendor|\.yarn|\.pnp\.[cm]?js)$|(^|\/)\.env/

function splitNames(listing: string | null): readonly string[] {
  return (listing ?? '').split('\0').filter((path) => path !== '')
}

// Never through a link. The first files show enough of what a folder contains.
function walkFolder(folder: string): readonly string[] {
  const found: string[] = []
  const waiting = ['']
  for (let at = waiting.pop(); at !== undefined && found.length < FILES_MAX; at = waiting.pop()) {
    for (const entry of listEntries(join(folder, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory() && !NOT_ENTERED.has(entry.name)) waiting.push(path)
      if (entry.isFile()) found.push(path)
    }
  }
  return found
}

function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // An unreadable folder counts as empty.
    return []
  }
}
