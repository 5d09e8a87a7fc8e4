import type { KeyObject } from 'node:crypto'
import type { Row } from '../database.js'
import type { ReplacedContents } from '../erasure/replaced-contents.js'
import type { VerifyProblem, VerifyReport } from '../store.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import type { FoundHead } from '../write/head.js'
import { judgeEvent } from './verify-events.js'
import type { CheckpointWalk } from './verify-seals.js'
import { startStreamWalk } from './verify-streams.js'

/** What is kept outside the database. */
export interface Outside {
  readonly key: KeyObject
  readonly head: FoundHead
  readonly checkpoints: CheckpointWalk
}

/** The end of the log as the database has it. */
interface LogEnd {
  readonly last: number
  /** The hash of the event that the head names; undefined: there is none. */
  readonly hashAtHead: unknown
  /** The table of streams, in the order of `num`. */
  readonly streams: Iterable<Row>
  /** Problems that only the database can show. */
  readonly others: readonly VerifyProblem[]
}

/** Verifies a ledger event by event, the same way for every store. */
export interface LedgerWalk {
  /** False for a bad event. Stop there: later problems may be its consequences. */
  pass(row: Row): boolean
  finish(end: LogEnd): VerifyReport
}

export function startLedgerWalk({ key, head, checkpoints }: Outside, replaced?: ReplacedContents): LedgerWalk {
  const streams = startStreamWalk()
  let count = 0
  let bad: VerifyProblem | null = null
  return {
    pass(row) {
      const stream = String(row.stream)
      const expected = { seq: count + 1, end: streams.end(stream) }
      bad = judgeEvent(row, key, replaced === undefined ? expected : { ...expected, replaced })
      if (bad !== null) return false
      count += 1
      streams.extend(stream, { version: Number(row.version), hash: String(row.hash) })
      checkpoints.pass({ seq: count, hash: String(row.hash), streams })
      return true
    },
    finish(end) {
      const isWhole = bad === null
      const problems = [
        ...(bad === null ? [] : [bad]),
        ...judgeHead(head, end, isWhole),
        ...checkpoints.finish(isWhole ? count : end.last),
        ...(isWhole ? streams.judgeTable(end.streams) : []),
        ...end.others,
      ]
      const counts = { events: count, streams: streams.size, checkpoints: checkpoints.count }
      return { ok: problems.length === 0, ...counts, problems }
    },
  }
}

function judgeHead(found: FoundHead, end: LogEnd, isWhole: boolean): readonly VerifyProblem[] {
  if (found.state === 'missing') return [makeProblem('head_missing', 'ledger.head is missing.')]
  if (found.state === 'invalid') return [makeProblem('head_invalid', `ledger.head is not valid: ${found.detail}.`)]
  const { head, torn } = found
  const { last } = end
  if (last < head.count) {
    const detail = `The database ends at event ${last}, but the ledger head says ${head.count}: events were cut off.`
    return [{ ...makeProblem('cut_tail', detail), seq: last + 1 }]
  }
  const hash = head.count === 0 ? FIRST_PREV_HASH : end.hashAtHead
  if (isWhole && hash !== head.hash) {
    const detail = `Event ${head.count} is not the one that the ledger head names.`
    return [{ ...makeProblem('head_mismatch', detail), seq: head.count }]
  }
  if (torn && last === head.count) return [makeProblem('head_invalid', 'One half of ledger.head was damaged.')]
  return []
}

/** The event that the head outside the database names; 0: none. */
export function countAtHead({ head }: Outside): number {
  return head.state === 'valid' ? head.head.count : 0
}

export function makeProblem(code: string, detail: string): VerifyProblem {
  return { code, detail, seq: null, stream: null, version: null }
}

export function makeFailedReport(found: VerifyProblem): VerifyReport {
  return { ok: false, events: 0, streams: 0, checkpoints: 0, problems: [found] }
}
