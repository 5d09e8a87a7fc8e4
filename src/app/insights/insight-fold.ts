import type { JsonObject } from '../../core/json.js'
import type { TaskEvent } from '../../core/task/event.js'
import { isRefusal } from '../../core/task/refusal.js'
import { findAuthor, findRefusalCode } from '../reports/refusal-code.js'
import { Counted, takeIds } from './counted.js'
import { measureSpread } from './spread.js'

/** The events that insights are made of: not the calls, which are most of a ledger. */
export const INSIGHT_TYPES = [
  ...['task_created', 'task_completed', 'task_cancelled', 'task_parked', 'task_resumed', 'phase_entered'],
  ...['task_rewound', 'gate_passed', 'gate_blocked', 'checkpoint_refused', 'tool_denied', 'changes_dropped'],
  ...['transition_refused', 'approval_requested', 'approval_decided', 'approval_refused', 'question_refused'],
  ...['token_refused', 'rule_violated', 'usage_recorded'],
] as const

/** One visit of a task that began within the time. */
interface VisitSeen {
  readonly taskId: string
  readonly phase: string
  readonly enteredAt: number
  leftAt: number | null
  readonly messages: Map<string, number>
  /** The gates refused the agent before they opened. */
  wasBlocked: boolean
  /** Gates that opened, or refused; null: not tried. */
  gate: { readonly id: string | null; readonly isPassed: boolean } | null
}

interface TaskSeen {
  status: 'open' | 'completed' | 'cancelled' | 'parked'
  visit: VisitSeen | null
}

// Bounds of the histogram of waiting times, in seconds.
const WAITS = [60, 300, 900, 3600, 14_400, 86_400] as const
const MESSAGES_MAX = 5000

/** Folds events, oldest first, into what people learn from past runs. */
export class InsightFold {
  readonly #tasks = new Map<string, TaskSeen>()
  readonly #visits: VisitSeen[] = []
  readonly #refusals = { code: new Counted(), phase: new Counted(), agent: new Counted(), both: new Counted() }
  readonly #stuck = new Counted()
  readonly #days = new Map<string, { completed: number; refusals: number }>()
  readonly #requested = new Map<string, number>()
  readonly #waits: { readonly id: string; readonly seconds: number }[] = []
  #refusalCount = 0

  add(taskId: string, event: TaskEvent): void {
    const task = this.#tasks.get(taskId) ?? { status: 'open', visit: null }
    this.#tasks.set(taskId, task)
    this.#follow(task, taskId, event)
    this.#judgeGate(task, event)
    this.#waitFor(event)
    if (event.type === 'usage_recorded') addMessage(task.visit, event)
    const code = findRefusalCode(event)
    if (code !== null) this.#refuse(taskId, event, code)
  }

