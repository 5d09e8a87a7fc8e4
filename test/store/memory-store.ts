import { createSecretKey, randomBytes } from 'node:crypto'
import { clampPageLimit, decodeCursor, encodeCursor, readLimit } from '../../src/store/cursor.js'
import { findOldestWanted, findSearchRange, toAuditPage } from '../../src/store/read/search-range.js'
import {
  type Append,
  type AppendResult,
  type AuditFilter,
  type AuditPage,
  type AuditStats,
  type Page,
  type Remembered,
  type Store,
  type StoredEvent,
  StoreUnavailable,
  type TaskFilter,
  type TaskRow,
} from '../../src/store/store.js'
import { toWireAppend } from '../../src/store/wire.js'
import { Lines } from '../../src/store/write/broken-lines.js'
import { computeEventHash, FIRST_PREV_HASH } from '../../src/store/write/chain.js'
import { isHeld, matchesEvent, matchesTask, tally } from './memory-match.js'
import { type KeptEvent, verifyMemory } from './memory-verify.js'

/** The ledger without a disk, for tests: the same rules and the same chain, gone with the process. */
export function openMemoryStore(options: { readonly now?: () => number } = {}): Store {
  return new MemoryStore(options.now ?? Date.now)
}

const KEY_LIFETIME_MS = 24 * 60 * 60 * 1_000

class MemoryStore implements Store {
  readonly #key = createSecretKey(randomBytes(32))
  readonly #events: KeptEvent[] = []
  readonly #streams = new Map<string, KeptEvent[]>()
  /** In the order of creation. */
  readonly #tasks = new Map<string, TaskRow>()
  readonly #blobs = new Map<string, string>()
  readonly #remembered = new Map<string, { readonly remembered: Remembered; readonly at: number }>()
  readonly #lines = new Lines()
  readonly #now: () => number
  #isClosed = false

  constructor(now: () => number) {
    this.#now = now
  }

  async append(append: Append): Promise<AppendResult> {
    this.#refuseClosed()
    const wire = toWireAppend(append, 0, this.#now())
    const result = this.#apply(
      append,
      wire.events.map((event) => event[6]),
    )
    if (!result.ok) this.#lines.break(append.line)
    return result
  }

