import { takeFirstChars } from '../../core/councils/code-points.js'
import type { CoordinationRun, TokensUsed } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import { evolveRun } from '../../core/councils/evolve-council.js'
import { buildRunStatus, computeRunPhase } from '../../core/councils/status.js'
import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { runStream } from '../councils/council-book.js'
import { toRunEvent } from '../councils/council-events.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'
import { RunRecords } from './report-records.js'
import { Refusals } from './report-refusals.js'
import { RoundTimes } from './report-rounds.js'

// Answers are long, so only a few events are held in memory.
const PAGE = 50
const EVENTS_MAX = 200_000
const QUESTION_CHARS_MAX = 20_000

/** Report of a council; null when the id is unknown. */
export async function reportOfCoordination(app: App, id: string): Promise<JsonObject | null> {
  const walk = new RunWalk()
  while (walk.events < EVENTS_MAX) {
    const page = await app.ledger.store.readStream(runStream(id), walk.events, PAGE)
    for (const stored of page) walk.add(await toRunEvent(stored, (sha256) => app.ledger.store.readBlob(sha256)))
    if (page.length < PAGE) break
  }
  return walk.view(app.now())
}

/** Collects the report in one pass over the events. Contents of answers are stored separately and bounded. */
export class RunWalk {
  events = 0
  #run: CoordinationRun | null = null
  readonly #refusals = new Refusals()
  readonly #records = new RunRecords()
  readonly #times = new RoundTimes()

  add(event: RunEvent): void {
    this.events += 1
    const before = this.#run
    const run = evolveRun(before, stripContent(event))
    this.#run = run
    this.#records.add(run, event)
    this.#times.add(run, event)
    if (event.type === 'response_rejected') {
      const phase = before === null ? '' : computeRunPhase(before)
      this.#refusals.add({ agent: event.agent, reason: event.reason, phase, round: event.round })
    }
  }

  view(now: number): JsonObject | null {
    const run = this.#run
    if (run === null) return null
    const status = buildRunStatus(run, now)
    const agents = [...run.agents.values()].map((agent) => ({
      ...{ id: agent.id, anonymous_id: agent.anonymousId },
      status: status.agents[agent.id]?.status ?? '',
      error: agent.error?.message ?? null,
      ...{ answers: run.newest.get(agent.id)?.revision ?? 0, refusals: this.#refusals.countForAgent(agent.id) },
      buffer_chars_lost: agent.reliability.bufferCharsLost,
      outcome: status.agents[agent.id]?.reliability?.outcome ?? null,
      unknown_tools: agent.reliability.unknownTools,
      tokens: toTokensView(agent.tokens),
      rounds: this.#times.listRounds(agent.id, run, now),
    }))
    return {
      run: {
        ...{ id: run.id, kind: 'coordination', title: takeFirstChars(run.question, QUESTION_CHARS_MAX) },
        ...{ status: status.finish_reason, phase: status.coordination.phase },
        finish_reason_details: run.finishDetails,
        ...{ started_at: toIsoTime(run.startedAt), ended_at: toIsoTimeOrNull(run.endedAt) },
        elapsed_seconds: status.meta.elapsed_seconds,
      },
      at: toIsoTime(now),
      result: {
        ...{ winner: run.result?.winner ?? null, label: run.result?.label ?? null },
        ...{ is_tie: run.result?.isTie ?? false, votes: status.results.votes },
      },
      agents,
      refusals: this.#refusals.view(),
      buffer_chars_lost: agents.reduce((sum, agent) => sum + agent.buffer_chars_lost, 0),
      ...this.#records.view(run),
      events: this.events,
      truncated: this.#refusals.isCut || this.#records.isCut || this.events >= EVENTS_MAX,
    }
  }
}

function toTokensView(tokens: TokensUsed): JsonObject {
  const { input, output, cacheRead, cacheWrite } = tokens
  const grade = input + output + cacheRead + cacheWrite === 0 ? 'none' : 'observed'
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite, grade }
}

function stripContent(event: RunEvent): RunEvent {
  if (event.type === 'answer_accepted') return { ...event, content: '' }
  return event.type === 'final_presented' ? { ...event, text: '' } : event
}
