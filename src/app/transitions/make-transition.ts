import { matchesPattern } from '../../contract/patterns.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Needs } from '../../core/gates/needs.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { Command } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import { findHoldingViolation } from '../../core/watch/watch.js'
import type { App } from '../app.js'
import { openVote } from '../councils/consensus.js'
import type { CommandResult } from '../ledger/ledger.js'
import { type Result, refuse } from '../result.js'
import { refusePathConflict, runWithPathLease } from '../tasks/path-leases.js'
import { markMoments } from '../trees/tree-moments.js'
import { gatherEvidence } from './checkpoint.js'
import { type Gathered, gather } from './gather.js'
import { wrapBareLists } from './handed-in.js'
import { runWhileChecking } from './keep-lease.js'
import { readCommitTime } from './newest-commit.js'

/** How long a transition waits for running tools before it stops them. */
const TOOLS_WAIT_MS = 10_000

/** The request, by the agent that holds the task or by Phaselock. */
export interface Wanted {
  readonly target: string
  /** The phase the caller assumes; null: not given. */
  readonly currentPhase: string | null
  readonly claims: readonly string[]
  readonly artifacts: ReadonlyMap<string, Json>
  /** null: the evidence accepted in this visit, if any. */
  readonly evidence: JsonObject | null
  /** The request completes the phase, so its evidence is judged first. */
  readonly completes?: true
  /** Phaselock asks: unless the task moves, nothing is recorded. */
  readonly auto?: true
}

interface Transition {
  readonly contract: Contract
  readonly state: TaskState
  readonly wanted: Wanted
  /** null: refused without checking anything. */
  readonly needed: Needs | null
  /** Decides the command for the caller. */
  readonly apply: (command: Command, gathered: Pick<Gathered, 'blobs'>) => Promise<Result<CommandResult>>
}

/**
 * The only way from one phase to the next: gathers what the gates need, lets the core decide, and carries out the
 * result. A blocked or refused transition is an answer, not a failure.
 */
export async function makeTransition(app: App, one: Transition): Promise<Result<CommandResult>> {
  const { contract, state, needed } = one
  if (needed === null) return decideTransition(app, one, { gathered: null, committedAt: null })
  // Checks read the work tree: meanwhile another request for the same task has to ask again.
  if (app.checking.has(state.id))
    return refuse('conflict', `The gates of task ${state.id} are being checked.`, {
      next_step: 'Wait for the answer of the running transition request.',
    })
  return runWhileChecking(app, { contract, state, to: one.wanted.target }, async () => {
    await app.running.settle(state.id, TOOLS_WAIT_MS)
    // Run nothing for a transition that conflicts with another task.
    const taken = await refusePathConflict(app, describeEntering(one))
    if (taken !== null) return taken
    const committedAt = await readCommitTime(app, one)
    const held = findHoldingViolation(contract, state, { now: app.now(), matches: matchesPattern, committedAt })
    const gathered = held === null ? await gatherFor(app, one, needed) : null
    return decideTransition(app, one, { gathered, committedAt })
  })
}

async function gatherFor(app: App, { contract, state, wanted }: Transition, needed: Needs): Promise<Gathered> {
  const evidence = await gatherEvidence(app, state, { needed, sent: wanted.evidence })
  const artifacts = new Map([...wanted.artifacts].map(([type, content]) => [type, app.redact(content)]))
  const offer = { artifacts: wrapBareLists(contract, needed, artifacts), evidence }
  return gather(app, contract, state, { needed, offer, isAuto: wanted.auto === true })
}

async function decideTransition(
  app: App,
  one: Transition,
  found: { readonly gathered: Gathered | null; readonly committedAt: number | null },
): Promise<Result<CommandResult>> {
  const { state, needed } = one
  const { gathered, committedAt } = found
  const { target, currentPhase, claims, completes, auto } = one.wanted
  const command: Command = {
    ...{ type: 'transition', target, currentPhase, claims, facts: gathered?.facts ?? null, committedAt },
    ...(completes === true ? { completes } : {}),
    ...(auto === true ? { auto } : {}),
  }
  const apply = () => one.apply(command, gathered ?? { blobs: [] })
  const handled = await (gathered === null ? apply() : runWithPathLease(app, describeEntering(one), apply))
  if (!handled.ok || gathered === null) return handled
  const { events, state: after } = handled.value
  const { index } = gathered
  if (index !== null) await app.fence.run(async () => markMoments(app, { before: state, after, events, index }))
  // A failure to ask the reviewers is reported when the agent asks again, which retries it.
  const plan = needed?.consensus ?? null
  if (plan !== null && gathered.vote !== null && events.some((event) => event.type === 'consensus_requested'))
    await openVote(app, after, { plan, work: gathered.vote.work })
  return handled
}

// A task that stays in its phase already has what it needs.
function describeEntering({ state, contract, wanted: { target } }: Transition) {
  return { state, contract, phase: target === state.phase ? '' : target, agentId: state.held?.agentId ?? '' }
}
