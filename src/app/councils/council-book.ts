import { KeyedLock } from '../../base/keyed-lock.js'
import type { RunCommand, RunDecision, RunOutcome, StartRun } from '../../core/councils/command.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import { decideRun } from '../../core/councils/decide-council.js'
import type { RunEvent } from '../../core/councils/event.js'
import { evolveRun } from '../../core/councils/evolve-council.js'
import type { Blob, Store } from '../../store/store.js'
import { StoreUnavailable } from '../../store/store.js'
import type { Kept } from '../kept-answer.js'
import type { Resources } from '../resources.js'
import { redactSecrets, toRunEvent, toRunRecord } from './council-events.js'

const PAGE = 1000
/** Maximum number of finished councils kept in memory. */
const OVER_KEPT_MAX = 50
const CONFLICTS_MAX = 5

type RunApp = Pick<Resources, 'ledger' | 'now' | 'redact'>

/** Outcome of a command on a council. */
export interface AppliedCommand {
  readonly outcome: RunOutcome
  /** Sequence number of the stream before the events. */
  readonly version: number
  readonly events: readonly RunEvent[]
  readonly run: CoordinationRun
}

export interface RunApplyOptions {
  readonly blobs?: readonly Blob[]
  /** Stored under an idempotency key in the same transaction. */
  readonly remember?: (applied: AppliedCommand) => Kept | undefined
  /** Follow-up commands: decided on the resulting state, written in the same transaction. */
  readonly followedBy?: (run: CoordinationRun) => RunCommand | null
}

interface Entry {
  run: CoordinationRun
  version: number
  /** How many responses of each agent were judged; a scripted participant continues from there. */
  readonly responses: Map<string, number>
}

export function runStream(id: string): string {
  return `run:${id}`
}

/** The councils, each folded from its stream. Commands on one council are decided and written one at a time. */
export class RunBook {
  readonly #entries = new Map<string, Promise<Entry | null>>()
  readonly #turns = new KeyedLock()

  constructor(private readonly app: RunApp) {}

  /** The durable state of a council; null when the id is unknown. */
  async read(id: string): Promise<CoordinationRun | null> {
    return (await this.#entry(id))?.run ?? null
  }

  async countResponses(id: string, agent: string): Promise<number> {
    return (await this.#entry(id))?.responses.get(agent) ?? 0
  }

  /** Starts a council. If the request is invalid, the outcome says why and no council exists. */
  async start(command: StartRun, actor: string, more: RunApplyOptions = {}): Promise<AppliedCommand | RunOutcome> {
    const decision = decideRun(null, command, this.app.now())
    if (decision.events.length === 0) return decision.outcome
    const written = await this.#write(null, { id: command.id, actor, more, ...decision })
    if (written === null) throw new StoreUnavailable(`council ${command.id} already exists`)
    this.#entries.set(command.id, Promise.resolve(written.entry))
    return written.applied
  }

  /** Decides the command on the council and makes the result durable. Null when the council does not exist. */
  apply(id: string, given: RunCommand, actor: string, more: RunApplyOptions = {}): Promise<AppliedCommand | null> {
    // Secrets are removed before the answer is judged, because stored answers of others have theirs removed too.
    const command = redactSecrets(given, this.app.redact)
    return this.#turns.run(id, async () => {
      for (let attempt = 0; attempt < CONFLICTS_MAX; attempt += 1) {
        const entry = await this.#entry(id)
        if (entry === null) return null
        const decision = decideWithFollowUp(entry.run, command, { now: this.app.now(), followedBy: more.followedBy })
        if (decision.events.length === 0) return { ...decision, run: entry.run, version: entry.version }
        const written = await this.#write(entry, { id, actor, more, ...decision })
        if (written !== null) return written.applied
        this.#entries.delete(id)
      }
      throw new StoreUnavailable(`run ${id} changed too often while a command was decided`)
    })
  }

