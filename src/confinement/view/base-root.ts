import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { SOCKETS_AT } from '../confinement.js'
import { INSIDE_ID } from '../launch/identity.js'
import { type Keeper, quoteWord } from '../launch/keeper.js'
import type { HostView } from './host-view.js'
import { makeFolders } from './make-folders.js'
import { isInside } from './toolchains.js'

const PASSWD = `root:x:0:0:root:/:/usr/sbin/nologin
agent:x:${INSIDE_ID}:${INSIDE_ID}:agent:/tmp:/bin/sh
nobody:x:65534:65534:nobody:/:/usr/sbin/nologin
`
const GROUP = `root:x:0:\nagent:x:${INSIDE_ID}:\nnogroup:x:65534:\n`
// The command sees the work tree as owned by somebody else; git would refuse to read it.
const GITCONFIG = '[safe]\n\tdirectory = *\n[user]\n\tname = agent\n\temail = agent@localhost\n'

// The operator's line ending settings: with others, git would report every file as changed.
function readLineEndings(): string {
  const found = ['autocrlf', 'eol'].flatMap((name) => {
    const args = ['config', '--get', `core.${name}`]
    const run = spawnSync('git', args, { cwd: '/', env: { ...process.env, GIT_DIR: '/dev/null' }, encoding: 'utf8' })
    const value = run.status === 0 ? run.stdout.trim() : ''
    return /^[a-z]{2,6}$/.test(value) ? [`\t${name} = ${value}\n`] : []
  })
  return found.length === 0 ? '' : `[core]\n${found.join('')}`
}

/** Replaces covered files: tools can read it, and it is empty. */
export const EMPTY = 'etc/covered'
const FOLDERS = ['proc', 'dev', 'tmp', SOCKETS_AT, 'var/tmp', 'etc', 'home']

/**
 * The root that every command starts from, made once: the visible parts of the machine, read-only, and a generated
 * /etc. Commands get copies of these mounts with their own /proc, /dev, /tmp and work tree on top.
 */
export async function makeBaseRoot(keeper: Keeper, view: HostView): Promise<string> {
  const name = 'base'
  const seen = join(keeper.seen, name)
  for (const folder of ['', ...FOLDERS]) makeFolders(join(seen, folder))
  for (const path of view.copied) copySetting(path, join(seen, path))
  writeFileSync(join(seen, 'etc/passwd'), PASSWD)
  writeFileSync(join(seen, 'etc/group'), GROUP)
  writeFileSync(join(seen, 'etc/gitconfig'), `${GITCONFIG}${readLineEndings()}`)
  writeFileSync(join(seen, EMPTY), '')
  for (const { path, target } of view.links) {
    makeFolders(dirname(join(seen, path)))
    symlinkSync(target, join(seen, path))
  }
  const root = join(keeper.dir, name)
  const script: string[] = ['set -e']
  const mounts = parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
  for (const path of view.shown)
    for (const part of listPartsToShow(path, view.covered)) script.push(...buildShowSteps(part, { seen, root, mounts }))
  for (const path of view.covered) if (isFolder(path)) script.push(buildCoverMount(root, path))
  await keeper.ask(script.join('\n'))
  return root
}

/**
 * Covers those of the paths that exist by now, for all commands that start from here on. A path that was replaced has
 * lost its cover: `covered` remembers which file had it.
 */
export async function coverLate(
  keeper: Keeper,
  root: string,
  { paths, covered }: { readonly paths: readonly string[]; readonly covered: Map<string, number> },
): Promise<void> {
  const found = paths.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats === undefined || covered.get(path) === stats.ino
      ? []
      : [{ path, ino: stats.ino, isFile: stats.isFile() }]
  })
  if (found.length === 0) return
  const cover = ({ path, isFile }: { readonly path: string; readonly isFile: boolean }): string =>
    isFile ? `mount --bind ${quoteWord(join(root, EMPTY))} ${quoteWord(join(root, path))}` : buildCoverMount(root, path)
  await keeper.ask(['set -e', ...found.map(cover)].join('\n'))
  for (const { path, ino } of found) covered.set(path, ino)
}

function buildCoverMount(root: string, path: string): string {
  return `mount -t tmpfs -o ro,size=4k,mode=755 none ${quoteWord(join(root, path))}`
}

interface Part {
  readonly path: string
  readonly kind: 'mounted' | 'folder' | 'copied'
}

