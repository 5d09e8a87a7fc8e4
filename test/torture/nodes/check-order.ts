import type { Grant, Operation } from './history.js'

/** An event of a task, as the ledger has it. */
export interface Written {
  readonly seq: number
  readonly task: string
  readonly type: string
  readonly epoch: number
  readonly phase: string
  readonly agent: string
}

const GIVES = new Set(['task_claimed', 'phase_entered'])
const CHANGES = new Set([...GIVES, 'task_released', 'lease_lapsed', 'task_reassigned', 'task_parked', 'task_completed'])
const STALE = new Set(['token_stale', 'token_superseded', 'no_active_task'])

/**
 * Whether the history is linearizable, with the ledger as the order that it must fit: every answered change has its
 * point there, no point lies before one of a call that had ended when this one began, a token was accepted only while
 * nothing that had been answered superseded it, and refused as superseded only if something did.
 */
export function checkOrder(operations: readonly Operation[], events: readonly Written[]): readonly string[] {
  const ledger = new Ledger(events)
  const problems: string[] = []
  const points = new Map<Operation, number>()
  for (const operation of operations) {
    const point = findPoint(ledger, operation)
    if (point === 'missing') problems.push(`${describe(operation)}: answered, and no event says so`)
    else if (point !== null) points.set(operation, point)
  }
  const known = new Known(points)
  for (const operation of operations) {
    const problem = findDisorder({ operation, point: points.get(operation) ?? null, ledger, known })
    if (problem !== null) problems.push(`${describe(operation)}: ${problem}`)
  }
  return [...problems, ...findUnasked(operations, events)]
}

interface Judged {
  readonly operation: Operation
  readonly point: number | null
  readonly ledger: Ledger
  readonly known: Known
}

function findDisorder({ operation, point, ledger, known }: Judged): string | null {
  const { used, status, code, begun, ended } = operation
  const before = known.newestBefore(begun)
  if (point !== null && point <= before) return `written as event ${point}, and ${before} had been answered before`
  if (used === null || status === null) return null
  const end = ledger.findEnd(used)
  if (status < 400 && end <= before) return `accepted, although event ${end} superseded it and ${before} was answered`
  if (status < 400 || !STALE.has(code ?? '')) return null
  const next = known.oldestAfter(ended)
  return end < next ? null : `refused as superseded, and nothing had superseded it before event ${next}`
}

// An answered change is one event of the ledger; a look and a refusal are none.
function findPoint(ledger: Ledger, { kind, status, given, used }: Operation): number | 'missing' | null {
  if (status === null || status >= 400) return null
  if (given !== null) return ledger.findStart(given) ?? 'missing'
  if (kind !== 'release' || used === null) return null
  const end = ledger.findEnd(used)
  return end === Number.POSITIVE_INFINITY ? 'missing' : end
}

/** The life of each grant, by the order of the ledger. */
class Ledger {
  readonly #byTask = new Map<string, Written[]>()

  constructor(events: readonly Written[]) {
    for (const event of [...events].sort((a, b) => a.seq - b.seq)) {
      if (!CHANGES.has(event.type)) continue
      const own = this.#byTask.get(event.task)
      if (own === undefined) this.#byTask.set(event.task, [event])
      else own.push(event)
    }
  }

  findStart({ task, epoch, phase, agent }: Grant): number | null {
    const found = this.#of(task).find((one) => one.epoch === epoch && one.phase === phase && GIVES.has(one.type))
    return found === undefined || (found.agent !== '' && found.agent !== agent) ? null : found.seq
  }

  /** The event that superseded the grant; infinity: none did. */
  findEnd(grant: Grant): number {
    const start = this.findStart(grant) ?? 0
    const isNext = ({ seq, epoch, type }: Written) => seq > start && (epoch > grant.epoch || !GIVES.has(type))
    const next = this.#of(grant.task).find(isNext)
    return next?.seq ?? Number.POSITIVE_INFINITY
  }

  #of(task: string): readonly Written[] {
    return this.#byTask.get(task) ?? []
  }
}

/** What was certain at a time: the points of all calls that had ended, and of those that had not begun. */
class Known {
  readonly #ended: readonly (readonly [at: number, newest: number])[]
  readonly #begun: readonly (readonly [at: number, oldest: number])[]

  constructor(points: ReadonlyMap<Operation, number>) {
    const all = [...points]
    const ended = all.map(([operation, point]) => [operation.ended, point] as const)
    const begun = all.map(([operation, point]) => [operation.begun, point] as const)
    this.#ended = runAlong(
      [...ended].sort(([a], [b]) => a - b),
      Math.max,
    )
    this.#begun = runAlong(
      [...begun].sort(([a], [b]) => b - a),
      Math.min,
    )
  }

  /** The newest event that was answered before the tick. */
  newestBefore(tick: number): number {
    return findLast(this.#ended, (at) => at < tick) ?? 0
  }

  /** The oldest event of all calls that began after the tick. */
  oldestAfter(tick: number): number {
    return findLast(this.#begun, (at) => at > tick) ?? Number.POSITIVE_INFINITY
  }
}

// With each time, the newest or oldest point up to there.
function runAlong(pairs: readonly (readonly [at: number, point: number])[], choose: (a: number, b: number) => number) {
  let chosen = pairs[0]?.[1] ?? 0
  return pairs.map(([at, point]) => {
    chosen = choose(chosen, point)
    return [at, chosen] as const
  })
}

// The pairs are sorted so that those for which it holds come first.
function findLast(pairs: readonly (readonly [number, number])[], holds: (at: number) => boolean): number | undefined {
  let [low, high] = [0, pairs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(pairs[middle]?.[0] ?? 0)) low = middle + 1
    else high = middle
  }
  return pairs[low - 1]?.[1]
}

/** Changes that no agent asked for: each must be one that was answered, or one of a call whose answer is unknown. */
function findUnasked(operations: readonly Operation[], events: readonly Written[]): readonly string[] {
  const told = new Set(
    operations.flatMap(({ given }) => (given === null ? [] : [`${given.task} ${given.epoch} ${given.phase}`])),
  )
  const open = new Map<string, number>()
  for (const { agent, status, given } of operations)
    if (given === null && (status === null || status >= 500)) open.set(agent, (open.get(agent) ?? 0) + 1)
  const problems: string[] = []
  for (const { type, agent, task, epoch, phase, seq } of events) {
    const key = `${task} ${epoch} ${phase}`
    if (!GIVES.has(type) || agent === '' || told.has(key)) continue
    told.add(key)
    const left = (open.get(agent) ?? 0) - 1
    open.set(agent, left)
    if (left < 0) problems.push(`event ${seq} gave ${phase} of ${task} to ${agent}, who did not ask for it`)
  }
  return problems
}

function describe({ agent, kind, base, used, begun }: Operation): string {
  const token = used === null ? '' : ` with ${used.task} at epoch ${used.epoch}`
  return `${kind} of ${agent} at ${base}${token} (tick ${begun})`
}
