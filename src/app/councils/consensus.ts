import type { ConsensusPlan, Voter } from '../../core/contract/contract-parts.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { ConsensusSeen } from '../../core/reviews/consensus-event.js'
import { formatWorkKey } from '../../core/reviews/consensus-plan.js'
import type { TaskState } from '../../core/task/state.js'
import type { CouncilAgent } from '../../participants/read-agents.js'
import type { StoredEvent } from '../../store/store.js'
import type { App } from '../app.js'
import type { Result } from '../result.js'
import { buildWork, type ReviewedWork, type WorkScene } from './consensus-work.js'
import { runStream } from './council-book.js'
import { COUNCIL_TOOLS } from './turn-prompts.js'
import { voteId } from './vote-id.js'

const ACTOR = 'orchestrator'
const PAGE = 1000
/** The vote on the current work, and how to start it. */
export interface Vote {
  readonly seen: ConsensusSeen
  readonly work: ReviewedWork
  /** False when the work has changed since it was read. */
  readonly isUnchanged: () => Promise<boolean>
}

/** Finds the vote on the current work. Opens one that was requested but not opened because the server stopped. */
export async function lookAtVote(
  app: App,
  scene: WorkScene,
  attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>,
): Promise<Vote | null> {
  const { consensus: plan } = scene.needed
  const { state } = scene
  if (plan === null) return null
  const before = formatWorkKey((await app.ledger.read(state.id)) ?? state)
  const work = await attempt('What the reviewers vote on cannot be read', () => buildWork(app, scene))
  if (work === null) return null
  const { subject } = work
  const runId = voteId(state.id, subject)
  const isAsked = listVoteRuns(state).some((run) => run.id === runId && run.subject === subject)
  let run = await app.coordinations.read(runId)
  if (run === null && isAsked) {
    const opened = await attempt('The reviewers cannot be asked', async () => {
      const started = await openVote(app, state, { plan, work })
      if (!started.ok) throw new Error(started.problem.detail)
      return started.value
    })
    run = opened
  }
  const last = run === null || run.endedAt === null ? null : await lastEvent(app, runId)
  return {
    work,
    seen: {
      runId,
      subject,
      workKey: before,
      run,
      last: last === null ? null : { seq: last.seq, hash: last.hash },
      replaces: (await openRuns(app, state, runId))[0] ?? null,
    },
    // A tool call that is running may still write.
    isUnchanged: async () => (await buildWork(app, scene)).subject === subject && !app.running.isBusy(state.id),
  }
}

/** Opens the council that the task's stream requests, and ends those on outdated work. */
export async function openVote(
  app: App,
  state: TaskState,
  one: { readonly plan: ConsensusPlan; readonly work: ReviewedWork },
): Promise<Result<CoordinationRun>> {
  const { plan, work } = one
  const id = voteId(state.id, work.subject)
  for (const other of await openRuns(app, state, id)) await endVote(app, other, 'The work was changed.')
  // Councils see the server's own work tree under the server's own contract, so they cannot review a task with another
  // tree.
  const isHere = state.workspace === app.workspace && state.contract.hash === app.defaultContract
  const seen = isHere ? { tools: COUNCIL_TOOLS, tree: work.tree } : { tools: [] }
  const council = { agents: plan.voters.map(toCouncilAgent), ...seen }
  const { options } = plan
  return app.coordinations.start(
    { question: work.question, council, options, isConsensus: true, id, workspace: state.workspace },
    { actor: ACTOR, once: undefined },
  )
}

export async function endVote(app: App, runId: string, reason: string): Promise<void> {
  await app.coordinations.apply(runId, { type: 'cancel', reason }, ACTOR)
}

/** Open councils of the task, except one. */
export async function openRuns(app: App, state: TaskState, but: string | null): Promise<readonly string[]> {
  const open: string[] = []
  for (const { id } of state.consensus?.runs ?? []) {
    if (id === but) continue
    const run = await app.coordinations.read(id)
    if (run !== null && run.endedAt === null) open.push(id)
  }
  return open
}

function listVoteRuns(state: TaskState): readonly { readonly id: string; readonly subject: string }[] {
  return state.consensus?.visit === state.visit ? state.consensus.runs : []
}

function toCouncilAgent({ id, program }: Voter): CouncilAgent {
  return program === null ? { id, kind: 'remote' } : { id, kind: 'command', ...program }
}

async function lastEvent(app: App, runId: string): Promise<StoredEvent | null> {
  let last: StoredEvent | null = null
  for (;;) {
    const page = await app.ledger.store.readStream(runStream(runId), last?.version ?? 0, PAGE)
    last = page.at(-1) ?? last
    if (page.length < PAGE) return last
  }
}
