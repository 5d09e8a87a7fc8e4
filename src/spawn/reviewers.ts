import type { App } from '../app/app.js'
import { hashReviewSubject } from '../app/reviews/review-subject.js'
import { tryRead } from '../app/reviews/reviews.js'
import { openSandbox } from '../app/tool-calls/contract-sandbox.js'
import type { Spawn, SpawnFact } from '../core/contract/agent-programs.js'
import type { TaskState } from '../core/task/state.js'
import { makeAgentId } from './agent-process.js'

export type ReviewerWanted = SpawnFact & { type: 'agent_spawned' }

const PAGE_TASKS = 500
const PAGES_MAX = 20

/** Starts the reviewers that phases require, one task at a time: two concurrent checks would start them twice. */
export class ReviewerStarts {
  /** Tasks whose reviewers found no free place. */
  readonly #deferred = new Set<string>()
  /** Tasks that wait to be checked; repeated requests are merged. */
  readonly #waiting = new Map<string, Promise<void>>()
  #last: Promise<void> = Promise.resolve()

  constructor(
    private readonly app: App,
    /** False when there is no free place. */
    private readonly begin: (fact: ReviewerWanted) => Promise<boolean>,
  ) {}

  start(taskId: string): Promise<void> {
    const waiting = this.#waiting.get(taskId)
    if (waiting !== undefined) return waiting
    const started = this.#last.then(() => this.#startNow(taskId))
    this.#waiting.set(taskId, started)
    this.#last = started.catch(() => undefined)
    return started
  }

  /** An agent has ended: there is a free place. */
  async haveRoom(): Promise<void> {
    for (const taskId of [...this.#deferred]) {
      this.#deferred.delete(taskId)
      await this.start(taskId)
      if (this.#deferred.has(taskId)) return
    }
  }

  /** For phases that were entered just before a server was killed. */
  async startAll(): Promise<void> {
    let next: { readonly cursor?: string } = {}
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const active = await this.app.ledger.store.queryTasks({ status: 'active', limit: PAGE_TASKS, ...next })
      for (const { id } of active.items) if (await this.app.ledger.isHere(`task:${id}`)) await this.start(id)
      if (active.nextCursor === null) return
      next = { cursor: active.nextCursor }
    }
  }

  async #startNow(taskId: string): Promise<void> {
    this.#waiting.delete(taskId)
    for (const fact of await findWantedReviewers(this.app, taskId)) {
      if (await this.begin(fact)) continue
      this.#deferred.add(taskId)
      return
    }
  }
}

/**
 * The reviewers that the phase starts automatically and that were not started in this visit, or that approved other
 * work.
 */
async function findWantedReviewers(app: App, taskId: string): Promise<readonly ReviewerWanted[]> {
  const state = await app.ledger.peek(taskId)
  if (state === null || state.visit === 0) return []
  const contract = await app.contracts.get(state.contract.hash)
  const wanted = contract.phases.get(state.phase)?.autoSpawn ?? []
  if (wanted.length === 0) return []
  const { visit } = state
  const sandbox = await openSandbox(app, contract)
  const unenforced = [...new Set(sandbox.missing.map((missing) => missing.guarantee))]
  const known = [...app.ledger.registry.spawns.values()].filter(
    (spawn) => spawn.taskId === taskId && spawn.review?.visit === visit,
  )
  const outdated = await findOutdatedApprovals(app, state, known)
  const isThere = (name: string): boolean => known.some((spawn) => spawn.review?.name === name && !outdated.has(spawn))
  return wanted.flatMap(({ agent, names }) => {
    const entry = contract.agents?.get(agent)
    if (entry === undefined) return []
    const { harness, command, args, model } = entry
    return names
      .filter((name) => !isThere(name))
      .map((name): ReviewerWanted => {
        const about = {
          entry: agent,
          program: { harness, command, args, model },
          adapter: 'subprocess',
          unenforced,
        } as const
        return { type: 'agent_spawned', agentId: makeAgentId(name), taskId, review: { name, visit }, ...about }
      })
  })
}

/** Reviewers that approved work which has changed since: their report opens nothing, and they have ended. */
async function findOutdatedApprovals(app: App, state: TaskState, known: readonly Spawn[]): Promise<ReadonlySet<Spawn>> {
  const finished = known.filter(({ ended }) => ended?.outcome === 'finished')
  const subject = finished.length === 0 ? null : await tryRead(() => hashReviewSubject(app, state))
  if (subject === null) return new Set()
  const isOutdated = ({ review }: Spawn): boolean => {
    const reviewer = state.reviewers.get(review?.name ?? '')
    return reviewer?.visit === state.visit && reviewer.report !== null && reviewer.report.subject !== subject
  }
  return new Set(finished.filter(isOutdated))
}
