import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Step } from './recording.js'

/**
 * The disk of a machine that may lose its power, rebuilt from a recording. What it promises, and nothing beyond:
 * - Bytes are durable once fsync or fdatasync of their file has returned; only those written before the call began.
 * - A new name is durable once its directory, or the new file itself, was synced (as ext4 and XFS do);
 *   a rename, a removal and a new directory once the directory around it was synced.
 * - Anything that is not durable may be on the disk or not: any part of a write, in any order between writes;
 *   changes of names in the order in which they were made (file systems keep them in a journal).
 * - When a sync fails, what it was to save is lost for good unless it is written again: Linux marks such pages clean.
 */
export class Disk {
  readonly #files = new Map<bigint, FileNode>()
  readonly #directories = new Map<bigint, string>()
  /** Names as the running program sees them. */
  readonly #live = new Map<string, Entry>()
  readonly #durable = new Map<string, Entry>()
  #pendingNames: NameChange[] = []
  /** When the running sync of a thread began. */
  readonly #syncs = new Map<bigint, number>()
  #clock = 0

  /** `before`: a folder whose content was durable when the recording began. */
  constructor(before: string | null = null) {
    const paths = before === null ? [] : readdirSync(before, { recursive: true, encoding: 'utf8' })
    for (const path of paths) {
      const entry = this.#take(join(before ?? '', path))
      this.#live.set(path, entry)
      this.#durable.set(path, entry)
    }
  }

