import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/store/database.js'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../../src/store/verify/verify-ledger.js'
import { Disk, EVERYTHING, type Luck, NOTHING_ELSE, randomLuck } from './disk.js'
import type { Step } from './recording.js'

/** An event that a client was told is in the ledger. */
export interface Acknowledged {
  readonly stream: string
  readonly version: number
  readonly hash: string
  /** The idempotency key that the answer is kept under, if one was given. */
  readonly key?: string
}

export interface Found {
  readonly step: number
  readonly luck: string
  readonly acknowledged: number
  readonly lost: number
  /** Why the store did not open, or null. */
  readonly refused: string | null
  readonly problems: readonly string[]
}

export function acknowledgedIn(steps: readonly Step[]): readonly Acknowledged[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'told') return []
    const told = JSON.parse(step.text) as Partial<Acknowledged> & { refused?: string }
    return told.hash === undefined ? [] : [told as Acknowledged]
  })
}

/** Moments at which the power goes: half of them right after something was acknowledged, the rest anywhere. */
export function crashPoints(steps: readonly Step[], count: number, random: () => number): readonly number[] {
  const told = steps.flatMap((step, index) => (step.kind === 'told' ? [index + 1] : []))
  const points = Array.from({ length: count }, (_, index) =>
    index % 2 === 0 && told.length > 0
      ? (told[Math.floor(random() * told.length)] ?? 0)
      : 1 + Math.floor(random() * steps.length),
  )
  return points.toSorted((a, b) => a - b)
}

/** Rebuilds the disk at each point and looks at what a restarted server would find there. */
export async function examine(
  steps: readonly Step[],
  options: { readonly points: readonly number[]; readonly dir: string; readonly random: () => number },
): Promise<readonly Found[]> {
  const disk = new Disk()
  const found: Found[] = []
  let applied = 0
  for (const [index, point] of options.points.entries()) {
    for (; applied < point; applied += 1) disk.apply(steps[applied] as Step)
    const [luck, keep] = luckFor(index, options.random)
    const image = join(options.dir, `image-${index}`)
    disk.write(image, keep)
    const acknowledged = acknowledgedIn(steps.slice(0, point))
    found.push({ step: point, luck, acknowledged: acknowledged.length, ...(await look(image, acknowledged)) })
    if (process.env.PHASELOCK_TORTURE_KEEP === undefined) rmSync(image, { recursive: true, force: true })
  }
  return found
}

function luckFor(index: number, random: () => number): readonly [string, Luck] {
  if (index % 4 === 0) return ['nothing else', NOTHING_ELSE]
  return index % 8 === 1 ? ['everything', EVERYTHING] : ['some', randomLuck(random)]
}

async function look(image: string, acknowledged: readonly Acknowledged[]) {
  let store: SqliteStore
  try {
    store = await openSqliteStore({ dir: image })
  } catch (error) {
    return { refused: String(error), lost: acknowledged.length - readable(image, acknowledged), problems: [] }
  }
  try {
    let lost = 0
    for (const one of acknowledged) if (!(await isThere(store, one))) lost += 1
    const next = await store.append({
      stream: 'after',
      expectedVersion: 0,
      events: [{ type: 'after', at: 1, actor: 'test', epoch: 0, phase: null, contract: null, data: {} }],
    })
    await store.close()
    const report = await verifyDirectory(image)
    const problems = report.problems.map(({ code, detail }) => `${code}: ${detail}`)
    return { refused: null, lost, problems: next.ok ? problems : [...problems, `no append: ${next.reason}`] }
  } finally {
    await store.close()
  }
}

async function isThere(store: SqliteStore, one: Acknowledged): Promise<boolean> {
  const [event] = await store.readStream(one.stream, one.version - 1, 1)
  if (event?.hash !== one.hash) return false
  return one.key === undefined || (await store.recall({ principal: 'agent:a', key: one.key })) !== null
}

/** How many of them are in a database that the store does not open. */
function readable(image: string, acknowledged: readonly Acknowledged[]): number {
  try {
    const database = openDatabase(join(image, 'ledger.db'), { readOnly: true })
    try {
      const read = database.prepare('SELECT hash FROM event WHERE stream = ? AND version = ?')
      return acknowledged.filter((one) => read.get(one.stream, one.version)?.hash === one.hash).length
    } finally {
      database.close()
    }
  } catch {
    // Nothing can be read from it: all of them are lost.
    return 0
  }
}
