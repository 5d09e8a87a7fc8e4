import type { Phase } from '../../src/core/contract/contract.js'
import type { RunCommand } from '../../src/core/councils/command.js'
import type { CoordinationRun } from '../../src/core/councils/council.js'
import { decideRun } from '../../src/core/councils/decide-council.js'
import type { RunEvent } from '../../src/core/councils/event.js'
import { evolveRun } from '../../src/core/councils/evolve-council.js'
import { type RunOptions, runOptions } from '../../src/core/councils/options.js'
import { buildParticipantView } from '../../src/core/councils/view.js'
import { type ConsensusPlan, type ConsensusSeen, formatWorkKey } from '../../src/core/reviews/consensus-plan.js'
import { formatReviewsKey } from '../../src/core/reviews/review.js'
import type { GateFacts } from '../../src/core/task/command.js'
import { contractOf, phase, World } from './world.js'

export const VOTERS = ['r1', 'r2', 'r3']

export function planOf(options: Partial<RunOptions> = {}, voters: readonly string[] = VOTERS): ConsensusPlan {
  return {
    voters: voters.map((id) => ({ id, program: null })),
    question: 'Is it ready?',
    options: runOptions({ quorum: 2, ...options }),
  }
}

/** A task in a phase that reviewers vote on, and their runs by what they vote on. */
export class VotedTask extends World {
  readonly runs = new Map<string, CoordinationRun>()
  readonly runEvents = new Map<string, RunEvent[]>()
  readonly #plan: ConsensusPlan

  constructor(about: Partial<Phase> = {}, plan: ConsensusPlan = planOf()) {
    super(contractOf([phase('WORK', { consensus: plan, ...about }), phase('DONE')]))
    this.#plan = plan
    this.claim('a')
  }

  seen(subject: string): ConsensusSeen {
    const run = this.runs.get(subject) ?? null
    const open = [...this.runs].find(([other, one]) => other !== subject && one.endedAt === null)
    return {
      runId: runIdOf(subject),
      subject,
      workKey: formatWorkKey(this.state),
      run,
      last: run === null ? null : { seq: 7, hash: 'f'.repeat(64) },
      replaces: open === undefined ? null : runIdOf(open[0]),
    }
  }

  override move(target: string, facts: Partial<GateFacts> = {}, claims: readonly string[] = []): readonly string[] {
    return super.move(target, { reviewsKey: formatReviewsKey(this.state), ...facts }, claims)
  }

  /** Asks to leave, and opens the run that was asked for, as the shell does. */
  leave(subject = 's1'): readonly string[] {
    const types = this.move('DONE', { consensus: this.seen(subject) })
    if (types.includes('consensus_requested')) this.open(subject)
    return types
  }

  open(subject: string, plan = this.#plan, isConsensus = true): void {
    const agents = plan.voters.map(({ id }) => ({ id }))
    const start = { id: runIdOf(subject), question: plan.question, agents, options: plan.options, isConsensus }
    const { events } = decideRun(null, { type: 'start', ...start }, this.now)
    this.runs.set(
      subject,
      events.reduce<CoordinationRun | null>((run, event) => evolveRun(run, event), null) as CoordinationRun,
    )
    this.runEvents.set(subject, [...events])
  }

  inRun(subject: string, command: RunCommand): void {
    const run = this.runs.get(subject)
    if (run === undefined) return
    const { events } = decideRun(run, command, this.now)
    this.runs.set(
      subject,
      events.reduce((state, event) => evolveRun(state, event), run),
    )
    this.runEvents.get(subject)?.push(...events)
  }

  respond(subject: string, agent: string, name: string, args: Record<string, string>): void {
    const run = this.runs.get(subject)
    const shown =
      run === undefined ? [] : (buildParticipantView(run, agent)?.answers ?? []).map((answer) => answer.label)
    this.inRun(subject, { type: 'turn_began', agent, shown })
    const toolCalls = [{ name, arguments: args }]
    this.inRun(subject, {
      ...{ type: 'responded', agent, text: '', toolCalls, buffer: '', handled: 'restart', knownTools: [] },
    })
  }

  answer(agent: string, verdict: 'approve' | 'request_changes', content = `what ${agent} says`, subject = 's1'): void {
    this.respond(subject, agent, 'new_answer', { content, verdict })
  }

  vote(agent: string, agentId: string, subject = 's1'): void {
    this.respond(subject, agent, 'vote', { agent_id: agentId, reason: 'it is right' })
  }

  blocked() {
    const event = this.events.findLast((one) => one.type === 'gate_blocked')
    if (event?.type !== 'gate_blocked') throw new Error('nothing was blocked')
    return event
  }

  /** The first reviewer speaks, and all vote for it. */
  agree(verdict: 'approve' | 'request_changes' = 'approve', subject = 's1'): void {
    this.answer('r1', verdict, 'what r1 says', subject)
    for (const id of VOTERS) this.vote(id, 'agent1', subject)
  }
}

export function runIdOf(subject: string): string {
  return `consensus-${subject}-t`
}
