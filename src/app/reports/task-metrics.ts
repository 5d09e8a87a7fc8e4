import type { JsonObject } from '../../core/json.js'
import type { UsageFact } from '../../core/rules/facts.js'
import type { TaskEvent } from '../../core/task/event.js'
import { isRefusal } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import { extractTouched } from '../../core/watch/evolve-watch.js'
import type { App } from '../app.js'
import { admitCall } from '../identity/agent-call.js'
import type { Party } from '../identity/identity.js'
import { formatStream } from '../ledger/entries.js'
import { noTask, ok, type Result } from '../result.js'
import { toIsoTime, toTaskEvent } from '../wire.js'
import {
  addTally,
  computeSeconds,
  countMessage,
  type Entrance,
  forgetMessages,
  makeTally,
  type Room,
  type Tally,
  toTallyView,
  toVisitView,
  type Visit,
} from './visit-tally.js'

const PAGE = 1000
/** Maximum per task; later ones are not counted, and the answer says so. */
export const EVENTS_MAX = 1_000_000
const VISITS_MAX = 10_000
const VISITS_TOLD_MAX = 200
const PHASES_TOLD_MAX = 200
const MESSAGES_MAX = 100_000
const TEXTS_MAX = 50_000
/** Maximum number of tasks with cached counts, so that asking again only reads new events. */
const KEPT_MAX = 8

/** Cost of a task by visit, by phase and in total, counted from its stream. */
export async function buildTaskMetrics(app: App, principal: Party, taskId: string): Promise<Result<JsonObject>> {
  if (principal.kind === 'agent') {
    const admitted = await admitCall(app, principal.bearer, taskId)
    if (!admitted.ok) return admitted
  }
  const state = await app.ledger.read(taskId)
  if (state === null) return noTask(taskId)
  const kept = getKeptCount(app, taskId)
  // A caller that asks during another's pass waits for it, even if it fails, and continues where it stopped.
  const goOn = (): Promise<void> => addTaskEvents(app, taskId, kept.count)
  kept.walked = kept.walked.then(goOn, goOn)
  await kept.walked
  return ok(toMetricsView(state, kept.count, app.now()))
}

interface KeptCount {
  readonly count: Count
  walked: Promise<void>
}

const KEPT = new WeakMap<App['ledger'], Map<string, KeptCount>>()

function getKeptCount({ ledger }: App, taskId: string): KeptCount {
  const all = KEPT.get(ledger) ?? new Map<string, KeptCount>()
  KEPT.set(ledger, all)
  const kept = all.get(taskId) ?? { count: new Count(), walked: Promise.resolve() }
  all.delete(taskId)
  all.set(taskId, kept)
  for (const id of [...all.keys()].slice(0, Math.max(0, all.size - KEPT_MAX))) all.delete(id)
  return kept
}

/** Adds the events of a task that were not added yet, up to the maximum. */
export async function addTaskEvents(
  app: App,
  taskId: string,
  count: { readonly events: number; add(event: TaskEvent): void },
): Promise<void> {
  while (count.events < EVENTS_MAX) {
    const page = await app.ledger.store.readStream(formatStream(taskId), count.events, PAGE)
    for (const stored of page) count.add(toTaskEvent(stored))
    if (page.length < PAGE) break
  }
}

/** One pass over the events of a task. */
class Count {
  readonly visits: Visit[] = []
  readonly #room: Room = { left: TEXTS_MAX }
  /** By id; events without one each count separately. */
  readonly #messages = new Map<string, UsageFact>()
  events = 0
  isCut = false

  add(event: TaskEvent): void {
    this.events += 1
    this.#move(event)
    if (event.type === 'usage_recorded') this.#usage(event)
    const visit = this.visits.at(-1)
    // What others did with the task does not count as its agent's work.
    if (visit !== undefined && !('reviewer' in event && event.reviewer !== undefined)) tell(visit.tally, event)
  }

  listMessages(): Iterable<UsageFact> {
    return this.#messages.values()
  }

  startTally(): Tally {
    return makeTally({ left: TEXTS_MAX })
  }

  #move(event: TaskEvent): void {
    if (event.type === 'task_completed' || event.type === 'task_cancelled') this.#leave(event.at)
    if (event.type !== 'phase_entered' && event.type !== 'task_rewound') return
    this.#leave(event.at)
    if (this.visits.length >= VISITS_MAX) {
      this.isCut = true
      return
    }
    this.visits.push({
      phase: event.to,
      visit: (this.visits.at(-1)?.visit ?? 0) + 1,
      enteredAt: event.at,
      entrance: toEntrance(event),
      leftAt: null,
      tally: makeTally(this.#room),
    })
  }

