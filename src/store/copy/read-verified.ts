import { sha256Hex } from '../../base/sha256.js'
import { StoreRefused, type VerifyReport } from '../store.js'
import { makeProblem, startLedgerWalk } from '../verify/ledger-walk.js'
import { readOutside } from '../verify/read-outside.js'
import { startStreamWalk } from '../verify/verify-streams.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import type { Head } from '../write/head.js'
import { type LedgerPart, type PartName, toEventRow } from './ledger-part.js'
import type { LedgerSource } from './ledger-source.js'

/** What was read. */
export interface LedgerSummary {
  readonly head: Head
  readonly streams: number
  readonly merkleRoot: string
  readonly counts: Readonly<Record<PartName, number>>
}

/**
 * Reads everything and verifies it on the way: a ledger that was tampered with is not copied to its end. The keys, the
 * head and the checkpoints are those of `dir`. `open` is called after they are read, so that a server that writes
 * meanwhile only makes the log longer.
 */
export async function* readVerified(
  dir: string,
  open: () => Promise<LedgerSource>,
): AsyncGenerator<LedgerPart, LedgerSummary> {
  const read = readOutside(dir)
  if (!read.ok) throw refuseReport(read.report)
  const { outside } = read
  const source = await open()
  try {
    const walk = startLedgerWalk(outside, await source.listReplaced())
    const streams = startStreamWalk()
    const counts = { event: 0, task: 0, blob: 0, answer: 0 }
    const headCount = outside.head.state === 'valid' ? outside.head.head.count : 0
    let head: Head = { count: 0, hash: FIRST_PREV_HASH }
    let hashAtHead: string | undefined
    let changedBlob: string | null = null
    let isWhole = true
    for await (const part of source.read()) {
      counts[part[0]] += 1
      if (part[0] === 'event') {
        const row = toEventRow(part)
        isWhole = walk.pass(row)
        if (!isWhole) break
        head = { count: Number(row.seq), hash: String(row.hash) }
        if (head.count === headCount) hashAtHead = head.hash
        streams.extend(String(row.stream), { version: Number(row.version), hash: head.hash })
      } else if (part[0] === 'blob' && sha256Hex(Buffer.from(part[2], 'base64')) !== part[1]) changedBlob ??= part[1]
      yield part
    }
    const difference = await source.findSchemaDifference()
    const report = walk.finish({
      last: isWhole ? head.count : Math.max(head.count, headCount),
      hashAtHead,
      streams: await source.listStreams(),
      others: [
        ...(changedBlob === null
          ? []
          : [makeProblem('changed_blob', `The content stored under ${changedBlob} was changed.`)]),
        ...(difference === null
          ? []
          : [makeProblem('schema_changed', `The database's schema was changed (${difference}).`)]),
      ],
    })
    if (!report.ok) throw refuseReport(report)
    return { head, streams: streams.size, merkleRoot: streams.root(), counts }
  } finally {
    await source.close()
  }
}

function refuseReport({ problems }: VerifyReport): StoreRefused {
  const [first] = problems
  return new StoreRefused(
    'tampered',
    `${first?.detail ?? 'The ledger cannot be verified.'} Nothing was copied; \`phaselock audit verify\` shows the details.`,
  )
}
