import type { Json, JsonObject } from '../../core/json.js'
import type { TaskEvent } from '../../core/task/event.js'
import { isRefusal } from '../../core/task/refusal.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import type { Party } from '../identity/identity.js'
import { ok, type Result } from '../result.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'
import { findAuthor, findRefusalCode } from './refusal-code.js'
import { Refusals } from './report-refusals.js'
import { addTaskEvents, buildTaskMetrics, EVENTS_MAX } from './task-metrics.js'

const GATES_MAX = 500
const AGENTS_MAX = 200
const EVIDENCE_MAX = 500
const APPROVALS_MAX = 200
const COMMITS_MAX = 200
const INTERVENTIONS_MAX = 200

/** Refusals, gates, evidence, time and tokens of a task. */
export async function reportOfTask(app: App, party: Party, state: TaskState): Promise<Result<JsonObject>> {
  const metrics = await buildTaskMetrics(app, party, state.id)
  if (!metrics.ok) return metrics
  const walk = new TaskWalk()
  await addTaskEvents(app, state.id, walk)
  return ok(walk.view(state, metrics.value, app.now()))
}

class TaskWalk {
  events = 0
  readonly #refusals = new Refusals()
  readonly #agents = new Set<string>()
  readonly #gates = new Map<string, { passed: number; blocked: number }>()
  readonly #evidence: JsonObject[] = []
  readonly #commits: JsonObject[] = []
  readonly #interventions: JsonObject[] = []
  #handedIn: readonly JsonObject[] = []
  /** The gates that the newest request was checked by. */
  #checked: ReadonlySet<string> = new Set()
  /** The gate of each approval. */
  readonly #asked = new Map<string, string>()
  #passed = 0
  #blocked = 0
  #visit = 0
  #isCut = false
  #startedAt: number | null = null
  #endedAt: number | null = null

  add(event: TaskEvent): void {
    this.events += 1
    this.#move(event)
    this.#gate(event)
    this.#collect(event)
    this.#intervene(event)
    const code = findRefusalCode(event)
    if (code === null) return
    const agent = findAuthor(event)
    this.#seeAgent(agent)
    this.#refusals.add({ agent, reason: code, phase: event.phase ?? '', round: this.#visit })
  }