  #apply(append: Append, dataTexts: readonly string[]): AppendResult {
    const { remember, task } = append
    if (remember !== undefined && this.#findKey(remember) !== null) return { ok: false, reason: 'key_taken' }
    const version = this.#streams.get(append.stream)?.length ?? 0
    if (version !== append.expectedVersion || this.#lines.isBroken(append.line))
      return { ok: false, reason: 'version_conflict', version }
    if (task !== undefined && this.#isAgentBusy(task)) return { ok: false, reason: 'agent_busy' }
    const events = append.events.map((event, index) => this.#insert(append.stream, event, dataTexts[index] ?? '{}'))
    if (task !== undefined) this.#tasks.set(task.id, structuredClone(task))
    for (const blob of append.blobs ?? []) this.#blobs.set(blob.sha256, blob.content)
    if (remember !== undefined) {
      this.#remembered.set(formatKey(remember), { remembered: structuredClone(remember), at: this.#now() })
    }
    return { ok: true, events }
  }

  #insert(stream: string, event: Append['events'][number], dataText: string): StoredEvent {
    const before = this.#streams.get(stream) ?? []
    const { type, at, actor, epoch, phase, contract } = event
    const place = { seq: this.#events.length + 1, stream, version: before.length + 1 }
    const prevHash = before.at(-1)?.hash ?? FIRST_PREV_HASH
    const columns = { ...place, type, at, actor, epoch, phase, contract, dataText, prevHash }
    const kept: KeptEvent = { ...columns, data: JSON.parse(dataText), hash: computeEventHash(this.#key, columns) }
    this.#events.push(kept)
    before.push(kept)
    this.#streams.set(stream, before)
    return stripText(kept)
  }

  #isAgentBusy(task: TaskRow): boolean {
    if (task.agentId === null || !isHeld(task)) return false
    const held = this.#findHeld(task.agentId)
    return held !== null && held.id !== task.id
  }

  async readStream(stream: string, afterVersion: number, limit: number) {
    this.#refuseClosed()
    const events = this.#streams.get(stream) ?? []
    return events.slice(afterVersion, afterVersion + readLimit(limit)).map(stripText)
  }

  async readAll(afterSeq: number, limit: number) {
    this.#refuseClosed()
    return this.#events.slice(afterSeq, afterSeq + readLimit(limit)).map(stripText)
  }

  async lastSeq() {
    this.#refuseClosed()
    return this.#events.length
  }

  async task(id: string) {
    this.#refuseClosed()
    return this.#tasks.get(id) ?? null
  }

  async queryTasks(filter: TaskFilter): Promise<Page<TaskRow>> {
    this.#refuseClosed()
    const before = filter.cursor === undefined ? Number.POSITIVE_INFINITY : decodeCursor(filter.cursor)
    const numbered = [...this.#tasks.values()].map((task, index) => ({ task, num: index + 1 })).reverse()
    const found = numbered.filter(({ task, num }) => num < before && matchesTask(task, filter))
    const limit = clampPageLimit(filter.limit)
    const items = found.slice(0, limit)
    const nextCursor = found.length > limit ? encodeCursor(items.at(-1)?.num ?? 0) : null
    return { items: items.map(({ task }) => task), nextCursor }
  }

  async listClaimable({ offset, limit }: { readonly offset: number; readonly limit: number }) {
    this.#refuseClosed()
    const isDone = (id: string) => this.#tasks.get(id)?.status === 'completed'
    return [...this.#tasks.values()]
      .filter((task) => (task.status === 'queued' || task.status === 'interrupted') && task.dependsOn.every(isDone))
      .sort((a, b) => b.priority - a.priority || a.createdAt - b.createdAt)
      .slice(offset, offset + clampPageLimit(limit))
  }

  async findHeldBy(agentId: string) {
    this.#refuseClosed()
    return this.#findHeld(agentId)
  }

  #findHeld(agentId: string): TaskRow | null {
    for (const task of this.#tasks.values()) if (task.agentId === agentId && isHeld(task)) return task
    return null
  }

  async listOverdue({ now, limit }: { readonly now: number; readonly limit: number }) {
    this.#refuseClosed()
    const isPast = (time: number | null) => time !== null && time < now
    return [...this.#tasks.values()]
      .filter((task) => (isHeld(task) && isPast(task.leaseExpiresAt)) || isPast(task.approvalExpiresAt))
      .slice(0, clampPageLimit(limit))
  }

  async countTasks() {
    this.#refuseClosed()
    const counts = tally([...this.#tasks.values()].map((task) => JSON.stringify([task.status, task.phase])))
    return Object.entries(counts).map(([group, count]) => {
      const [status, phase] = JSON.parse(group) as [string, string]
      return { status, phase, count }
    })
  }

  async listDependents(id: string) {
    this.#refuseClosed()
    const tasks = [...this.#tasks.values()].filter((task) => task.dependsOn.includes(id))
    return tasks.map((task) => task.id).sort()
  }

  async readBlob(sha256: string) {
    this.#refuseClosed()
    return this.#blobs.get(sha256) ?? null
  }

  async recall(options: { readonly principal: string; readonly key: string }) {
    this.#refuseClosed()
    return this.#findKey(options)
  }

  #findKey(options: { readonly principal: string; readonly key: string }): Remembered | null {
    const found = this.#remembered.get(formatKey(options))
    return found !== undefined && found.at > this.#now() - KEY_LIFETIME_MS ? found.remembered : null
  }

  async query(filter: AuditFilter): Promise<AuditPage> {
    this.#refuseClosed()
    const range = findSearchRange(filter, this.#events.length)
    const isInRange = ({ seq }: StoredEvent): boolean => seq <= range.from && seq >= range.to
    const found = this.#events.toReversed().filter((event) => isInRange(event) && matchesEvent(event, filter))
    const limit = clampPageLimit(filter.limit)
    return toAuditPage(found.map(stripText), { limit, range, oldest: findOldestWanted(filter) })
  }

  async readStats(): Promise<AuditStats> {
    this.#refuseClosed()
    const times = this.#events.map((event) => event.at).sort((a, b) => a - b)
    return {
      events: this.#events.length,
      streams: this.#streams.size,
      byType: tally(this.#events.map((event) => event.type)),
      byCode: tally(this.#events.flatMap((event) => (typeof event.data.code === 'string' ? [event.data.code] : []))),
      firstAt: times[0] ?? null,
      lastAt: times.at(-1) ?? null,
    }
  }

  async verify() {
    this.#refuseClosed()
    return verifyMemory({ key: this.#key, events: this.#events, blobs: this.#blobs })
  }

  async writeSeal(): Promise<void> {
    this.#refuseClosed()
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new StoreUnavailable('The ledger is closed.')
  }
}

function formatKey({ principal, key }: { readonly principal: string; readonly key: string }): string {
  return JSON.stringify([principal, key])
}

function stripText({ dataText: _, ...event }: KeptEvent): StoredEvent {
  return event
}
