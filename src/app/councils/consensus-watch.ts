import { findAutoTarget } from '../../core/gates/auto-advance.js'
import type { App } from '../app.js'
import { advance } from '../transitions/auto-advance.js'
import { endVote, openRuns } from './consensus.js'
import { findVotedTask } from './vote-id.js'

const LEFT: ReadonlySet<string> = new Set(['phase_entered', 'task_rewound', 'task_cancelled', 'task_completed'])

/** Resumes a task whose reviewers have voted, and ends votes that no phase waits for any more. */
export function watchVotes(app: App, onFault: (error: unknown) => void): void {
  app.coordinations.listen((run) => {
    const taskId = run.isConsensus && run.endedAt !== null ? findVotedTask(run.id) : null
    if (taskId !== null) goOn(app, taskId).catch(onFault)
  })
  app.feed.subscribe(({ type, stream }) => {
    if (LEFT.has(type) && stream.startsWith(TASK)) endVotes(app, stream.slice(TASK.length)).catch(onFault)
  })
}

const TASK = 'task:'

// Only gates that advance automatically wait for this; an agent finds the result when it asks again.
async function goOn(app: App, taskId: string): Promise<void> {
  const state = await app.ledger.peek(taskId)
  if (state === null) return
  const contract = await app.contracts.get(state.contract.hash)
  if (findAutoTarget(contract, state) === null) return
  app.advancing.add(taskId)
  await advance(app, taskId)
}

async function endVotes(app: App, taskId: string): Promise<void> {
  const state = await app.ledger.read(taskId)
  if (state === null || state.consensus === null) return
  const isOver = state.status === 'completed' || state.status === 'cancelled'
  if (!isOver && state.consensus.visit === state.visit) return
  for (const id of await openRuns(app, state, null)) await endVote(app, id, 'The phase was left.')
}
