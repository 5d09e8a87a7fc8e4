import type { Row } from '../database.js'
import { createMerkleTree, streamLeaf } from '../seals/merkle-tree.js'
import type { VerifyProblem } from '../store.js'
import type { StreamEnd } from './verify-events.js'

/** The ends of all streams as the log is read, and the Merkle root over them on demand. */
export interface StreamWalk {
  readonly size: number
  end(stream: string): StreamEnd | null
  extend(stream: string, end: StreamEnd): void
  root(): string
  /** Compares the table of streams, in the order of `num`, with the streams in the log. */
  judgeTable(rows: Iterable<Row>): readonly VerifyProblem[]
}

export function startStreamWalk(): StreamWalk {
  const ends = new Map<string, StreamEnd & { readonly index: number }>()
  const tree = createMerkleTree()
  let changed = new Set<string>()
  return {
    get size() {
      return ends.size
    },
    end: (stream) => ends.get(stream) ?? null,
    extend(stream, end) {
      ends.set(stream, { ...end, index: ends.get(stream)?.index ?? ends.size })
      changed.add(stream)
    },
    root() {
      for (const stream of changed) {
        const end = ends.get(stream)
        if (end !== undefined) tree.set(end.index, streamLeaf(stream, end.version, end.hash))
      }
      changed = new Set()
      return tree.root()
    },
    judgeTable: (rows) => judgeTable(rows, ends),
  }
}

function judgeTable(
  rows: Iterable<Row>,
  ends: ReadonlyMap<string, { readonly index: number }>,
): readonly VerifyProblem[] {
  let count = 0
  for (const { num, name } of rows) {
    if (ends.get(String(name))?.index !== count || num !== count + 1) return [makeMismatch(String(name))]
    count += 1
  }
  return count === ends.size ? [] : [makeMismatch(null)]
}

function makeMismatch(stream: string | null): VerifyProblem {
  const detail = `The table of streams does not match the events${stream === null ? '' : ` (at ${stream})`}.`
  return { code: 'stream_mismatch', detail, seq: null, stream, version: null }
}
