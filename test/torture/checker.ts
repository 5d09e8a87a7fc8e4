import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import type { Entry, Kind } from './clients.js'
import { ask, type Server } from './server.js'

export interface StoredLike {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

interface TimelineEvent extends StoredLike {
  readonly version: number
  readonly hash: string
  readonly prev_hash: string
}

const LETS_GO = ['task_released', 'lease_lapsed', 'task_reassigned', 'task_cancelled', 'task_completed']

/** What of it is missing in the events of its task: also for a ledger that no server serves. */
export function missingIn(told: readonly Entry[], read: (task: string) => readonly StoredLike[]): readonly string[] {
  return [...byTask(told)].flatMap(([task, entries]) => {
    const events = read(task)
    return [...presence(events, entries), ...holders(events)].map((one) => `${task}: ${one}`)
  })
}

/**
 * Holds what clients were told against what the server and its directory say. It knows nothing of the program's
 * inside: it reads answers, timelines, `GET /audit/...` and verifies the directory.
 */
export class Checker {
  /** What was seen of each task: nothing of it may ever change. */
  readonly #seen = new Map<string, readonly string[]>()

  constructor(
    private readonly history: readonly Entry[],
    private readonly stateDir: string,
  ) {}

  /** A directory that nobody serves. */
  async directory(): Promise<readonly string[]> {
    const report = await verifyDirectory(this.stateDir)
    return report.problems.map(({ code, detail }) => `${code}: ${detail}`)
  }

  /** While clients go on: everything acknowledged so far is there. */
  async present(server: Server, since: number): Promise<readonly string[]> {
    const told = this.history.slice(since).map((one) => ({ ...one }))
    return this.#look(server, told, { isFinal: false })
  }

  /** When all requests are settled: all of it is there, and each of it once. */
  async everything(server: Server): Promise<readonly string[]> {
    const problems = [...(await this.#look(server, this.history, { isFinal: true }))]
    const audit = await ask(server.base, { method: 'GET', path: '/audit/verify', token: server.operator })
    if (audit.body.ok !== true) problems.push(`audit: ${JSON.stringify(audit.body.problems)}`)
    const held = await this.#heldTasks(server)
    for (const [agent, tasks] of held) if (tasks.length > 1) problems.push(`${agent} holds ${tasks.join(' and ')}`)
    return problems
  }

  async #look(server: Server, told: readonly Entry[], how: { readonly isFinal: boolean }): Promise<readonly string[]> {
    const problems: string[] = []
    for (const [task, entries] of byTask(told)) {
      const events = await this.#timeline(server, task)
      if (events === null) {
        if (entries.some((one) => isDone(one))) problems.push(`${task}: acknowledged and not there`)
        continue
      }
      problems.push(
        ...[...this.#unchanged(task, events), ...presence(events, entries), ...holders(events)].map(
          (one) => `${task}: ${one}`,
        ),
      )
      if (how.isFinal) problems.push(...counts(events, entries).map((one) => `${task}: ${one}`))
    }
    return problems
  }

  #unchanged(task: string, events: readonly TimelineEvent[]): readonly string[] {
    const before = this.#seen.get(task) ?? []
    const now = events.map((event) => event.hash)
    this.#seen.set(task, now)
    const problems = before.some((hash, index) => now[index] !== hash) ? ['an event that was seen before changed'] : []
    if (events.some((event, index) => event.version !== index + 1)) problems.push('its versions have gaps')
    if (events.some((event, index) => index > 0 && event.prev_hash !== now[index - 1]))
      problems.push('its chain is cut')
    return problems
  }

  async #timeline(server: Server, task: string): Promise<readonly TimelineEvent[] | null> {
    const events: TimelineEvent[] = []
    for (let after = 0; ; ) {
      const path = `/tasks/${task}/timeline?after=${after}&limit=1000`
      const page = await ask(server.base, { method: 'GET', path, token: server.operator })
      if (page.status === 404) return null
      events.push(...(page.body.events as TimelineEvent[]))
      if (page.body.next_after === null) return events
      after = Number(page.body.next_after)
    }
  }

  async #heldTasks(server: Server): Promise<ReadonlyMap<string, readonly string[]>> {
    const held = new Map<string, string[]>()
    for (const status of ['active', 'awaiting_approval']) {
      const path = `/tasks?status=${status}&limit=1000`
      const { body } = await ask(server.base, { method: 'GET', path, token: server.operator })
      for (const { id, agent_id } of body.tasks as { id: string; agent_id: string }[])
        held.set(agent_id, [...(held.get(agent_id) ?? []), id])
    }
    return held
  }
}

