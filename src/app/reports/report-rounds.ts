import type { CoordinationRun, TokensUsed } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import type { JsonObject } from '../../core/json.js'

const ROUNDS_MAX = 200

interface Round {
  ms: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

interface OpenTurn {
  readonly at: number
  readonly round: number
}

/** Duration and tokens of each agent's turns, by round. */
export class RoundTimes {
  readonly #rounds = new Map<string, Map<number, Round>>()
  readonly #open = new Map<string, OpenTurn>()

  /** `run` is the state after the event. */
  add(run: CoordinationRun, event: RunEvent): void {
    if (event.type === 'run_ended') {
      for (const id of [...this.#open.keys()]) this.#turn(run, id, event.at)
      return
    }
    if (!('agent' in event)) return
    if (event.type === 'usage_recorded') this.#use(event.agent, event.round, event)
    else this.#turn(run, event.agent, event.at)
  }

  listRounds(id: string, run: CoordinationRun, now: number): readonly JsonObject[] {
    const agent = run.agents.get(id)
    const rounds = this.#rounds.get(id)
    const open = this.#open.get(id)
    const last = Math.min(agent?.round ?? 0, ROUNDS_MAX)
    return Array.from({ length: last }, (_, at) => at + 1).map((round) => {
      const { ms = 0, input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = rounds?.get(round) ?? {}
      const running = open?.round === round ? Math.max(0, now - open.at) : 0
      const tally = agent?.reliability.rounds.get(round)
      return {
        round,
        seconds: (ms + running) / 1000,
        refusals: tally?.count ?? 0,
        reasons: tally?.reasons ?? [],
        tokens: { input, output, cache_read: cacheRead, cache_write: cacheWrite },
      }
    })
  }

  #turn(run: CoordinationRun, id: string, at: number): void {
    const open = this.#open.get(id)
    if (open !== undefined) this.#roundOf(id, open.round).ms += Math.max(0, at - open.at)
    const agent = run.agents.get(id)
    const isAtWork = agent !== undefined && agent.turn !== 'none' && agent.status === 'live' && run.endedAt === null
    if (isAtWork) this.#open.set(id, { at, round: agent.round })
    else this.#open.delete(id)
  }

  #use(id: string, round: number, tokens: TokensUsed): void {
    const sum = this.#roundOf(id, round)
    for (const name of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) sum[name] += tokens[name]
  }

  /** Rounds past the maximum are added to the last one. */
  #roundOf(id: string, asked: number): Round {
    const round = Math.min(asked, ROUNDS_MAX)
    const rounds = this.#rounds.get(id) ?? new Map<number, Round>()
    this.#rounds.set(id, rounds)
    const known = rounds.get(round) ?? { ms: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    rounds.set(round, known)
    return known
  }
}