  #leave(at: number): void {
    const visit = this.visits.at(-1)
    if (visit !== undefined) visit.leftAt ??= at
  }

  // The same message may be reported again later with higher numbers: it counts once, with the highest, at its first
  // place.
  #usage(event: TaskEvent & { type: 'usage_recorded' }): void {
    const { input, output, cacheRead, cacheWrite, grade, usageId, occurredAt } = event
    const key = usageId === null ? `#${this.events}` : `=${usageId}`
    const known = this.#messages.get(key)
    if (known === undefined && this.#messages.size >= MESSAGES_MAX) {
      this.isCut = true
      return
    }
    const largest = (name: 'input' | 'output' | 'cacheRead' | 'cacheWrite', value: number): number =>
      Math.max(value, known?.[name] ?? 0)
    this.#messages.set(key, {
      id: usageId,
      at: Math.min(occurredAt, known?.at ?? occurredAt),
      input: largest('input', input),
      output: largest('output', output),
      cacheRead: largest('cacheRead', cacheRead),
      cacheWrite: largest('cacheWrite', cacheWrite),
      grade: known?.grade === 'reported' ? 'reported' : grade,
    })
  }
}

function toEntrance(event: TaskEvent & { type: 'phase_entered' | 'task_rewound' }): Entrance {
  if (event.type === 'task_rewound') return 'rewind'
  return event.from === null ? 'start' : event.back ? 'back' : 'transition'
}

function tell(tally: Tally, event: TaskEvent): void {
  switch (event.type) {
    case 'tool_allowed': {
      if (!event.execute) return
      const { command, edits } = extractTouched(event)
      tally.toolCalls += 1
      if (command !== null) tally.commands.add(command)
      for (const path of edits) tally.edits.add(path)
      return
    }
    case 'fact_recorded':
      tally.toolCalls += 1
      if (event.command !== null) tally.commands.add(event.command)
      for (const path of event.paths) tally.edits.add(path)
      return
    case 'tool_finished':
      if (event.success && event.toolName === 'git_commit') tally.commits += 1
      return
    case 'rule_violated':
      if (event.shadow) return
      tally.interrupts += 1
      tally.refusals.add(event.code)
      return
    case 'gate_blocked':
      if (isRefusal(event)) tally.refusals.add(event.code)
      return
    case 'unledgered_change_found':
      if (event.counted !== undefined) tally.refusals.add(event.code)
      return
    case 'tool_denied':
    case 'changes_dropped':
    case 'transition_refused':
    case 'checkpoint_refused':
    case 'approval_refused':
    case 'question_refused':
    case 'token_refused':
      tally.refusals.add(event.code)
      return
    default:
      return
  }
}

function toMetricsView(state: TaskState, count: Count, now: number): JsonObject {
  const outside = count.startTally()
  const visitAt = makeVisitFinder(count.visits)
  for (const { tally } of count.visits) forgetMessages(tally)
  const phases = new Map<string, { visits: number; seconds: number; readonly tally: Tally }>()
  const all = { visits: 0, seconds: 0, tally: count.startTally() }
  for (const visit of count.visits) {
    const phase = phases.get(visit.phase) ?? { visits: 0, seconds: 0, tally: count.startTally() }
    phases.set(visit.phase, phase)
    for (const sum of [phase, all]) {
      sum.visits += 1
      sum.seconds += computeSeconds(visit, now)
      addTally(sum.tally, visit.tally)
    }
  }
  for (const message of count.listMessages()) {
    const visit = visitAt(message.at)
    const phase = phases.get(visit?.phase ?? '')
    for (const tally of [visit?.tally ?? outside, phase?.tally, all.tally])
      if (tally !== undefined) countMessage(tally, message)
  }
  const sumView = (sum: typeof all): JsonObject => ({
    visits: sum.visits,
    duration_seconds: sum.seconds,
    ...toTallyView(sum.tally),
  })
  const { tokens, turns } = toTallyView(outside)
  return {
    task: { id: state.id, title: state.title, status: state.status, phase: state.phase, visit: state.visit },
    agent_id: state.held?.agentId ?? null,
    contract: state.contract.name,
    at: toIsoTime(now),
    visits: count.visits.slice(-VISITS_TOLD_MAX).map((visit) => toVisitView(visit, now)),
    phases: [...phases].slice(0, PHASES_TOLD_MAX).map(([phase, sum]) => ({ phase, ...sumView(sum) })),
    totals: sumView(all),
    outside: { tokens: tokens ?? null, turns: turns ?? 0 },
    events: count.events,
    truncated: count.isCut || count.visits.length > VISITS_TOLD_MAX || count.events >= EVENTS_MAX,
  }
}

/** Finds the visit that contains a moment: from its entry until before its exit. */
function makeVisitFinder(visits: readonly Visit[]): (at: number) => Visit | undefined {
  const sorted = visits.toSorted((a, b) => a.enteredAt - b.enteredAt)
  return (at) => {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle]?.enteredAt ?? 0) <= at) low = middle + 1
      else high = middle
    }
    const visit = sorted[low - 1]
    return visit !== undefined && (visit.leftAt === null || at < visit.leftAt) ? visit : undefined
  }
}