/**
 * How a visible folder is assembled. A folder that contains a covered file, or where one may appear, is created and
 * filled with its other entries: a cover over the file would be lost when a tool replaces it, and a missing file cannot
 * be covered. Entries added to such a folder later are visible after the next start.
 */
function listPartsToShow(path: string, covered: readonly string[]): readonly Part[] {
  const below = covered.filter((one) => one !== path && isInside(path, one))
  // An existing covered folder is covered as a whole, and its parent folder stays unchanged.
  if (below.every((one) => isFolder(one))) return [{ path, kind: 'mounted' }]
  const inside = readdirSync(path, { withFileTypes: true })
  return [
    { path, kind: 'folder' },
    ...inside.flatMap((entry): readonly Part[] => {
      const at = join(path, entry.name)
      if (covered.includes(at)) return entry.isDirectory() ? [{ path: at, kind: 'folder' }] : []
      if (entry.isDirectory()) return listPartsToShow(at, covered)
      const isSmall = entry.isSymbolicLink() || (entry.isFile() && statSync(at).size <= COPIED_BYTES_MAX)
      return entry.isFile() || entry.isSymbolicLink() ? [{ path: at, kind: isSmall ? 'copied' : 'mounted' }] : []
    }),
  ]
}

// Each mount costs every command time; copying a small file costs nothing.
const COPIED_BYTES_MAX = 1024 * 1024

interface Base {
  readonly seen: string
  readonly root: string
  readonly mounts: readonly Mount[]
}

function buildShowSteps({ path, kind }: Part, { seen, root, mounts }: Base): readonly string[] {
  const at = join(seen, path)
  if (kind === 'copied') {
    copyIfReadable(path, at)
    return []
  }
  if (kind === 'folder' || isFolder(path)) makeFolders(at)
  else {
    makeFolders(dirname(at))
    writeFileSync(at, '')
  }
  if (kind === 'folder') return []
  return [
    `mount --rbind ${quoteWord(path)} ${quoteWord(join(root, path))}`,
    ...findMounts(path, mounts).map(
      ({ point, options }) => `mount -o remount,bind,${options} ${quoteWord(join(root, point))}`,
    ),
  ]
}

function copyIfReadable(from: string, to: string): void {
  try {
    cpSync(from, to, { verbatimSymlinks: true })
  } catch (error) {
    // Commands must not see what the server's account cannot read.
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

const OTHERS_READ = 0o004
const LINKS_MAX = 5

// Only files, folders and links that every account of the machine may read.
function copySetting(from: string, to: string, depth = 0): void {
  const stats = lstatSync(from)
  // Entries of a copied folder have their folder already.
  if (depth === 0) makeFolders(dirname(to))
  if (stats.isSymbolicLink()) {
    // A link to a visible path stays a link; a file elsewhere is copied.
    const target = resolveRealPath(from)
    if (target === null) return
    if (depth > 0 || target.startsWith('/usr/')) symlinkSync(readlinkSync(from), to)
    else if (depth <= LINKS_MAX) copySetting(target, to, depth + 1)
  } else if (stats.isDirectory()) {
    makeFolders(to)
    for (const name of readdirSync(from)) copySetting(join(from, name), join(to, name), depth + 1)
  } else if (stats.isFile() && (stats.mode & OTHERS_READ) !== 0) {
    copyFileSync(from, to)
  }
}

function resolveRealPath(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

interface Mount {
  readonly point: string
  readonly options: string
}

// Options that were set on a mount of the machine are locked in a namespace below it: they must be named again.
const LOCKED = new Set(['noexec', 'noatime', 'nodiratime', 'relatime', 'strictatime'])

function parseMounts(mountinfo: string): readonly Mount[] {
  return mountinfo
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const fields = line.split(' ')
      const given = (fields[5] ?? '').split(',').filter((option) => LOCKED.has(option))
      return { point: unescapeField(fields[4] ?? '/'), options: ['ro', 'nosuid', 'nodev', ...given].join(',') }
    })
}

/** The mounts that a path consists of: the one it is on, under its own name, and those below it. */
function findMounts(path: string, mounts: readonly Mount[]): readonly Mount[] {
  const above = mounts.filter(({ point }) => isInside(point, path)).sort((a, b) => a.point.length - b.point.length)
  const options = above.at(-1)?.options ?? 'ro,nosuid,nodev'
  const below = mounts.filter(({ point }) => point !== path && isInside(path, point))
  return [{ point: path, options }, ...below]
}

function unescapeField(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
