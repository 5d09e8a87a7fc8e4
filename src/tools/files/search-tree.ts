import { closeSync, readSync } from 'node:fs'
import { isForeign, openDirectory, openEntry, openFileIn, openParent, splitPath } from '../../tree/lookup.js'
import { type MetEntry, TooMuch, walkFrom } from '../../tree/walk.js'
import type { SearchPlace } from './file-jobs.js'
import { IgnoreRules } from './ignore-rules.js'

const ENTRIES_MAX = 1_000_000
const ASKED_AT_ONCE = 128
const LOOKS_PER_CLOCK = 64

export interface Search {
  readonly place: SearchPlace
  /** Which of these paths may be seen; one byte each. Nothing of the others is read. */
  readonly ask: (paths: readonly string[]) => Promise<Uint8Array>
  /** By `performance.now()`. */
  readonly endsAt: number
  /** Set when something was left out. */
  isCut: boolean
}

/** A visible file or link. Its descriptor is closed when the next one is requested. */
interface Candidate {
  readonly path: string
  /** null for links, and when content was not requested. */
  readonly fd: number | null
}

interface WantedFiles {
  /** By the path relative to where the search began. */
  readonly isWanted: (below: string) => boolean
  readonly needsContent: boolean
}

/**
 * Files below the start that git would not ignore, and never anything in `.git`. If the start itself is ignored, it was
 * meant.
 */
export async function* walkCandidates(search: Search, wanted: WantedFiles): AsyncGenerator<Candidate> {
  let batch: Candidate[] = []
  try {
    for (const met of walkTree(search)) {
      const isFile = met.kind === 'file' || (met.kind === 'link' && !wanted.needsContent)
      if (!isFile || !wanted.isWanted(met.below)) continue
      const candidate = wanted.needsContent ? openCandidate(search, met) : { path: met.path, fd: null }
      if (candidate === null) continue
      batch.push(candidate)
      if (batch.length < ASKED_AT_ONCE) continue
      yield* filterVisible(search, batch)
      batch = []
    }
    yield* filterVisible(search, batch)
    batch = []
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    yield* filterVisible(search, batch)
    batch = []
    search.isCut = true
  } finally {
    for (const { fd } of batch) if (fd !== null) closeSync(fd)
  }
}

async function* filterVisible(search: Search, batch: Candidate[]): AsyncGenerator<Candidate> {
  if (batch.length === 0) return
  const mask = await search.ask(batch.map((candidate) => candidate.path))
  for (const [index, one] of batch.entries()) {
    if (performance.now() > search.endsAt) {
      search.isCut = true
      break
    }
    if (mask[index] === 1) yield one
  }
  for (const { fd } of batch.splice(0)) if (fd !== null) closeSync(fd)
}

interface MetFile {
  readonly path: string
  readonly below: string
  readonly name: string
  readonly kind: MetEntry['kind']
  readonly directoryFd: number
}

function openCandidate(search: Search, met: MetFile): Candidate | null {
  const file = openFileIn(met.directoryFd, met.name)
  if (!file.ok) return null
  if (!isForeign(search.place.root, file.stat)) return { path: met.path, fd: file.fd }
  closeSync(file.fd)
  return null
}

function* walkTree(search: Search): Generator<MetFile> {
  const { root, start } = search.place
  const parts = splitPath(start) ?? []
  const opened = openDirectory(root, parts)
  if (!opened.ok) {
    yield* walkFile(search)
    return
  }
  const prefix = parts.length === 0 ? '' : `${parts.join('/')}/`
  const rules = readRulesAbove(root, parts)
  const isIgnored = (met: MetEntry) => rules.isPathIgnored(prefix + met.path, met.kind === 'directory')
  try {
    let looks = 0
    for (const met of walkFrom(opened.fd, {
      enter: (path, fd) => rules.enter(path === '' ? parts.join('/') : prefix + path, fd),
      isEntered: (entry) => entry.name !== '.git' && !isIgnored(entry),
      entriesMax: ENTRIES_MAX,
    })) {
      looks += 1
      if (looks % LOOKS_PER_CLOCK === 0 && performance.now() > search.endsAt) {
        search.isCut = true
        return
      }
      if (met.kind === 'directory' || met.name === '.git' || isIgnored(met)) continue
      yield { ...met, path: prefix + met.path, below: met.path }
    }
  } finally {
    closeSync(opened.fd)
  }
}

function* walkFile({ place }: Search): Generator<MetFile> {
  const parent = openParent(place.root, place.start)
  if (!parent.ok) return
  try {
    const entry = openEntry(parent.fd, parent.name)
    if (!entry.ok) return
    closeSync(entry.fd)
    const { name, fd } = parent
    yield { path: place.start, below: name, name, kind: entry.kind, directoryFd: fd }
  } finally {
    closeSync(parent.fd)
  }
}

function readRulesAbove(root: string, parts: readonly string[]): IgnoreRules {
  const rules = new IgnoreRules()
  for (let depth = 0; depth < parts.length; depth += 1) {
    const directory = openDirectory(root, parts.slice(0, depth))
    if (!directory.ok) continue
    rules.enter(parts.slice(0, depth).join('/'), directory.fd)
    closeSync(directory.fd)
    if (rules.isPathIgnored(parts.slice(0, depth + 1).join('/'), true)) rules.clear()
  }
  return rules
}

const CHUNK_BYTES = 64 * 1024
// Most files fit into one buffer, which is reused.
const firstChunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)

/** The beginning of a text file, valid until the next one is read; null for a binary file. */
export function readText(fd: number, bytesMax: number): { readonly bytes: Buffer; readonly isCut: boolean } | null {
  const chunks: Buffer[] = []
  let length = 0
  while (length <= bytesMax) {
    const chunk = length === 0 ? firstChunk : Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytesMax + 1 - length))
    const read = readSync(fd, chunk, 0, chunk.length, length)
    const piece = chunk.subarray(0, read)
    if (piece.includes(0)) return null
    chunks.push(piece)
    length += read
    if (read < chunk.length) break
  }
  const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  return { bytes: whole.subarray(0, bytesMax), isCut: length > bytesMax }
}
