import type { CodexTotals } from './codex.js'
import type { TranscriptFormat } from './folders.js'
import type { UsageSeen } from './usage.js'

/**
 * How many answers are remembered to recognise their lines again. The lines of one answer are written while it streams
 * in and once more when its tools have run, with at most the answers of parallel agents in between: tens, not hundreds.
 */
export const RECENT_IDS_MAX = 512

/** The read position in a transcript. Plain JSON, stored by the caller; never taken from an agent. */
export interface TranscriptCursor {
  readonly format: TranscriptFormat
  /** Identifies the file. Numbers of this size are not exact in JSON. */
  readonly dev: string
  readonly ino: string
  /** Everything before it has been read. */
  readonly offset: number
  /** The SHA-256 of the last bytes before the offset: detects a file that was rewritten and has grown past it. */
  readonly mark: string
  /** Whether the offset is inside a line that is too long. */
  readonly skipping: boolean
  /** The time of the last line that had one. */
  readonly at: number
  /** The latest time of all lines. */
  readonly latestAt: number
  /** Answers up to this time were counted before the file was rewritten. */
  readonly countedUntil: number
  /** The most recent answers, least recently touched first; at most `RECENT_IDS_MAX`. */
  readonly recent: readonly UsageSeen[]
  /** The last totals of Codex; null for others. */
  readonly totals: CodexTotals | null
}
