import { createHash, hash } from 'node:crypto'
import { type BigIntStats, closeSync, fstatSync, lstatSync, readlinkSync, readSync } from 'node:fs'
import type { FingerprintReader } from './fingerprint.js'
import { IgnoreRules, type IgnoreText, reuseRules } from './ignore-rules.js'
import { ENTRIES_MAX } from './limits.js'
import { formatFdPath, formatIdentity, openDirectory, openFileIn, openListedFile } from './lookup.js'
import { hashPackages, PACKAGE_FOLDERS } from './package-folders.js'
import { getErrno, TreeUnreadable } from './problems.js'
import { type ProjectFilesReader, ProjectScope } from './project-files.js'
import type { StampWriter } from './stamps.js'
import { type MetEntry, walkFrom } from './walk.js'

const RULES_BYTES_MAX = 256 * 1024
const CHUNK_BYTES = 1024 * 1024
// Names may take four bytes a character, and the system allows 4,096 bytes.
const WHOLE_PATH_CHARS_MAX = 1000
// A file written just now may be written again without a visible change of its times.
const SETTLED_MS = 2000

/** What is left out of an index. */
export interface Ignoring {
  /** The ignore rules of an earlier index; null: those of the current tree. */
  readonly rules: readonly IgnoreText[] | null
  /** Additional ignore rules; the `.gitignore` files have precedence. */
  readonly excludes: string
}

/** Every path of a tree that counts, with its kind and content. */
export interface TreeIndex {
  /** `file <sha256>`, `link <target>`, `special`, `name` or `unread`. Folders are known by their entries. */
  readonly entries: Readonly<Record<string, string>>
  /** Folders of installed packages: a digest of names, sizes and times, which changes with any file in them. */
  readonly packages: Readonly<Record<string, string>>
  /** The ignore rules: taken from the tree when it was first read, never from a file an agent edited later. */
  readonly rules: readonly IgnoreText[]
}

/** Paths that exist but cannot be read: no permission, or too deep. */
const UNREAD = 'unread'

/** What earlier readings found out about contents. */
export class KnownContents {
  /** The SHA-256 of files, by identity. */
  readonly hashes = new Map<string, string>()
  /** The SHA-256 of contents that match the pattern, or that are too long to tell. */
  readonly noted = new Set<string>()

  constructor(readonly pattern: RegExp | null = null) {}
}

/** What is read along with an index: looking at every file twice would take twice the time. */
interface ReadAlong {
  /** Covers ignored files too. */
  readonly fingerprint: FingerprintReader | null
  readonly stamps: StampWriter | null
  /** Covers ignored files too. */
  readonly files?: ProjectFilesReader | null
}

/** Reads a whole tree. Files whose identity is known are not read again. */
export function indexTree(
  root: string,
  ignoring: Ignoring,
  known: KnownContents,
  { fingerprint, stamps, files = null }: ReadAlong = { fingerprint: null, stamps: null },
): TreeIndex {
  const opened = openDirectory(root, [])
  if (!opened.ok) throw new TreeUnreadable(`the work tree ${root} cannot be opened`)
  const reader = new Reader(root, ignoring, known, stamps)
  const project = fingerprint === null && files === null ? null : new ProjectScope()
  // Below a folder that is left out of the index, only what is read along is read.
  let leftOutDepth: number | null = null
  const isEntered = (met: MetEntry): boolean => {
    const isInProject = project?.isEntered(met) === true
    if (leftOutDepth === null && reader.isLeftOut(met)) leftOutDepth = met.depth
    return leftOutDepth === null || isInProject
  }
  const enter = (path: string, fd: number): void => {
    if (leftOutDepth === null) reader.enter(path, fd)
  }
  const tooDeep = (path: string): void => {
    if (leftOutDepth === null) reader.leaveUnread(path)
  }
  const denied = (path: string): void => {
    tooDeep(path)
    // Folders outside the project are entered for the index alone.
    if (project?.isOutside === true) return
    files?.refuse()
    fingerprint?.refuse(`${path} cannot be read: permission denied`)
  }
  try {
    for (const met of walkFrom(opened.fd, {
      enter,
      isEntered,
      denied,
      tooDeep,
      entriesMax: ENTRIES_MAX,
      reusesNames: true,
    })) {
      if (leftOutDepth !== null && met.depth <= leftOutDepth) leftOutDepth = null
      const what = leftOutDepth === null ? reader.addEntry(met) : undefined
      if ((met.kind !== 'file' && met.kind !== 'link') || project?.isInside(met) !== true) continue
      files?.take(met)
      if (fingerprint?.isRefused === false) fingerprint.take(met, what === undefined ? reader.readEntry(met) : what)
    }
    return reader.index()
  } finally {
    closeSync(opened.fd)
  }
}

