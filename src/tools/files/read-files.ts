import { isUtf8 } from 'node:buffer'
import { closeSync } from 'node:fs'
import type { JsonObject } from '../../core/json.js'
import { isForeign, openFile } from '../../tree/lookup.js'
import { readChunks } from '../../tree/read-bytes.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { answerFailures, quotePath, resolveAskedPath, toOutcome, toProblemOutcome } from './file-place.js'

const SCANNED_BYTES_MAX = 64 * 1024 * 1024
const CONTENT_BYTES_MAX = 1024 * 1024
const ANSWER_BYTES_MAX = 2 * 1024 * 1024
const NEWLINE = 10

/** `read_files {path | paths[], offset?, limit?}`: text files, from a line on, up to a number of lines. */
export async function readFiles(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answerFailures(async () => {
    const window = { offset: asCount(args.offset) ?? 0, limit: asCount(args.limit) ?? Number.MAX_SAFE_INTEGER }
    if (typeof args.path === 'string') {
      const one = await readOne(place, args.path, {
        ...window,
        bytesMax: CONTENT_BYTES_MAX,
        scannedMax: SCANNED_BYTES_MAX,
      })
      return one.ok ? { ok: true, result: { status: 'success', ...one.read }, changes: [] } : one.outcome
    }
    const files: JsonObject[] = []
    let left = ANSWER_BYTES_MAX
    let scannedMax = SCANNED_BYTES_MAX
    for (const path of args.paths as readonly string[]) {
      const one = await readOne(place, path, { ...window, bytesMax: Math.min(left, CONTENT_BYTES_MAX), scannedMax })
      if (!one.ok) return one.outcome
      files.push({ path: one.path, ...one.read })
      left -= Buffer.byteLength(one.read.content)
      scannedMax = Math.max(0, scannedMax - one.scanned)
    }
    return { ok: true, result: { status: 'success', files }, changes: [] }
  })
}

function asCount(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

interface Window {
  readonly offset: number
  readonly limit: number
  readonly bytesMax: number
  readonly scannedMax: number
}

interface Text {
  readonly [key: string]: string | number | boolean
  readonly content: string
  readonly lines: number
  readonly truncated: boolean
}

interface Scan {
  readonly read: Text
  readonly scanned: number
}

type One =
  | { readonly ok: true; readonly path: string; readonly read: Text; readonly scanned: number }
  | { readonly ok: false; readonly outcome: ToolOutcome }

async function readOne(place: ToolPlace, given: string, window: Window): Promise<One> {
  const asked = resolveAskedPath(place, given)
  if (!asked.ok) return asked
  const { path } = asked
  if (path === '.') return { ok: false, outcome: toProblemOutcome('directory', path) }
  const file = openIn(place, path)
  if (!file.ok) return { ok: false, outcome: toOutcome(file) }
  try {
    if (isForeign(place.root, file.stat)) return { ok: false, outcome: toProblemOutcome('foreign', path) }
    const scan = await scanLines(file.fd, window, place.signal)
    if (scan === 'aborted')
      return { ok: false, outcome: failTool(`${quotePath(path)}: the call was ended while it was read`) }
    if (scan === 'binary')
      return { ok: false, outcome: failTool(`${quotePath(path)}: is a binary file, or not UTF-8 text`) }
    return { ok: true, path, ...scan }
  } finally {
    closeSync(file.fd)
  }
}

// Files that the task wrote to ignored paths, such as a coverage report, are laid over the tree as they are for its
// commands.
function openIn({ root, layer }: ToolPlace, path: string): ReturnType<typeof openFile> {
  const left = layer === undefined || layer === null ? null : openFile(layer, path)
  return left?.ok === true ? left : openFile(root, path)
}

// Counts every line and keeps only the requested ones: a file may be far larger than what is kept.
async function scanLines(fd: number, window: Window, signal: AbortSignal): Promise<Scan | 'aborted' | 'binary'> {
  const end = window.offset + window.limit
  const kept: Buffer[] = []
  let keptBytes = 0
  let newlines = 0
  let scanned = 0
  let last = NEWLINE
  let isCut = false
  for await (const chunk of readChunks(fd, window.scannedMax + 1)) {
    if (signal.aborted) return 'aborted'
    if (chunk.includes(0)) return 'binary'
    let from = newlines >= window.offset && newlines < end ? 0 : chunk.length
    let to = newlines >= end ? 0 : chunk.length
    for (let at = 0; at < chunk.length; at += 1) {
      if (chunk[at] !== NEWLINE) continue
      newlines += 1
      if (newlines === window.offset) from = at + 1
      if (newlines === end) to = at + 1
    }
    scanned += chunk.length
    last = chunk.at(-1) ?? last
    const room = window.bytesMax - keptBytes
    if (to - from > room) isCut = true
    if (from < to && room > 0) {
      const piece = Buffer.from(chunk.subarray(from, Math.min(to, from + room)))
      kept.push(piece)
      keptBytes += piece.length
    }
  }
  const content = isCut ? cutAfterLine(Buffer.concat(kept)) : Buffer.concat(kept)
  if (!isUtf8(content)) return 'binary'
  const lines = newlines + (last === NEWLINE ? 0 : 1)
  const truncated = isCut || scanned > window.scannedMax || end < lines
  return { read: { content: content.toString('utf8'), lines, truncated }, scanned }
}

// Cut after a line, so that reading can continue with `offset`; inside a line only if it is the only one.
function cutAfterLine(bytes: Buffer): Buffer {
  const newline = bytes.lastIndexOf(NEWLINE)
  return newline === -1 ? cutAfterCharacter(bytes) : bytes.subarray(0, newline + 1)
}

function cutAfterCharacter(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && end > bytes.length - 4 && !isUtf8(bytes.subarray(0, end))) end -= 1
  return isUtf8(bytes.subarray(0, end)) ? bytes.subarray(0, end) : bytes
}
