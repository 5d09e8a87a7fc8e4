import { evolve } from '../../core/task/evolve.js'
import type { TaskState } from '../../core/task/state.js'
import { SYSTEM_STREAM } from '../../store/cluster.js'
import type { LedgerSnapshot } from '../../store/postgres/ledger-snapshot.js'
import type { StoredEvent, TaskRow } from '../../store/store.js'
import { toTaskRow } from '../ledger/task-row.js'
import { toTaskEvent } from '../wire.js'

const PROBLEMS_MAX = 100
const TASK = 'task:'

export interface ClusterProblem {
  readonly code: 'double_claim' | 'version_gap' | 'wrong_row' | 'wrong_home'
  readonly detail: string
  readonly seq: number | null
}

export interface ClusterReport {
  readonly events: number
  readonly tasks: number
  readonly claims: number
  readonly problems: readonly ClusterProblem[]
}

/**
 * Plays the whole ledger back and looks for what must never happen, whichever node wrote it: an agent with two tasks, a
 * claim of a task that another agent held, a version that is missing or there twice, a row or home that its stream does
 * not explain. The hashes are `verify`'s.
 */
export async function checkCluster(ledger: LedgerSnapshot): Promise<ClusterReport> {
  const walk = new ClusterWalk(new Set(ledger.nodes.map(({ id }) => id)))
  for await (const event of ledger.events()) walk.pass(event)
  for await (const stream of ledger.streams()) walk.judgeStream(stream)
  let tasks = 0
  for await (const row of ledger.tasks()) {
    walk.judgeRow(row)
    tasks += 1
  }
  return { events: walk.events, tasks, claims: walk.claims, problems: walk.problems }
}

class ClusterWalk {
  readonly problems: ClusterProblem[] = []
  events = 0
  claims = 0
  readonly #versions = new Map<string, number>()
  readonly #nodes = new Map<string, string>()
  readonly #adopted = new Map<string, string>()
  readonly #states = new Map<string, TaskState>()
  /** The task that each agent holds at this point of the ledger. */
  readonly #held = new Map<string, string>()

  constructor(private readonly known: ReadonlySet<string>) {}

  pass(event: StoredEvent): void {
    const { seq, stream, version } = event
    this.events += 1
    const before = this.#versions.get(stream) ?? 0
    if (version !== before + 1) this.#add('version_gap', `${stream} goes from version ${before} to ${version}.`, seq)
    this.#versions.set(stream, version)
    if (version === 1 && typeof event.data.node === 'string') this.#nodes.set(stream, event.data.node)
    if (stream === SYSTEM_STREAM && event.type === 'node_adopted')
      this.#adopted.set(String(event.data.node), String(event.data.by))
    if (stream.startsWith(TASK)) this.#passTask(event, stream.slice(TASK.length))
  }

  judgeStream(stream: { readonly name: string; readonly version: number; readonly home: string }): void {
    const { name, version, home } = stream
    const found = this.#versions.get(name) ?? 0
    if (found !== version) this.#add('version_gap', `${name} has ${found} events and says ${version}.`, null)
    const node = this.#nodes.get(name)
    // In a restored ledger the nodes of the time before are unknown, and the first new one has their streams.
    if (node !== undefined && this.known.has(node) && !this.#isHome(node, home))
      this.#add('wrong_home', `${name} was begun by ${node}, and the database says ${home}.`, null)
  }

  judgeRow(row: TaskRow): void {
    const state = this.#states.get(row.id)
    const expected = state === undefined ? null : toTaskRow(state)
    const isSame =
      expected !== null &&
      expected.status === row.status &&
      expected.phase === row.phase &&
      expected.agentId === row.agentId
    if (!isSame) this.#add('wrong_row', `The row of task ${row.id} is not what its events say.`, null)
  }

  // The node that began it, or one that adopted that node.
  #isHome(node: string, home: string): boolean {
    const seen = new Set<string>()
    for (let at: string | undefined = node; at !== undefined && !seen.has(at); at = this.#adopted.get(at)) {
      if (at === home) return true
      seen.add(at)
    }
    return false
  }

  #passTask(event: StoredEvent, id: string): void {
    const before = this.#states.get(id) ?? null
    const state = evolve(before, toTaskEvent(event))
    if (state === null) return
    this.#states.set(id, state)
    const holder = findHolder(before)
    const next = findHolder(state)
    if (event.type === 'task_claimed') this.claims += 1
    if (event.type === 'task_claimed' && holder !== null && holder !== next)
      this.#add('double_claim', `Task ${id} was claimed by ${next} while ${holder} held it.`, event.seq)
    if (holder !== null && holder !== next && this.#held.get(holder) === id) this.#held.delete(holder)
    if (next === null) return
    const other = this.#held.get(next)
    if (other !== undefined && other !== id)
      this.#add('double_claim', `Agent ${next} held task ${other} and got task ${id}.`, event.seq)
    this.#held.set(next, id)
  }

  #add(code: ClusterProblem['code'], detail: string, seq: number | null): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ code, detail, seq })
  }
}

function findHolder(state: TaskState | null): string | null {
  if (state === null || (state.status !== 'active' && state.status !== 'awaiting_approval')) return null
  return state.held?.agentId ?? null
}
