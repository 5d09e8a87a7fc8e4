import type { KeyObject } from 'node:crypto'
import { type Checkpoint, listCheckpoints, readCheckpointFile } from '../seals/seal-file.js'
import { readNewestCheckpoint } from '../seals/seal-pointer.js'
import type { VerifyProblem } from '../store.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import type { StreamWalk } from './verify-streams.js'

/** Compares the checkpoint files with the log as it is read. */
export interface CheckpointWalk {
  readonly count: number
  pass(event: { readonly seq: number; readonly hash: string; readonly streams: StreamWalk }): void
  /** The findings, once the log has ended at `count` events. Only the first problem: the others follow from it. */
  finish(count: number): readonly VerifyProblem[]
}

export function startCheckpointWalk(dir: string, key: KeyObject, publicKey: KeyObject): CheckpointWalk {
  const pointer = readNewestCheckpoint(dir, key)
  const seqs = listCheckpoints(dir)
  let next = 0
  let previous = FIRST_PREV_HASH
  let found: VerifyProblem | null = null

  function readNext(): Checkpoint | null {
    const seq = seqs[next] ?? 0
    next += 1
    const file = readCheckpointFile(dir, seq, publicKey)
    if (file.state === 'missing') found = makeProblem('checkpoint_missing', `Checkpoint ${seq} is missing.`, seq)
    else if (file.state === 'invalid') {
      found = makeProblem('checkpoint_invalid', `Checkpoint ${seq} is not valid: ${file.detail}.`, seq)
    } else if (file.checkpoint.previous !== previous) {
      found = makeProblem(
        'checkpoint_missing',
        `The checkpoint before checkpoint ${seq} is missing or was replaced.`,
        seq,
      )
    } else {
      previous = file.fileHash
      return file.checkpoint
    }
    return null
  }

  return {
    count: seqs.length,
    pass({ seq, hash, streams }) {
      if (found !== null || seqs[next] !== seq) return
      const checkpoint = readNext()
      if (checkpoint === null) return
      const fits =
        checkpoint.hash === hash &&
        checkpoint.streams === streams.size &&
        checkpoint.merkle_root === streams.root() &&
        checkpoint.changed.every(([stream, count, head]) => isEnd(streams, stream, [count, head]))
      if (!fits)
        found = makeProblem('checkpoint_mismatch', `The events up to ${seq} are not those of its checkpoint.`, seq)
    },
    finish(count) {
      if (pointer === null)
        return [makeProblem('checkpoint_missing', 'ledger.checkpoint is missing or not valid.', null)]
      if (pointer.seq > 0 && !seqs.includes(pointer.seq)) {
        return [makeProblem('checkpoint_missing', `The newest checkpoint, ${pointer.seq}, is missing.`, pointer.seq)]
      }
      // Checkpoints that the walk did not reach are still compared with each other and with the pointer.
      while (found === null && next < seqs.length && (seqs[next] ?? 0) <= count) readNext()
      const newest = Math.max(pointer.seq, seqs.at(-1) ?? 0)
      if (found === null && newest > count) {
        const detail = `The ledger was sealed at event ${newest}, but the events end at ${count}: they were cut off, or this is an older copy.`
        found = makeProblem('older_copy', detail, count + 1)
      }
      if (found !== null) return [found]
      if (pointer.seq > 0 && pointer.seq === seqs.at(-1) && pointer.hash !== previous) {
        return [
          makeProblem('checkpoint_invalid', `Checkpoint ${pointer.seq} is not the one that was written.`, pointer.seq),
        ]
      }
      return []
    },
  }
}

function isEnd(streams: StreamWalk, stream: string, [count, head]: readonly [number, string]): boolean {
  const end = streams.end(stream)
  return end !== null && end.version === count && end.hash === head
}

function makeProblem(code: string, detail: string, seq: number | null): VerifyProblem {
  return { code, detail, seq, stream: null, version: null }
}