function byTask(told: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const tasks = new Map<string, Entry[]>()
  for (const one of told) {
    // Which task a claim gave is only in its answer.
    const claimed = one.kind === 'claim' ? (one.answer?.body.task as { id?: string } | undefined)?.id : undefined
    const task = one.task ?? claimed
    if (task === undefined) continue
    const entries = tasks.get(task)
    if (entries === undefined) tasks.set(task, [one])
    else entries.push(one)
  }
  return tasks
}

function isDone({ kind, answer }: Entry): boolean {
  if (answer === null) return false
  if (kind === 'check') return answer.body.allowed === true
  if (kind === 'transition') return typeof answer.body.allowed === 'boolean'
  return answer.status === 200 || answer.status === 201
}

function presence(events: readonly StoredLike[], entries: readonly Entry[]): readonly string[] {
  const done = entries.filter(isDone)
  const problems: string[] = []
  const expectAtLeast = (what: string, found: number, wanted: number) => {
    if (found < wanted) problems.push(`${what}: ${wanted} acknowledged, ${found} in the ledger`)
  }
  for (const one of done.filter(({ kind }) => kind === 'check')) expectAtLeast(one.mark, checks(events, one.mark), 1)
  for (const [kind, type] of [
    ['create', 'task_created'],
    ['claim', 'task_claimed'],
    ['transition', 'transition_requested'],
    ['release', 'task_released'],
  ] as const)
    expectAtLeast(type, ofType(events, type), ofKind(done, kind))
  const passed = done.filter((one) => one.kind === 'transition' && one.answer?.body.allowed === true).length
  expectAtLeast('gate_passed', ofType(events, 'gate_passed'), passed)
  for (const id of new Set(done.filter(({ kind }) => kind === 'approve').map(({ mark }) => mark)))
    expectAtLeast(id, decisions(events, id), 1)
  return problems
}

/** Requests with a key were sent until they were answered: then the numbers must be equal. */
function counts(events: readonly StoredLike[], entries: readonly Entry[]): readonly string[] {
  const problems: string[] = []
  const expectExactly = (what: string, found: number, wanted: number) => {
    if (found !== wanted) problems.push(`${what}: ${wanted} acknowledged, ${found} in the ledger`)
  }
  const done = entries.filter(isDone)
  expectExactly('task_created', ofType(events, 'task_created'), ofKind(done, 'create'))
  expectExactly('task_claimed', ofType(events, 'task_claimed'), ofKind(done, 'claim'))
  expectExactly('transition_requested', ofType(events, 'transition_requested'), ofKind(done, 'transition'))
  const passed = done.filter((one) => one.kind === 'transition' && one.answer?.body.allowed === true).length
  expectExactly('gate_passed', ofType(events, 'gate_passed'), passed)
  for (const one of entries.filter(({ kind }) => kind === 'check'))
    if (checks(events, one.mark) > 1) problems.push(`${one.mark}: recorded twice`)
  for (const id of new Set(entries.filter(({ kind }) => kind === 'approve').map(({ mark }) => mark)))
    if (decisions(events, id) > 1) problems.push(`${id}: decided twice`)
  if (ofType(events, 'task_released') > ofKind(entries, 'release')) problems.push('released more often than asked')
  return problems
}

/** Nobody claims what somebody else holds. */
function holders(events: readonly StoredLike[]): readonly string[] {
  let holder: string | null = null
  const problems: string[] = []
  for (const event of events) {
    if (LETS_GO.includes(event.type)) holder = null
    if (event.type !== 'task_claimed') continue
    const agent = String(event.data.agent_id)
    if (holder !== null && holder !== agent) problems.push(`claimed by ${agent} while ${holder} holds it`)
    holder = agent
  }
  return problems
}

function ofType(events: readonly StoredLike[], type: string): number {
  return events.filter((event) => event.type === type).length
}

function ofKind(entries: readonly Entry[], kind: Kind): number {
  return entries.filter((one) => one.kind === kind).length
}

function checks(events: readonly StoredLike[], mark: string): number {
  return events.filter(
    ({ type, data }) => type === 'tool_allowed' && (data.args as { path?: string } | undefined)?.path === mark,
  ).length
}

function decisions(events: readonly StoredLike[], id: string): number {
  return events.filter(({ type, data }) => type === 'approval_decided' && data.approval_id === id).length
}