  view(state: TaskState, metrics: JsonObject, now: number): JsonObject {
    const gates = this.#passed + this.#blocked
    const { totals, phases, visits } = metrics as { readonly [key: string]: JsonObject & readonly JsonObject[] }
    return {
      run: {
        ...{ id: state.id, kind: 'task', title: state.title, status: state.status, phase: state.phase },
        ...{ started_at: toIsoTimeOrNull(this.#startedAt), ended_at: toIsoTimeOrNull(this.#endedAt) },
        elapsed_seconds: this.#startedAt === null ? 0 : Math.max(0, (this.#endedAt ?? now) - this.#startedAt) / 1000,
      },
      at: toIsoTime(now),
      agents: [...this.#agents].map((id) => ({ id, refusals: this.#refusals.countForAgent(id), buffer_chars_lost: 0 })),
      phases: (phases ?? []).map((phase) => ({
        ...toMetricsPart(phase),
        phase: phase.phase ?? '',
        visits: phase.visits ?? 0,
        refusals: this.#refusals.countInPhase(String(phase.phase)),
      })),
      visits: (visits ?? []).map(({ visit, phase, entered_by, entered_at, left_at, ...rest }) => ({
        ...{ visit: visit ?? 0, phase: phase ?? '', entered_by: entered_by ?? '' },
        ...{ entered_at: entered_at ?? null, left_at: left_at ?? null },
        ...toMetricsPart(rest as JsonObject),
      })),
      totals: toMetricsPart(totals ?? {}),
      refusals: this.#refusals.view(),
      buffer_chars_lost: 0,
      gates: {
        ...{ passed: this.#passed, blocked: this.#blocked, pass_rate: gates === 0 ? null : this.#passed / gates },
        by_gate: [...this.#gates].map(([gate, counts]) => ({ gate, ...counts })),
      },
      approvals: listDecisions(state),
      commits: this.#commits,
      interventions: this.#interventions,
      evidence: this.#evidence,
      events: this.events,
      truncated: this.#isCut || this.#refusals.isCut || metrics.truncated === true || this.events >= EVENTS_MAX,
    }
  }

  #move(event: TaskEvent): void {
    if (event.type === 'task_claimed') {
      this.#startedAt ??= event.at
      this.#seeAgent(event.agentId)
    }
    if (event.type === 'phase_entered' || event.type === 'task_rewound') this.#visit += 1
    this.#endedAt = event.type === 'task_completed' || event.type === 'task_cancelled' ? event.at : this.#endedAt
  }

  #gate(event: TaskEvent): void {
    const isPassed = event.type === 'gate_passed'
    const isBlocked = event.type === 'gate_blocked' ? isRefusal(event) : event.type === 'checkpoint_refused'
    if (!isPassed && !isBlocked) return
    if (isPassed) this.#passed += 1
    else this.#blocked += 1
    for (const name of this.#listGates(event)) this.#count(name, isPassed)
  }

  // The event names one gate. A transition opens all gates that it was checked by, and the one that people approved.
  #listGates(event: TaskEvent): ReadonlySet<string> {
    const named = 'gate' in event && typeof event.gate === 'string' ? [event.gate] : []
    const opened = event.type === 'gate_passed' ? [...this.#checked, this.#asked.get(event.approvalId ?? '')] : []
    const names = new Set([...named, ...opened].filter((name) => typeof name === 'string'))
    return names.size === 0 ? new Set([`leaving ${event.phase}`]) : names
  }

  #count(name: string, isPassed: boolean): void {
    const counts = this.#gates.get(name) ?? { passed: 0, blocked: 0 }
    if (!this.#gates.has(name) && this.#gates.size >= GATES_MAX) {
      this.#isCut = true
      return
    }
    counts[isPassed ? 'passed' : 'blocked'] += 1
    this.#gates.set(name, counts)
  }

  /** What was handed in or observed at a transition, with its grade. */
  #collect(event: TaskEvent): void {
    if (event.type === 'transition_requested') {
      this.#handedIn = listEvidence(event, this.#visit)
      this.#checked = new Set((event.checks ?? []).flatMap(({ gate }) => gate ?? []))
    }
    if (event.type === 'tool_finished' && event.commit !== undefined) this.#addCommit(event.commit, event)
    if (event.type === 'approval_requested') this.#asked.set(event.approvalId, event.gate)
    if (event.type !== 'phase_entered' && event.type !== 'task_completed') return
    const room = EVIDENCE_MAX - this.#evidence.length
    if (this.#handedIn.length > room) this.#isCut = true
    this.#evidence.push(...this.#handedIn.slice(0, room))
    this.#handedIn = []
  }

  // Operators, not agents: reviewers of the work want to know what people changed.
  #intervene(event: TaskEvent): void {
    const paths = findIntervention(event)
    if (paths === null || !event.actor.startsWith('operator:')) return
    const about = { type: event.type, phase: event.phase ?? '', by: event.actor.slice('operator:'.length) }
    const reason = 'reason' in event && typeof event.reason === 'string' ? event.reason : ''
    if (this.#interventions.length < INTERVENTIONS_MAX)
      this.#interventions.push({ ...about, reason, paths, at: toIsoTime(event.at) })
    else this.#isCut = true
  }

  #addCommit(commit: string, { agentId, at }: { readonly agentId?: string; readonly at: number }): void {
    if (this.#commits.length < COMMITS_MAX) this.#commits.push({ commit, by: agentId ?? '', at: toIsoTime(at) })
    else this.#isCut = true
  }

  #seeAgent(id: string): void {
    if (this.#agents.has(id)) return
    if (this.#agents.size < AGENTS_MAX) this.#agents.add(id)
    else this.#isCut = true
  }
}

const PATHS_MAX = 20

/** The paths that an operator's act is about; null for other events. */
function findIntervention(event: TaskEvent): readonly string[] | null {
  if (event.type === 'tree_accepted' || event.type === 'tree_reverted') return event.paths.slice(0, PATHS_MAX)
  return event.type === 'task_rewound' || event.type === 'task_resumed' ? [] : null
}

/** Who approved or rejected what, where and when. */
function listDecisions({ approvals }: TaskState): readonly JsonObject[] {
  return [...approvals.values()].slice(-APPROVALS_MAX).flatMap(({ phase, to, gate, decisions }) =>
    decisions.map(({ decision, by, channel, at }) => ({
      ...{ phase, target_phase: to, gate, decision, by },
      ...{ channel: channel ?? null, at: toIsoTime(at) },
    })),
  )
}

type RequestEvent = Extract<TaskEvent, { readonly type: 'transition_requested' }>

/** The artifacts of a request, and the runs that were made for it. */
function listEvidence({ phase, artifacts, observed = [] }: RequestEvent, visit: number): readonly JsonObject[] {
  const about = { visit, phase: phase ?? '' }
  const isArtifact = (run: JsonObject): boolean => artifacts.some(({ sha256 }) => sha256 === run.sha256)
  return [
    ...artifacts.map(({ type, sha256, grade }) => {
      const run = observed.find((one) => one.sha256 === sha256)
      return { ...about, name: type, grade, ...(run === undefined ? {} : { run: toRunCounts(run) }) }
    }),
    ...observed
      .filter((run) => !isArtifact(run))
      .map((run) => ({ ...about, name: run.name ?? '', grade: run.grade ?? '', run: toRunCounts(run) })),
  ]
}

function toRunCounts(run: JsonObject): JsonObject {
  const { command, passed, failed, skipped, not_loaded, sigusr1, inverted } = run
  const counts = { command: command ?? null, passed: passed ?? null, failed: failed ?? null, skipped: skipped ?? null }
  const unloaded = not_loaded === undefined ? {} : { not_loaded }
  return {
    ...counts,
    ...unloaded,
    ...(sigusr1 === undefined ? {} : { sigusr1 }),
    ...(inverted === undefined ? {} : { inverted }),
  }
}

function toMetricsPart(of: JsonObject): JsonObject {
  const count = (value: Json | undefined): Json => value ?? 0
  return {
    seconds: count(of.duration_seconds),
    tokens: of.tokens ?? null,
    tool_calls: count(of.tool_calls),
    interrupts: count(of.interrupts),
  }
}
