import { type BigIntStats, closeSync, fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { sha256Hex } from '../base/sha256.js'
import type { TranscriptCursor } from './cursor.js'
import type { TranscriptFolder } from './folders.js'
import { type Piece, splitPieces, startLines } from './lines.js'
import { type OpenTranscript, openTranscript, type TranscriptRefused, toRefused } from './open-transcript.js'
import { startTally, type Tally, takeLine } from './tally.js'
import type { UsageSeen } from './usage.js'

/** One call reads at most this, one line and one chunk. */
export const READ_BYTES_MAX = 16 * 1024 * 1024
/** Lines about usage have a few thousand bytes; longer ones contain tool results and pictures. */
export const LINE_BYTES_MAX = 1024 * 1024
const CHUNK_BYTES_MAX = 64 * 1024
/** A call ends after the line with which it has reported this many answers. */
const USAGE_PER_READ_MAX = 10_000
const MARK_BYTES = 64
const NAME_CHARS = 16

interface TranscriptOptions {
  /** The only folders that are read. None: everything is refused. */
  readonly folders: readonly TranscriptFolder[]
  /** Smaller limits for tests; never larger. */
  readonly readBytesMax?: number
  readonly lineBytesMax?: number
  readonly chunkBytes?: number
}

interface TranscriptReading {
  readonly ok: true
  /** Every answer reported in this call, with the largest known values. Stored by id, it counts once. */
  readonly usage: readonly UsageSeen[]
  /** How many of them had not been seen before. */
  readonly turns: number
  /** Lines of this call that could not be parsed, and their total size. */
  readonly malformed: number
  readonly skippedBytes: number
  readonly cursor: TranscriptCursor
  /** Whether the call ended before the file did. */
  readonly more: boolean
}

const readAt = promisify(read)

/** Continues reading a transcript; from its start when there is no cursor or the file was replaced. */
export async function readTranscript(
  path: string,
  cursor: TranscriptCursor | null,
  options: TranscriptOptions,
): Promise<TranscriptReading | TranscriptRefused> {
  const file = openTranscript(path, options.folders)
  if (!file.ok) return file
  try {
    const from = await findStart(file, cursor)
    const name = sha256Hex(path).slice(0, NAME_CHARS)
    const tally = startTally(file.format, name, from)
    const reached = await readOn(file.fd, tally, {
      offset: from?.offset ?? 0,
      skipping: from?.skipping ?? false,
      options,
    })
    return {
      ok: true,
      usage: [...tally.seen.values()],
      turns: tally.turns,
      malformed: tally.malformed,
      skippedBytes: tally.skippedBytes,
      cursor: await makeCursor(file, tally, reached),
      more: reached.stopped && BigInt(reached.offset) < fstatSync(file.fd, { bigint: true }).size,
    }
  } catch (error) {
    return toRefused(error)
  } finally {
    closeSync(file.fd)
  }
}

async function findStart(file: OpenTranscript, cursor: TranscriptCursor | null): Promise<TranscriptCursor | null> {
  if (cursor === null || cursor.format !== file.format) return null
  if (isSameFile(file.stat, cursor) && (await markAt(file.fd, cursor.offset)) === cursor.mark) return cursor
  // Counted answers are recognised by id, and by time if the ids were dropped.
  const countedUntil = Math.max(cursor.countedUntil, cursor.latestAt)
  return { ...cursor, offset: 0, skipping: false, at: 0, latestAt: -1, countedUntil, totals: null }
}

function isSameFile(stat: BigIntStats, cursor: TranscriptCursor): boolean {
  return (
    stat.dev.toString() === cursor.dev &&
    stat.ino.toString() === cursor.ino &&
    Number.isSafeInteger(cursor.offset) &&
    cursor.offset >= 0 &&
    BigInt(cursor.offset) <= stat.size
  )
}

async function markAt(fd: number, offset: number): Promise<string> {
  const length = Math.min(MARK_BYTES, offset)
  const { bytesRead, buffer } = await readAt(fd, Buffer.alloc(MARK_BYTES), 0, length, offset - length)
  return sha256Hex(buffer.subarray(0, bytesRead))
}

interface Start {
  readonly offset: number
  readonly skipping: boolean
  readonly options: TranscriptOptions
}

interface Reached {
  readonly offset: number
  readonly skipping: boolean
  /** At a limit, not at the end of the file. */
  readonly stopped: boolean
}

async function readOn(fd: number, tally: Tally, start: Start): Promise<Reached> {
  const readBytesMax = clampMax(READ_BYTES_MAX, start.options.readBytesMax)
  const lineBytesMax = clampMax(LINE_BYTES_MAX, start.options.lineBytesMax)
  const chunk = Buffer.alloc(clampMax(CHUNK_BYTES_MAX, start.options.chunkBytes))
  const lines = startLines(start.skipping)
  let position = start.offset
  let offset = start.offset
  const reached = (stopped: boolean): Reached => ({ offset, skipping: lines.skipping, stopped })
  // A line is read whole before the limit ends the call, or the next call would stop at the same place.
  while (position - start.offset < readBytesMax || offset === start.offset) {
    const { bytesRead } = await readAt(fd, chunk, 0, chunk.length, position)
    if (bytesRead === 0) return reached(false)
    for (const piece of splitPieces(lines, chunk.subarray(0, bytesRead), lineBytesMax)) {
      take(tally, piece, offset === 0)
      offset = position + piece.end
      if (tally.seen.size >= USAGE_PER_READ_MAX) return reached(true)
    }
    position += bytesRead
  }
  return reached(true)
}

function clampMax(max: number, asked: number | undefined): number {
  return Math.max(1, Math.min(max, Math.floor(asked ?? max) || 1))
}

function take(tally: Tally, piece: Piece, isFirst: boolean): void {
  if (piece.kind === 'line') {
    takeLine(tally, piece.bytes, isFirst)
    return
  }
  tally.malformed += piece.begins ? 1 : 0
  tally.skippedBytes += piece.length
}

async function makeCursor(file: OpenTranscript, tally: Tally, reached: Reached): Promise<TranscriptCursor> {
  return {
    format: file.format,
    dev: file.stat.dev.toString(),
    ino: file.stat.ino.toString(),
    offset: reached.offset,
    mark: await markAt(file.fd, reached.offset),
    skipping: reached.skipping,
    at: tally.at,
    latestAt: tally.latestAt,
    countedUntil: tally.countedUntil,
    recent: [...tally.recent.values()],
    totals: file.format === 'codex' ? tally.totals : null,
  }
}
