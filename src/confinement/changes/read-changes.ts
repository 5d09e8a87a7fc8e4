import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { createReadStream } from 'node:fs'
import { chmod, lstat, readdir, readlink } from 'node:fs/promises'
import type { Change } from '../../tree/change.js'
import { FOLDERS_MAX, isTooDeep } from '../../tree/limits.js'
import { getErrno, TREE_PROBLEMS } from '../../tree/problems.js'
import { isTargetInside } from '../../tree/write/tree-steps.js'
import type { Aside } from '../confinement.js'
import { SCRATCH_BYTES_MAX, SCRATCH_ENTRIES_MAX } from './scratch-layers.js'

const CHANGES_MAX = 20_000
/** Of a command that installs packages. */
const INSTALLED_MAX = 200_000
/** A sparse file may be large and take no space until it is written to the tree: this size counts. */
const CHANGED_BYTES_MAX = 1024 ** 3
const DEPTH_MAX = 256
/** Maximum number of listed changes that never reach the tree: those that are kept, and as many that are discarded. */
const ASIDE_MAX = 2 * SCRATCH_ENTRIES_MAX

/** A tree before and after a command and, with an overlay, the layer that contains everything that was touched. */
interface Views {
  readonly before: string
  /** The layer laid over it: if both have an entry, this one was seen. */
  readonly layer: string | null
  readonly after: string
  readonly touched: string | null
  /** Names at the root that were mounted over, so they cannot have changed. */
  readonly skipped: ReadonlySet<string>
  readonly aside: Aside
  readonly isInstall?: boolean
}

/** The changes of a command cannot be applied as a whole, and are discarded. */
export class ChangesRefused extends Error {
  override readonly name = 'ChangesRefused'
}

/**
 * All differences between two views of a tree, in the order of their paths. Nothing writes to either of them meanwhile:
 * all processes of the command have ended.
 */
export async function readChanges(
  views: Views,
): Promise<{ readonly list: readonly Change[]; readonly isCut: boolean }> {
  const reader = new Reader(views)
  try {
    await reader.readFolder('', 0)
  } catch (error) {
    throw toChangesRefused(error)
  }
  const list = reader.found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  return { list, isCut: reader.isCut }
}

// The old tree may be nested deeper than any path can name, or be unreadable for the server's account.
function toChangesRefused(error: unknown): unknown {
  const code = getErrno(error)
  if (code === 'ENAMETOOLONG') return new ChangesRefused('folders are nested deeper than they can be read')
  return code === 'EACCES' ? new ChangesRefused('a folder or file cannot be read: permission denied') : error
}

class Reader {
  readonly found: Change[] = []
  /** More was changed than is ever kept: the rest is not read. */
  isCut = false
  #bytes = 0
  #counted = 0
  readonly #kept = { paths: 0, bytes: 0 }

  constructor(private readonly views: Views) {}

