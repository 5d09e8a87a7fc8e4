import type { CodexTotals } from './codex.js'
import type { TranscriptFormat } from './folders.js'
import type { UsageSeen } from './usage.js'

/**
 * How many answers are remembered to know their lines again. The lines of one answer are written while it streams in and once more
 * when its tools have run, with at most the answers of agents beside it in between: tens, not hundreds.
 */
export const RECENT_IDS_MAX = 512

/** Where the reading of a transcript stands. Plain JSON, for the caller to keep; never to be taken from an agent. */
export interface TranscriptCursor {
  readonly format: TranscriptFormat
  /** Which file was read. Numbers of this size are not exact in JSON. */
  readonly dev: string
  readonly ino: string
  /** Everything before it has been read. */
  readonly offset: number
  /** The SHA-256 of the last bytes before the offset: a file that was written anew and has grown past it is noticed by them. */
  readonly mark: string
  /** Whether the offset lies in a line that is too long. */
  readonly skipping: boolean
  /** The time of the last line that had one. */
  readonly at: number
  /** The latest time of all lines. */
  readonly latestAt: number
  /** Answers up to this time were counted before the file started again. */
  readonly countedUntil: number
  /** The answers seen last, the longest untouched first; at most `RECENT_IDS_MAX`. */
  readonly recent: readonly UsageSeen[]
  /** What Codex said last; null for the others. */
  readonly totals: CodexTotals | null
}
