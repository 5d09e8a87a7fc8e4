import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskEvent } from '../../core/task/event.js'
import { evolve } from '../../core/task/evolve.js'
import type { TaskState } from '../../core/task/state.js'
import type { StoredEvent } from '../../store/store.js'
import type { App } from '../app.js'
import { addVisit, type TaskVisit } from '../diffs/task-visits.js'
import { formatStream } from '../ledger/entries.js'
import { noTask, ok, type Result, refuse } from '../result.js'
import { toApprovalView, toArtifactView, toTaskView } from '../tasks/views.js'
import { toIsoTime, toIsoTimeOrNull, toTaskEvent } from '../wire.js'
import { GateTrack } from './gate-track.js'

const PAGE = 1000
const PATHS_MAX = 1000
const VISITS_TOLD_MAX = 200

/** A task as it was at an event of the ledger: phase, artifacts, gates, approvals, and the paths its visit had changed. */
export async function showStateAt(app: App, taskId: string, seq: number | null): Promise<Result<JsonObject>> {
  const now = await app.ledger.read(taskId)
  if (now === null) return noTask(taskId)
  const newest = await app.ledger.store.lastSeq()
  if (seq !== null && seq > newest) return refuse('invalid_request', `query.at: the newest event is ${newest}.`)
  const [last] = await app.ledger.store.readStream(formatStream(taskId), now.version - 1, 1)
  const past = new PastTask(await app.contracts.get(now.contract.hash))
  const first = await past.read(app, taskId, seq ?? newest)
  const view = past.view()
  if (view === null) return refuse('invalid_request', `query.at: the task began with event ${first}.`)
  return ok({ task_id: taskId, last_seq: last?.seq ?? 0, ...view })
}

/** A task folded up to an event. */
class PastTask {
  #state: TaskState | null = null
  #at: StoredEvent | null = null
  readonly #visits: TaskVisit[] = []
  readonly #gates: GateTrack
  /** How often each type was handed in, and by which event last. */
  readonly #versions = new Map<string, { version: number; seq: number; sha256: string }>()
  readonly #paths = new Set<string>()

  constructor(private readonly contract: Contract) {
    this.#gates = new GateTrack(contract)
  }

  /** Reads the events up to one of the ledger; gives the number of the first. */
  async read(app: App, taskId: string, until: number): Promise<number> {
    let after = 0
    let first = 0
    for (;;) {
      const page = await app.ledger.store.readStream(formatStream(taskId), after, PAGE)
      if (after === 0) first = page[0]?.seq ?? 0
      for (const stored of page) {
        if (stored.seq > until) return first
        this.#add(stored)
      }
      after += page.length
      if (page.length < PAGE) return first
    }
  }

  view(): JsonObject | null {
    const state = this.#state
    const at = this.#at
    if (state === null || at === null) return null
    return {
      at: { seq: at.seq, time: toIsoTime(at.at), type: at.type },
      task: toTaskView(state),
      phases: [...this.contract.phases.values()].map(({ id, name }) => ({
        ...{ id, name, status: toPhaseStatus(state, id) },
        visits: this.#visits
          .filter(({ phase }) => phase === id)
          .slice(-VISITS_TOLD_MAX)
          .map(({ visit, enteredAt, leftAt }) => ({
            ...{ visit, entered_at: toIsoTime(enteredAt), left_at: toIsoTimeOrNull(leftAt) },
          })),
      })),
      artifacts: [...state.artifacts.values()].map((artifact) => ({
        ...toArtifactView(artifact),
        ...{ phase: artifact.phase, visit: artifact.visit },
        version: this.#versions.get(artifact.type)?.version ?? 1,
        seq: this.#versions.get(artifact.type)?.seq ?? null,
      })),
      gates: this.#gates.view(),
      approvals: [...state.approvals.values()].map((approval) => toApprovalView(state, approval)),
      changed_paths: [...this.#paths].sort(),
    }
  }

  #add(stored: StoredEvent): void {
    const event = toTaskEvent(stored)
    this.#state = evolve(this.#state, event)
    this.#at = stored
    addVisit(this.#visits, event)
    this.#gates.add(event)
    this.#countArtifacts(stored, event)
    this.#collectPaths(event)
  }

  // Handing in the same content again makes no new version.
  #countArtifacts({ seq }: StoredEvent, event: TaskEvent): void {
    if (event.type !== 'transition_requested') return
    for (const { type, sha256 } of event.artifacts) {
      const known = this.#versions.get(type)
      if (known?.sha256 !== sha256) this.#versions.set(type, { version: (known?.version ?? 0) + 1, seq, sha256 })
    }
  }

  /** Of the visit that the task is in. */
  #collectPaths(event: TaskEvent): void {
    if (event.type === 'phase_entered' || event.type === 'task_rewound') this.#paths.clear()
    const changed =
      event.type === 'tool_finished' || event.type === 'fact_recorded'
        ? (event.changes ?? []).map(({ path }) => path)
        : event.type === 'tree_accepted' || event.type === 'tree_reverted'
          ? event.paths
          : []
    for (const path of changed) if (this.#paths.size < PATHS_MAX) this.#paths.add(path)
  }
}

function toPhaseStatus(state: TaskState, phase: string): 'done' | 'current' | 'ahead' {
  if (phase === state.phase) return state.status === 'completed' ? 'done' : 'current'
  return state.completedPhases.includes(phase) ? 'done' : 'ahead'
}