  async readFolder(path: string, depth: number): Promise<void> {
    if (depth > DEPTH_MAX) throw new ChangesRefused(`folders are nested deeper than ${DEPTH_MAX}`)
    const { after, touched } = this.views
    const then = new Set(await this.#namesBefore(path))
    const now = await runWithAccess(`${after}/${path}`, 0o700, () => readNames(after, path))
    const candidates =
      touched === null ? now : await runWithAccess(`${touched}/${path}`, 0o700, () => readNames(touched, path))
    const there = new Set(now)
    for (const name of then) if (!there.has(name) && !this.#isSkipped(path, name)) await this.#gone(join(path, name))
    for (const name of candidates)
      if (there.has(name) && !this.#isSkipped(path, name)) await this.#entry(join(path, name), then.has(name), depth)
  }

  async #entry(path: string, existed: boolean, depth: number): Promise<void> {
    const now = await lstat(`${this.views.after}/${path}`)
    const then = existed ? await lstat(await this.#before(path)) : null
    const type = toEntryType(now)
    if (type !== null && this.#isAside(path, { type, bytes: now.size, isNew: then === null })) return
    if (type === null) {
      // A pipe or socket that existed before, unchanged: a copied tree has it too.
      if (then?.mode === now.mode && then.rdev === now.rdev) return
      return this.#add({ path, kind: 'created', type: 'file', problem: 'is not a file, folder or link' })
    }
    if (then !== null && toEntryType(then) !== type) await this.#gone(path)
    const isNew = then === null || toEntryType(then) !== type
    if (type === 'directory') {
      if (isNew) this.#add({ path, kind: 'created', type })
      else if (getMode(now) !== getMode(then)) this.#add({ path, kind: 'modified', type })
      if (isNew) return this.#created(path, depth + 1)
      // A copy contains the old entries as well. Deeper ones are never applied.
      return this.views.touched === null && depth >= FOLDERS_MAX ? undefined : this.readFolder(path, depth + 1)
    }
    if (type === 'link') return this.#link(path, isNew)
    await this.#file(path, now, isNew ? null : then)
  }

  async #created(path: string, depth: number): Promise<void> {
    if (depth > DEPTH_MAX) throw new ChangesRefused(`folders are nested deeper than ${DEPTH_MAX}`)
    const { after } = this.views
    const there = await runWithAccess(`${after}/${path}`, 0o700, () => readNames(after, path))
    for (const name of there) await this.#entry(join(path, name), false, depth)
  }

  async #file(path: string, now: Stats, then: Stats | null): Promise<void> {
    const file = `${this.views.after}/${path}`
    // Checked before reading: reading takes as long as writing.
    const isResized = then?.size !== now.size
    const counts = this.views.aside(path, false) === null
    if (isResized && counts) this.#count(now.size)
    const sha256 = await runWithAccess(file, 0o600, () => hashFile(file))
    const isSame =
      then !== null &&
      then.size === now.size &&
      getMode(then) === getMode(now) &&
      (await hashFile(await this.#before(path))) === sha256
    if (isSame) return
    if (!isResized && counts) this.#count(now.size)
    this.#add({ path, kind: then === null ? 'created' : 'modified', type: 'file', bytes: now.size, sha256 })
  }

  async #link(path: string, isNew: boolean): Promise<void> {
    const target = await readlink(`${this.views.after}/${path}`)
    if (!isNew && target === (await readlink(await this.#before(path)))) return
    this.#add({
      path,
      kind: isNew ? 'created' : 'modified',
      type: 'link',
      problem: isTargetInside(path, target) ? null : 'is a link that leaves the work tree',
    })
  }

  // Every path below a deleted folder is deleted too: each of them is checked against what the phase may change.
  async #gone(path: string): Promise<void> {
    const then = await lstat(await this.#before(path))
    const type = toEntryType(then) ?? 'file'
    this.#add({ path, kind: 'deleted', type })
    if (type !== 'directory' || this.views.aside(path, true) === 'dropped') return
    for (const name of await this.#namesBefore(path)) await this.#gone(join(path, name))
  }

  // Changes that never reach the tree have separate limits, and exceeding them refuses nothing. True when there is
  // nothing more to read.
  #isAside(
    path: string,
    about: { readonly type: Change['type']; readonly bytes: number; readonly isNew: boolean },
  ): boolean {
    const { type, bytes, isNew } = about
    const aside = this.views.aside(path, type === 'directory')
    if (aside === null) return false
    if (aside === 'dropped') {
      this.#add({ path, kind: isNew ? 'created' : 'modified', type })
      return true
    }
    this.#kept.paths += 1
    this.#kept.bytes += type === 'file' ? bytes : 0
    this.isCut ||= this.#kept.paths > SCRATCH_ENTRIES_MAX || this.#kept.bytes > SCRATCH_BYTES_MAX
    return this.isCut
  }

  async #before(path: string): Promise<string> {
    const { before, layer } = this.views
    return layer !== null && (await isThere(`${layer}/${path}`)) ? `${layer}/${path}` : `${before}/${path}`
  }

  // Only called for former folders: if the layer has the path and the tree has another entry there, only the layer was
  // seen.
  async #namesBefore(path: string): Promise<readonly string[]> {
    const { before, layer } = this.views
    if (layer === null || !(await isThere(`${layer}/${path}`))) return readNames(before, path)
    const above = await readNames(layer, path)
    const below = await lstat(`${before}/${path}`).catch(() => null)
    return below?.isDirectory() === true ? [...new Set([...above, ...(await readNames(before, path))])] : above
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > CHANGED_BYTES_MAX)
      throw new ChangesRefused(`more than ${CHANGED_BYTES_MAX / 1024 ** 2} MiB were changed`)
  }

  #isSkipped(path: string, name: string): boolean {
    return path === '' && this.views.skipped.has(name)
  }

  #add(change: Pick<Change, 'path' | 'kind' | 'type'> & Partial<Change>): void {
    const isAside = this.views.aside(change.path, change.type === 'directory') !== null
    if (!isAside) this.#counted += 1
    const most = this.views.isInstall === true ? INSTALLED_MAX : CHANGES_MAX
    if (this.#counted > most) throw new ChangesRefused(`more than ${most} paths were changed`)
    if (isAside && this.found.length - this.#counted >= ASIDE_MAX) {
      this.isCut = true
      return
    }
    this.found.push({ bytes: null, sha256: null, ...change, problem: change.problem ?? findProblem(change) })
  }
}

function findProblem({ path, kind }: Pick<Change, 'path' | 'kind'>): string | null {
  if (path.includes('\uFFFD')) return 'has a name that is not UTF-8'
  return kind !== 'deleted' && isTooDeep(path) ? TREE_PROBLEMS.too_deep : null
}

async function readNames(root: string, path: string): Promise<readonly string[]> {
  const raw = await readdir(path === '' ? root : `${root}/${path}`, { encoding: 'buffer' })
  const bad = raw.find((name) => !isUtf8(name))
  if (bad !== undefined) throw new ChangesRefused(`${join(path, bad.toString('latin1'))} has a name that is not UTF-8`)
  return raw.map((name) => name.toString('utf8'))
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

// A command may leave files behind that not even their owner can read. The server is the owner, so it can change that.
async function runWithAccess<T>(path: string, bits: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    const { mode } = await lstat(path)
    await chmod(path, (mode & 0o777) | bits)
    return work()
  }
}

function toEntryType(stats: Stats): Change['type'] | null {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'link' : null
}

function getMode(stats: Stats): number {
  return stats.mode & 0o777
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`
}