class Reader {
  readonly #entries: Record<string, string> = Object.create(null)
  readonly #packages: Record<string, string> = Object.create(null)
  readonly #rules: IgnoreRules
  /** Of the file that was read last. */
  #identity: string | null = null
  /** Of the file that was read last. After an unknown one, the next is opened without looking at it first. */
  #wasKnown = true

  constructor(
    private readonly root: string,
    private readonly ignoring: Ignoring,
    private readonly known: KnownContents,
    private readonly stamps: StampWriter | null,
  ) {
    this.#rules = ignoring.rules === null ? new IgnoreRules() : reuseRules(ignoring.rules)
  }

  enter(path: string, fd: number): void {
    this.stamps?.enter(path, fd)
    if (this.ignoring.rules !== null) return
    const own = readIgnoreFile(fd)
    const text = path === '' ? `${this.ignoring.excludes}\n${own ?? ''}` : own
    if (text !== null) this.#rules.take({ base: path, text })
  }

  isLeftOut(met: MetEntry): boolean {
    return (
      met.name === '.git' || isUnreadable(met) || PACKAGE_FOLDERS.has(met.name) || this.#rules.isIgnored(met.path, true)
    )
  }

  /** The entry as `readEntry` gives it; undefined if it was not read. */
  addEntry(met: MetEntry): string | null | undefined {
    if (met.name === '.git') return undefined
    if (isUnreadable(met)) {
      this.#entries[met.path] = 'name'
      return undefined
    }
    if (met.kind === 'directory') {
      if (PACKAGE_FOLDERS.has(met.name)) this.#packages[met.path] = hashPackages(met)
      return undefined
    }
    if (this.#rules.isIgnored(met.path, false)) return undefined
    const what = this.readEntry(met)
    if (what === null) return what
    this.#entries[met.path] = what
    this.stamps?.add(met, this.#identity)
    return what
  }

  /** An unreadable folder is known by its name: no call of an agent can change its entries. */
  readonly leaveUnread = (path: string): void => {
    this.#entries[path] = UNREAD
  }

  index(): TreeIndex {
    return { entries: this.#entries, packages: this.#packages, rules: this.#rules.list }
  }

  /** Null when it was removed since its folder was listed: then it is not part of the tree. */
  readEntry(met: MetEntry): string | null {
    this.#identity = null
    try {
      if (met.kind === 'file') return this.#file(met)
      return met.kind === 'link' ? `link ${readlinkSync(formatFdPath(met.directoryFd, met.name))}` : 'special'
    } catch (error) {
      if (getErrno(error) === 'ENOENT') return null
      // A link that became another kind of entry.
      if (getErrno(error) === 'EINVAL') return 'special'
      throw error
    }
  }

  #file(met: MetEntry): string | null {
    // Known files are not even opened. Looking at a path takes half the time of looking into an open folder. If folders
    // are swapped meanwhile, the path may lead elsewhere; the hash is then that of a file that was read in a work tree
    // before, and swapping that file itself would have the same effect.
    if (this.#wasKnown) {
      const seen = lstatSync(this.#formatPath(met), { bigint: true })
      this.#identity = formatIdentity(seen)
      const before = seen.isFile() ? this.known.hashes.get(this.#identity) : undefined
      if (before !== undefined) return `file ${before}`
    }
    const listed = openListedFile(met.directoryFd, met.name)
    const file = listed === null ? openFileIn(met.directoryFd, met.name) : { ok: true as const, ...listed }
    if (!file.ok) return file.problem === 'missing' ? null : file.problem === 'denied' ? UNREAD : 'special'
    try {
      const identity = formatIdentity(file.stat)
      this.#identity = identity
      const before = this.known.hashes.get(identity)
      this.#wasKnown = before !== undefined
      if (before !== undefined) return `file ${before}`
      const digest = hashFile(file.fd, Number(file.stat.size), this.known)
      if (isSettled(file.stat) && formatIdentity(fstatSync(file.fd, { bigint: true })) === identity)
        this.known.hashes.set(identity, digest)
      return `file ${digest}`
    } finally {
      closeSync(file.fd)
    }
  }

  #formatPath({ path, directoryFd, name }: MetEntry): string | Buffer {
    const whole = `${this.root}/${path}`
    return whole.length > WHOLE_PATH_CHARS_MAX ? formatFdPath(directoryFd, name) : whole
  }
}

// A name that is not UTF-8 cannot be written here. Its existence is recorded, its content is not.
function isUnreadable(met: MetEntry): boolean {
  return met.name.includes('\uFFFD')
}

// One for all files: allocating it costs more than reading a small file.
let chunk: Buffer | null = null

/** Whether the file has not been changed for so long that its times tell of the next change. */
function isSettled(stat: BigIntStats): boolean {
  return Date.now() - Number(stat.ctimeMs) > SETTLED_MS
}

function hashFile(fd: number, size: number, known: KnownContents): string {
  chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let read = readNext(fd, chunk)
  // A file that grows meanwhile has another identity afterwards.
  if (read === size && read < CHUNK_BYTES) {
    const digest = hash('sha256', chunk.subarray(0, read), 'hex')
    if (known.pattern?.test(chunk.toString('latin1', 0, read)) === true) known.noted.add(digest)
    return digest
  }
  const all = createHash('sha256')
  for (; read > 0; read = readNext(fd, chunk)) all.update(chunk.subarray(0, read))
  const digest = all.digest('hex')
  // What stands on the border of two parts would be missed.
  known.noted.add(digest)
  return digest
}

function readNext(fd: number, into: Buffer): number {
  return readSync(fd, into, 0, CHUNK_BYTES, null)
}

/** The text of the `.gitignore` in an open directory; null when it has none. */
export function readIgnoreFile(directoryFd: number): string | null {
  const file = openFileIn(directoryFd, '.gitignore')
  if (!file.ok) return null
  try {
    const buffer = Buffer.allocUnsafe(Math.min(Number(file.stat.size), RULES_BYTES_MAX))
    return buffer.toString('utf8', 0, readSync(file.fd, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(file.fd)
  }
}

/** A link that an allowed call made, wherever it points. */
export const ANY_LINK = 'link ?'

/** One path that changed. */
export interface Difference {
  readonly path: string
  readonly kind: 'created' | 'modified' | 'deleted'
}

export function listDifferences(before: TreeIndex, after: TreeIndex): readonly Difference[] {
  const found: Difference[] = []
  for (const part of ['entries', 'packages'] as const) {
    const [old, now] = [before[part], after[part]]
    if (old === now) continue
    const names = Object.keys(now)
    let shared = 0
    for (const path of names) {
      const was = Object.hasOwn(old, path) ? old[path] : undefined
      if (was === undefined) found.push({ path, kind: 'created' })
      else {
        shared += 1
        const what = now[path] ?? ''
        if (was !== what && !(was === ANY_LINK && what.startsWith('link '))) found.push({ path, kind: 'modified' })
      }
    }
    const earlier = Object.keys(old)
    if (earlier.length === shared) continue
    for (const path of earlier) if (!Object.hasOwn(now, path)) found.push({ path, kind: 'deleted' })
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}
