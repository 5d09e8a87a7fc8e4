import type { ResponseCall, RunCommand, RunOutcome } from '../../../src/core/councils/command.js'
import type { CoordinationRun, Participant } from '../../../src/core/councils/council.js'
import { decideRun } from '../../../src/core/councils/decide-council.js'
import type { RunEvent } from '../../../src/core/councils/event.js'
import { evolveRun } from '../../../src/core/councils/evolve-council.js'
import { type RunOptions, runOptions } from '../../../src/core/councils/options.js'
import type { RetryHandling } from '../../../src/core/councils/reason.js'
import type { ReliabilityRecord } from '../../../src/core/councils/reliability.js'
import { buildRunStatus, type RunStatus } from '../../../src/core/councils/status.js'
import { buildParticipantView } from '../../../src/core/councils/view.js'
import type { Json } from '../../../src/core/json.js'

export const T0 = 1_736_683_468_000

export interface Seat {
  readonly id: string
  readonly workTree?: string | null
}

interface Given {
  readonly agents?: readonly (string | Seat)[]
  readonly options?: Partial<RunOptions>
  readonly isConsensus?: boolean
}

interface Said {
  readonly text?: string
  readonly buffer?: string
  readonly handled?: RetryHandling
  readonly knownTools?: readonly string[]
}

/** A run with a clock of its own. */
export class Council {
  run: CoordinationRun
  now = T0
  readonly events: RunEvent[] = []

  constructor({ agents = ['a', 'b'], options = {}, isConsensus = false }: Given = {}) {
    const seats = agents.map((agent) => (typeof agent === 'string' ? { id: agent } : agent))
    const start = { id: 'run-1', question: 'Why?', agents: seats, options: runOptions(options), isConsensus }
    const { events, outcome } = decideRun(null, { type: 'start', ...start }, this.now)
    if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome))
    this.events.push(...events)
    this.run = events.reduce<CoordinationRun | null>((run, event) => evolveRun(run, event), null)!
  }

  do(command: RunCommand): RunOutcome {
    const { events, outcome } = decideRun(this.run, command, this.now)
    for (const event of events) this.run = evolveRun(this.run, event)
    this.events.push(...events)
    return outcome
  }

  /** A turn whose prompt shows what the agent may see now. */
  turn(agent: string): RunOutcome {
    const shown = buildParticipantView(this.run, agent)!.answers.map((answer) => answer.label)
    return this.do({ type: 'turn_began', agent, shown })
  }

  respond(agent: string, toolCalls: readonly ResponseCall[], said: Said = {}): RunOutcome {
    const { text = '', buffer = '', handled = 'inline', knownTools = ['read_files', 'grep'] } = said
    return this.do({ type: 'responded', agent, text, toolCalls, buffer, handled, knownTools })
  }

  answer(agent: string, content: string): RunOutcome {
    this.turn(agent)
    return this.respond(agent, [newAnswer(content)])
  }

  vote(agent: string, agentId: string): RunOutcome {
    this.turn(agent)
    return this.respond(agent, [vote(agentId)])
  }

  tick(seconds: number): void {
    this.now += seconds * 1000
    this.do({ type: 'tick' })
  }

  agent(id: string): Participant {
    return this.run.agents.get(id)!
  }

  status(): RunStatus {
    return buildRunStatus(this.run, this.now)
  }

  reliability(id: string): ReliabilityRecord | null {
    return this.status().agents[id]!.reliability
  }

  types(): readonly string[] {
    return this.events.map((event) => event.type)
  }
}

export function call(name: string, args: Json = {}): ResponseCall {
  return { name, arguments: args }
}

export function newAnswer(content: string, verdict?: string): ResponseCall {
  return call('new_answer', verdict === undefined ? { content } : { content, verdict })
}

export function vote(agentId: string, reason = 'best'): ResponseCall {
  return call('vote', { agent_id: agentId, reason })
}
