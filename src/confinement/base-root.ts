import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type HostView, isInside } from './host-view.js'
import { INSIDE_ID } from './identity.js'
import { type Keeper, quoted } from './keeper.js'
import { SOCKETS_AT } from './port.js'

const PASSWD = `root:x:0:0:root:/:/usr/sbin/nologin
agent:x:${INSIDE_ID}:${INSIDE_ID}:agent:/tmp:/bin/sh
nobody:x:65534:65534:nobody:/:/usr/sbin/nologin
`
const GROUP = `root:x:0:\nagent:x:${INSIDE_ID}:\nnogroup:x:65534:\n`
// The work tree belongs to somebody else in the eyes of the command; git would refuse to look at it.
const GITCONFIG = '[safe]\n\tdirectory = *\n[user]\n\tname = agent\n\temail = agent@localhost\n'
const FOLDERS = ['proc', 'dev', 'tmp', SOCKETS_AT, 'var/tmp', 'etc', 'home']

/**
 * The root that every command starts from, made once: the shown parts of the machine, read-only, and an /etc of our own. Commands
 * get copies of these mounts with their own /proc, /dev, /tmp and work tree on top.
 */
export async function makeBaseRoot(keeper: Keeper, view: HostView): Promise<string> {
  const name = 'base'
  const seen = join(keeper.seen, name)
  for (const folder of ['', ...FOLDERS]) mkdirSync(join(seen, folder), { recursive: true })
  for (const path of view.copied) copySetting(path, join(seen, path))
  writeFileSync(join(seen, 'etc/passwd'), PASSWD)
  writeFileSync(join(seen, 'etc/group'), GROUP)
  writeFileSync(join(seen, 'etc/gitconfig'), GITCONFIG)
  for (const { path, target } of view.links) symlinkSync(target, join(seen, path))
  const root = join(keeper.dir, name)
  const script: string[] = ['set -e']
  const mounts = hostMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
  for (const path of view.shown) {
    mkdirSync(join(seen, path), { recursive: true })
    script.push(`mount --rbind ${quoted(path)} ${quoted(join(root, path))}`)
    for (const { point, options } of mountsAt(path, mounts))
      script.push(`mount -o remount,bind,${options} ${quoted(join(root, point))}`)
  }
  for (const path of view.covered) {
    const at = quoted(join(root, path))
    if (statSync(path).isDirectory()) script.push(`mount -t tmpfs -o ro,size=4k,mode=755 none ${at}`)
    else script.push(`mount --bind /dev/null ${at}`)
  }
  await keeper.ask(script.join('\n'))
  return root
}

const OTHERS_READ = 0o004
const LINKS_MAX = 5

// Only what anybody on the machine may read, and only files, folders and links.
function copySetting(from: string, to: string, depth = 0): void {
  const stats = lstatSync(from)
  if (stats.isSymbolicLink()) {
    // A link into what is shown stays one; a setting that lies elsewhere comes along as itself.
    const target = realpathOf(from)
    if (target === null) return
    if (depth > 0 || target.startsWith('/usr/')) makeLink(readlinkSync(from), to)
    else if (depth <= LINKS_MAX) copySetting(target, to, depth + 1)
  } else if (stats.isDirectory()) {
    mkdirSync(to, { recursive: true })
    for (const name of readdirSync(from)) copySetting(join(from, name), join(to, name), depth + 1)
  } else if (stats.isFile() && (stats.mode & OTHERS_READ) !== 0) {
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(from, to)
  }
}

function makeLink(target: string, at: string): void {
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(target, at)
}

function realpathOf(path: string): string | null {
  try {
    return realpathSync(path)
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

function hostMounts(mountinfo: string): readonly Mount[] {
  return mountinfo
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const fields = line.split(' ')
      const given = (fields[5] ?? '').split(',').filter((option) => LOCKED.has(option))
      return { point: unescaped(fields[4] ?? '/'), options: ['ro', 'nosuid', 'nodev', ...given].join(',') }
    })
}

/** The mounts that make up a path: the one it lies on, under its own name, and those below it. */
function mountsAt(path: string, mounts: readonly Mount[]): readonly Mount[] {
  const above = mounts.filter(({ point }) => isInside(point, path)).sort((a, b) => a.point.length - b.point.length)
  const options = above.at(-1)?.options ?? 'ro,nosuid,nodev'
  const below = mounts.filter(({ point }) => point !== path && isInside(path, point))
  return [{ point: path, options }, ...below]
}

function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
