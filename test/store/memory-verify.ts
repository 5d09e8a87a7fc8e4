import type { KeyObject } from 'node:crypto'
import { sha256Hex } from '../../src/base/sha256.js'
import type { StoredEvent, VerifyProblem, VerifyReport } from '../../src/store/store.js'
import { judgeEvent, type StreamEnd } from '../../src/store/verify/verify-events.js'

/** An event with the text that its hash covers. */
export interface KeptEvent extends StoredEvent {
  readonly dataText: string
}

export function verifyMemory(ledger: {
  readonly key: KeyObject
  readonly events: readonly KeptEvent[]
  readonly blobs: ReadonlyMap<string, string>
}): VerifyReport {
  const problems: VerifyProblem[] = []
  const ends = new Map<string, StreamEnd>()
  for (const [index, event] of ledger.events.entries()) {
    const row = { ...event, data: event.dataText, prev_hash: event.prevHash }
    const problem = judgeEvent(row, ledger.key, { seq: index + 1, end: ends.get(event.stream) ?? null })
    if (problem !== null) {
      problems.push(problem)
      break
    }
    ends.set(event.stream, event)
  }
  for (const [sha256, content] of ledger.blobs) {
    if (sha256Hex(content) === sha256) continue
    const detail = `The content stored under ${sha256} was changed.`
    problems.push({ code: 'changed_blob', detail, seq: null, stream: null, version: null })
  }
  const { length } = ledger.events
  return { ok: problems.length === 0, events: length, streams: ends.size, checkpoints: 0, problems }
}