  #take(path: string): Entry {
    const stat = lstatSync(path, { bigint: true })
    if (stat.isDirectory()) return 'directory'
    if (stat.isSymbolicLink()) return { text: readlinkSync(path) }
    const node: FileNode = { durable: new Content(), pending: [] }
    node.durable.put(0, readFileSync(path))
    this.#files.set(stat.ino, node)
    return node
  }

  apply(step: Step): void {
    this.#clock += 1
    switch (step.kind) {
      case 'create': {
        const node: FileNode = { durable: new Content(), pending: [] }
        this.#files.set(step.inode, node)
        this.#directories.delete(step.inode)
        this.#change({ kind: 'link', path: step.path, node, isNew: true, at: this.#clock })
        break
      }
      case 'link': {
        const node = this.#live.get(step.from)
        if (node !== undefined) this.#change({ kind: 'link', path: step.to, node, isNew: false, at: this.#clock })
        break
      }
      case 'symlink':
        this.#change({ kind: 'link', path: step.path, node: { text: step.text }, isNew: true, at: this.#clock })
        break
      case 'open_directory':
        this.#directories.set(step.inode, step.path)
        // A number may have belonged to a file that is gone: the sync of the directory must not be taken for one of the file.
        this.#files.delete(step.inode)
        break
      case 'mkdir':
        this.#change({ kind: 'link', path: step.path, node: 'directory', isNew: true, at: this.#clock })
        break
      case 'write':
        this.#files
          .get(step.inode)
          ?.pending.push({ kind: 'bytes', offset: step.offset, bytes: step.bytes, at: this.#clock })
        break
      case 'truncate':
        this.#files.get(step.inode)?.pending.push({ kind: 'size', size: step.size, at: this.#clock })
        break
      case 'rename':
        this.#change({ kind: 'rename', path: step.to, from: step.from, at: this.#clock })
        break
      case 'unlink':
        this.#change({ kind: 'unlink', path: step.path, at: this.#clock })
        break
      case 'sync_begin':
        this.#syncs.set(step.thread, this.#clock)
        break
      case 'synced':
        this.#synced(step.inode, this.#syncs.get(step.thread) ?? 0)
        break
      case 'sync_failed': {
        const node = this.#files.get(step.inode)
        const from = this.#syncs.get(step.thread) ?? 0
        if (node !== undefined) node.pending = node.pending.filter((one) => one.at > from)
        break
      }
      case 'told':
        break
    }
  }

  /** How much is not durable now. */
  get pending(): number {
    return [...this.#files.values()].reduce((sum, node) => sum + node.pending.length, this.#pendingNames.length)
  }

  /** Writes what a restarted machine would find. `keep` decides what of the rest made it to the disk. */
  write(dir: string, keep: Luck): void {
    const names = new Map(this.#durable)
    for (const change of this.#pendingNames.slice(0, keep.names(this.#pendingNames.length))) applyName(names, change)
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const written = new Map<FileNode, string>()
    for (const [path, entry] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const parent = dirname(path)
      // A folder whose own folder was lost is lost with it.
      if (parent !== '.' && (names.get(parent) !== 'directory' || !existsSync(join(dir, parent)))) continue
      if (entry === 'directory') mkdirSync(join(dir, path), { mode: 0o700 })
      else if ('text' in entry) symlinkSync(entry.text, join(dir, path))
      else {
        const other = written.get(entry)
        if (other !== undefined) linkSync(other, join(dir, path))
        else writeFileSync(join(dir, path), contentOf(entry, keep).bytes, { mode: 0o600 })
        written.set(entry, join(dir, path))
      }
    }
  }

  #change(change: NameChange): void {
    if (change.kind === 'rename' && !this.#live.has(change.from)) return
    applyName(this.#live, change)
    this.#pendingNames.push(change)
  }

  #synced(inode: bigint, from: number): void {
    const node = this.#files.get(inode)
    const directory = this.#directories.get(inode)
    if (node !== undefined) {
      for (const one of node.pending) if (one.at <= from) applyWrite(node.durable, one)
      node.pending = node.pending.filter((one) => one.at > from)
    }
    const isDurable = (change: NameChange) =>
      change.at <= from &&
      (node === undefined
        ? parentOf(change.path) === directory
        : change.kind === 'link' && change.isNew && change.node === node)
    for (const change of this.#pendingNames) if (isDurable(change)) applyName(this.#durable, change)
    this.#pendingNames = this.#pendingNames.filter((change) => !isDurable(change))
  }
}

/** What becomes of the things that were on their way when the power went. */
export interface Luck {
  /** How many of the changes of names, from the oldest on. */
  names(count: number): number
  /** Which parts of a write: none, all, or some. */
  part(): 'none' | 'all' | 'torn'
  /** Whether a piece of a torn write is there. */
  piece(): boolean
}

export const NOTHING_ELSE: Luck = { names: () => 0, part: () => 'none', piece: () => false }
export const EVERYTHING: Luck = { names: (count) => count, part: () => 'all', piece: () => true }

export function randomLuck(random: () => number): Luck {
  return {
    names: (count) => Math.floor(random() * (count + 1)),
    part: () => {
      const drawn = random()
      return drawn < 0.4 ? 'none' : drawn < 0.7 ? 'all' : 'torn'
    },
    piece: () => random() < 0.5,
  }
}

interface FileNode {
  readonly durable: Content
  pending: Pending[]
}

type Entry = FileNode | 'directory' | { readonly text: string }

type Pending =
  | { readonly kind: 'bytes'; readonly offset: number; readonly bytes: Buffer; readonly at: number }
  | { readonly kind: 'size'; readonly size: number; readonly at: number }

type NameChange =
  /** `isNew`: the file was made with this name. */
  | {
      readonly kind: 'link'
      readonly path: string
      readonly node: Entry
      readonly isNew: boolean
      readonly at: number
    }
  | { readonly kind: 'rename'; readonly path: string; readonly from: string; readonly at: number }
  | { readonly kind: 'unlink'; readonly path: string; readonly at: number }

// Smaller than a sector: nothing may rely on a sector being whole.
const PIECE_BYTES = 64

function contentOf(node: FileNode, keep: Luck): Content {
  const content = node.durable.copy()
  for (const one of node.pending) {
    const part = keep.part()
    if (part === 'all') applyWrite(content, one)
    if (part !== 'torn' || one.kind === 'size') continue
    for (let start = 0; start < one.bytes.length; start += PIECE_BYTES)
      if (keep.piece()) content.put(one.offset + start, one.bytes.subarray(start, start + PIECE_BYTES))
  }
  return content
}

function applyWrite(content: Content, one: Pending): void {
  if (one.kind === 'size') content.resize(one.size)
  else content.put(one.offset, one.bytes)
}

/** The bytes of a file; holes read as zeros. */
class Content {
  #buffer = Buffer.alloc(0)
  #size = 0

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size)
  }

  put(offset: number, bytes: Buffer): void {
    if (offset + bytes.length > this.#size) this.resize(offset + bytes.length)
    bytes.copy(this.#buffer, offset)
  }

  resize(size: number): void {
    if (size > this.#buffer.length) {
      const larger = Buffer.alloc(size * 2)
      this.#buffer.copy(larger, 0, 0, this.#size)
      this.#buffer = larger
    }
    if (size < this.#size) this.#buffer.fill(0, size, this.#size)
    this.#size = size
  }

  copy(): Content {
    const copy = new Content()
    copy.put(0, this.bytes)
    return copy
  }
}

function applyName(names: Map<string, Entry>, change: NameChange): void {
  if (change.kind === 'link') names.set(change.path, change.node)
  else if (change.kind === 'unlink') names.delete(change.path)
  else {
    const node = names.get(change.from)
    // The file was made and renamed, and neither was durable: the rename brings the name with it.
    if (node === undefined) return
    names.delete(change.from)
    names.set(change.path, node)
    // What a folder holds goes with it.
    if (node !== 'directory') return
    const below = [...names].filter(([path]) => path.startsWith(`${change.from}/`))
    for (const [path, entry] of below) {
      names.delete(path)
      names.set(`${change.path}${path.slice(change.from.length)}`, entry)
    }
  }
}

function parentOf(path: string): string {
  const parent = dirname(path)
  return parent === '.' ? '' : parent
}
