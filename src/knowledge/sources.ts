import { closeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isAtOrBelow } from '../base/is-at-or-below.js'
import { sha256Hex } from '../base/sha256.js'
import { isForeign, openFile } from '../tree/lookup.js'
import { readBytes } from '../tree/read-bytes.js'
import { splitMarkdown } from './chunk.js'
import { listSources } from './list-sources.js'
import { describeDocument } from './metadata.js'
import type { SearchIndex } from './passages.js'
import { countTokens } from './tokens.js'

export interface Sources {
  readonly root: string
  /** Globs of the searchable files, relative to the root. */
  readonly patterns: readonly string[]
  /** Documents of phases: from the path, or its end, to the phases. */
  readonly owners: Readonly<Record<string, readonly string[]>>
  /** Files and folders that agents may not read. */
  readonly hidden: readonly string[]
}

export interface SkippedFile {
  readonly file: string
  readonly reason: string
}

export interface Refreshed {
  readonly added: number
  readonly removed: number
  readonly unchanged: number
  readonly skipped: readonly SkippedFile[]
  /** Folders in which files may appear. */
  readonly folders: readonly string[]
}

interface Run {
  readonly isClosing: () => boolean
  /** Receives the files whose index entry is up to date. */
  readonly present: Set<string>
}

const FILES_MAX = 20_000
export const FILE_BYTES_MAX = 512 * 1024
const CHUNKS_MAX = 50_000
const SKIPPED_TOLD_MAX = 100

/** Updates the index to the current tree; unchanged files are not touched. Yields after every file. */
export async function refreshIndex(index: SearchIndex, sources: Sources, run: Run): Promise<Refreshed> {
  const { isClosing, present } = run
  const { files, folders } = await listSources(sources.root, sources.patterns)
  const listed = files.filter((file) => !isKept(sources, file))
  const skipped: SkippedFile[] = listed
    .slice(FILES_MAX)
    .map((file) => ({ file, reason: `more than ${FILES_MAX} files` }))
  const wanted = listed.slice(0, FILES_MAX)
  const counts = { added: 0, removed: 0, unchanged: 0 }
  for (const path of wanted) {
    if (isClosing()) break
    const outcome = refreshFile(index, sources, path, await readContent(sources.root, path))
    if (outcome === 'gone') continue
    if (typeof outcome === 'object') {
      skipped.push(outcome)
      continue
    }
    present.add(path)
    counts[outcome] += 1
    // Requests that arrived meanwhile are answered before the next file.
    await nextTurn()
  }
  for (const path of [...index.files.keys()]) {
    if (isClosing()) break
    if (present.has(path)) continue
    index.remove(path)
    counts.removed += 1
    await nextTurn()
  }
  return { ...counts, skipped: skipped.slice(0, SKIPPED_TOLD_MAX), folders }
}

type Content = { readonly bytes: Buffer } | { readonly reason: string } | null

async function readContent(root: string, path: string): Promise<Content> {
  const file = openFile(root, path)
  if (!file.ok) return file.problem === 'denied' ? { reason: 'it may not be read' } : null
  try {
    if (isForeign(root, file.stat)) return { reason: 'it is a hard link to a file of another user' }
    const bytes = await readBytes(file.fd, FILE_BYTES_MAX + 1)
    return bytes.length > FILE_BYTES_MAX ? { reason: `it is larger than ${FILE_BYTES_MAX} bytes` } : { bytes }
  } finally {
    closeSync(file.fd)
  }
}

function refreshFile(
  index: SearchIndex,
  sources: Sources,
  path: string,
  content: Content,
): 'added' | 'unchanged' | 'gone' | SkippedFile {
  if (content === null) return 'gone'
  if ('reason' in content) return { file: path, reason: content.reason }
  const owners = listOwners(sources, path)
  const hash = sha256Hex(JSON.stringify(owners), '\0', content.bytes)
  const known = index.files.get(path)
  if (known?.hash === hash) return 'unchanged'
  const { metadata, title, body, firstLine } = describeDocument(path, content.bytes.toString('utf8'), owners)
  const chunked = splitMarkdown(body, firstLine, countTokens)
  if (!chunked.ok) return { file: path, reason: chunked.reason }
  if (index.entries.size - (known?.chunks.length ?? 0) + chunked.chunks.length > CHUNKS_MAX)
    return { file: path, reason: `there are more than ${CHUNKS_MAX} passages` }
  index.put({ path, hash, metadata, title, chunks: chunked.chunks })
  return 'added'
}

// Of the hidden files only a phase's own document is indexed, for its phase. The others mention later phases.
function isKept(sources: Sources, path: string): boolean {
  const isHidden = sources.hidden.some((one) => isAtOrBelow(one, path))
  return isHidden && listOwners(sources, path).length === 0
}

// The documents of a workflow may be anywhere in the tree, and more than once.
function listOwners({ owners }: Sources, path: string): readonly string[] {
  const parts = path.split('/')
  const ends = parts.map((_, at) => parts.slice(at).join('/'))
  return [...new Set(ends.flatMap((end) => (Object.hasOwn(owners, end) ? (owners[end] ?? []) : [])))]
}