  async #write(
    entry: Entry | null,
    one: {
      readonly id: string
      readonly actor: string
      readonly more: RunApplyOptions
      readonly events: readonly RunEvent[]
      readonly outcome: RunOutcome
    },
  ): Promise<{ readonly applied: AppliedCommand; readonly entry: Entry } | null> {
    // Secrets are removed before anything is folded or hashed, so that a replay sees the same texts.
    const records = one.events.map((event) => toRunRecord(redactSecrets(event, this.app.redact)))
    const blobs = [...(one.more.blobs ?? []), ...records.flatMap((record) => record.blobs)]
    const rows = this.app.ledger.toRows(records.map(({ event }) => ({ ...event, actor: one.actor })))
    const known = new Map(blobs.map((blob) => [blob.sha256, blob.content]))
    const events = await Promise.all(rows.map((row) => toRunEvent(row, async (sha256) => known.get(sha256) ?? null)))
    const run = events.reduce<CoordinationRun | null>(evolveRun, entry?.run ?? null)
    if (run === null) throw new Error('a run without events has no state')
    const applied: AppliedCommand = { outcome: one.outcome, version: entry?.version ?? 0, events, run }
    const remember = one.more.remember?.(applied)
    try {
      const isWritten = await this.app.ledger.writeTo({
        stream: runStream(one.id),
        expectedVersion: entry?.version ?? 0,
        events: rows,
        ...(blobs.length === 0 ? {} : { blobs }),
        ...(remember === undefined ? {} : { remember }),
      })
      if (!isWritten) return null
    } catch (error) {
      // The write failed, so it did not happen: the next caller reads the stream again.
      this.#entries.delete(one.id)
      throw error
    }
    const after = entry ?? { run, version: 0, responses: new Map<string, number>() }
    after.run = run
    after.version += rows.length
    for (const event of events) count(after.responses, event)
    if (run.endedAt !== null) this.#letGo(one.id)
    return { applied, entry: after }
  }

  #entry(id: string): Promise<Entry | null> {
    const known = this.#entries.get(id)
    if (known !== undefined) return known
    const loading = load(this.app.ledger.store, id)
    this.#entries.set(id, loading)
    // A council that was started meanwhile is known from what was written, not from the earlier read.
    const forget = (): void => {
      if (this.#entries.get(id) === loading) this.#entries.delete(id)
    }
    loading.then((entry) => {
      // What another node appends to it later would not be noticed.
      if (entry === null || this.app.ledger.cluster?.isElsewhere(runStream(id)) === true) forget()
      else if (entry.run.endedAt !== null) this.#letGo(id)
    }, forget)
    return loading
  }

  readonly #over = new Set<string>()

  #letGo(id: string): void {
    this.#over.delete(id)
    this.#over.add(id)
    if (this.#over.size <= OVER_KEPT_MAX) return
    const oldest = this.#over.values().next().value ?? ''
    this.#over.delete(oldest)
    this.#entries.delete(oldest)
  }
}

function decideWithFollowUp(
  run: CoordinationRun,
  command: RunCommand,
  { now, followedBy }: { readonly now: number; readonly followedBy: RunApplyOptions['followedBy'] },
): RunDecision {
  const first = decideRun(run, command, now)
  if (followedBy === undefined || first.outcome.kind === 'refused') return first
  const after = first.events.reduce<CoordinationRun>(evolveRun, run)
  const next = followedBy(after)
  return next === null ? first : { ...first, events: [...first.events, ...decideRun(after, next, now).events] }
}

async function load(store: Store, id: string): Promise<Entry | null> {
  let entry = null as Entry | null
  for (;;) {
    const page = await store.readStream(runStream(id), entry?.version ?? 0, PAGE)
    for (const stored of page) {
      const event = await toRunEvent(stored, (sha256) => store.readBlob(sha256))
      const run = evolveRun(entry?.run ?? null, event)
      entry = { run, version: stored.version, responses: entry?.responses ?? new Map<string, number>() }
      count(entry.responses, event)
    }
    if (page.length < PAGE) return entry
  }
}

const JUDGED: ReadonlySet<string> = new Set([
  ...['answer_accepted', 'vote_cast', 'vote_asked_again', 'response_rejected', 'final_presented'],
])

function count(responses: Map<string, number>, event: RunEvent): void {
  if (JUDGED.has(event.type) && 'agent' in event) responses.set(event.agent, (responses.get(event.agent) ?? 0) + 1)
}