  view(): JsonObject {
    const count = (status: TaskSeen['status']): number =>
      [...this.#tasks.values()].filter((task) => task.status === status).length
    return {
      tasks: {
        total: this.#tasks.size,
        ...{
          completed: count('completed'),
          cancelled: count('cancelled'),
          parked: count('parked'),
          open: count('open'),
        },
      },
      first_try: this.#listFirstTries(),
      refusals: {
        total: this.#refusalCount,
        ...{ by_code: this.#refusals.code.view(), by_phase: this.#refusals.phase.view() },
        by_agent: this.#refusals.agent.view(),
        matrix: this.#refusals.both.list().map(({ key, count: times }) => {
          const [phase = '', code = ''] = JSON.parse(key) as readonly string[]
          return { phase, code, count: times }
        }),
      },
      phases: this.#listPhases(),
      stuck: this.#stuck.list().map(({ key, count: times, ids }) => {
        const [phase = '', reason = ''] = JSON.parse(key) as readonly string[]
        return { phase, reason, count: times, task_ids: ids }
      }),
      approvals: this.#viewApprovals(),
      per_day: [...this.#days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, sums]) => ({ day, ...sums })),
    }
  }

  get isCut(): boolean {
    return Object.values(this.#refusals).some((counted) => counted.isCut) || this.#stuck.isCut
  }

  #follow(task: TaskSeen, taskId: string, event: TaskEvent): void {
    switch (event.type) {
      case 'phase_entered':
      case 'task_rewound': {
        leave(task.visit, event.at)
        const visit = { taskId, phase: event.to, enteredAt: event.at, leftAt: null, messages: new Map() }
        task.visit = { ...visit, wasBlocked: false, gate: null }
        this.#visits.push(task.visit)
        if (event.type === 'task_rewound') task.status = 'open'
        return
      }
      case 'task_completed':
      case 'task_cancelled':
        leave(task.visit, event.at)
        task.status = event.type === 'task_completed' ? 'completed' : 'cancelled'
        if (event.type === 'task_completed') this.#day(event.at).completed += 1
        return
      case 'task_parked':
        task.status = 'parked'
        this.#stuck.add(JSON.stringify([event.phase, event.code ?? 'parked']), taskId)
        return
      case 'task_resumed':
        task.status = 'open'
        return
      default:
        return
    }
  }

  // A task whose visit began earlier is judged from here on only for its refusals.
  #judgeGate({ visit }: TaskSeen, event: TaskEvent): void {
    // The phase may have been entered by the same request: the gate was that of the visit before.
    if (visit === null || event.phase !== visit.phase) return
    if (event.type === 'gate_passed') visit.gate = { id: event.gate, isPassed: true }
    const isBlocked = event.type === 'gate_blocked' ? isRefusal(event) : event.type === 'checkpoint_refused'
    if (!isBlocked) return
    visit.wasBlocked = true
    visit.gate ??= { id: event.type === 'gate_blocked' ? event.gate : null, isPassed: false }
  }

  #waitFor(event: TaskEvent): void {
    if (event.type === 'approval_requested') this.#requested.set(event.approvalId, event.at)
    if (event.type !== 'approval_decided') return
    const at = this.#requested.get(event.approvalId)
    if (at === undefined) return
    this.#requested.delete(event.approvalId)
    this.#waits.push({ id: event.approvalId, seconds: Math.max(0, (event.at - at) / 1000) })
  }

  #refuse(taskId: string, event: TaskEvent, code: string): void {
    this.#refusalCount += 1
    this.#day(event.at).refusals += 1
    this.#refusals.code.add(code, taskId)
    this.#refusals.phase.add(event.phase ?? '', taskId)
    this.#refusals.agent.add(findAuthor(event), taskId)
    this.#refusals.both.add(JSON.stringify([event.phase ?? '', code]), taskId)
  }

  #day(at: number): { completed: number; refusals: number } {
    const day = new Date(at).toISOString().slice(0, 10)
    const sums = this.#days.get(day) ?? { completed: 0, refusals: 0 }
    this.#days.set(day, sums)
    return sums
  }

  #listFirstTries(): readonly JsonObject[] {
    const rows = new Map<string, { readonly about: JsonObject; visits: VisitSeen[] }>()
    for (const visit of this.#visits) {
      if (visit.gate === null) continue
      const key = JSON.stringify([visit.phase, visit.gate.id])
      const row = rows.get(key) ?? { about: { phase: visit.phase, gate: visit.gate.id }, visits: [] }
      row.visits.push(visit)
      rows.set(key, row)
    }
    return [...rows.values()].map(({ about, visits }) => ({
      ...about,
      attempts: visits.length,
      passed_first: visits.filter(({ gate, wasBlocked }) => gate?.isPassed === true && !wasBlocked).length,
      task_ids: takeIds(visits.map(({ taskId }) => taskId)),
    }))
  }

  #listPhases(): readonly JsonObject[] {
    const phases = new Map<string, VisitSeen[]>()
    for (const visit of this.#visits) {
      const known = phases.get(visit.phase)
      if (known === undefined) phases.set(visit.phase, [visit])
      else known.push(visit)
    }
    return [...phases].map(([phase, visits]) => {
      const seconds = visits.flatMap(({ enteredAt, leftAt }) => (leftAt === null ? [] : [(leftAt - enteredAt) / 1000]))
      const tokens = visits.map(({ messages }) => [...messages.values()].reduce((sum, one) => sum + one, 0))
      return {
        ...{
          phase,
          visits: visits.length,
          seconds: measureSpread(seconds, ['p10', 'p25', 'median', 'p75', 'p90', 'max']),
        },
        tokens: { ...measureSpread(tokens, ['median', 'p90']), total: tokens.reduce((sum, one) => sum + one, 0) },
        task_ids: takeIds(visits.map(({ taskId }) => taskId)),
      }
    })
  }

  #viewApprovals(): JsonObject {
    const bounds = [...WAITS, Number.POSITIVE_INFINITY]
    const histogram = bounds.map((bound, at) => {
      const isIn = (seconds: number): boolean => seconds <= bound && seconds > (bounds[at - 1] ?? -1)
      const found = this.#waits.filter(({ seconds }) => isIn(seconds))
      const ids = takeIds(found.map(({ id }) => id))
      return { up_to_seconds: Number.isFinite(bound) ? bound : null, count: found.length, approval_ids: ids }
    })
    const waited = this.#waits.map(({ seconds }) => seconds)
    return { count: waited.length, waiting: measureSpread(waited, ['median', 'p90', 'max']), histogram }
  }
}

function leave(visit: VisitSeen | null, at: number): void {
  if (visit !== null) visit.leftAt ??= Math.max(visit.enteredAt, at)
}

// The same message may be reported again with higher numbers.
function addMessage(visit: VisitSeen | null, event: TaskEvent & { type: 'usage_recorded' }): void {
  if (visit === null || visit.messages.size >= MESSAGES_MAX) return
  const key = event.usageId ?? `#${visit.messages.size}`
  visit.messages.set(key, Math.max(visit.messages.get(key) ?? 0, event.input + event.output))
}
