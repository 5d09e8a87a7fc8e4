import { type CoordinationRun, tally } from '../../core/councils/council.js'
import { statusOf } from '../../core/councils/status.js'
import type { JsonObject } from '../../core/json.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { counted, duration, thousands } from '../../core/text.js'
import { EXIT, type ExitCode } from '../exit.js'
import { paint } from '../terminal/terminal.js'
import { nameOf } from './event-lines.js'
import type { Live, NewestAnswer } from './live-council.js'

/** How a coordination ended, for programs. */
export function resultOf(run: CoordinationRun, live: Live): JsonObject {
  const status = statusOf(run, run.updatedAt)
  const answer = answerOf(run, live)
  return {
    id: run.id,
    question: run.question,
    finish_reason: status.finish_reason,
    finish_reason_details: status.finish_reason_details,
    winner: status.results.winner,
    winner_label: run.result?.label ?? null,
    is_tie: status.results.is_tie,
    votes: status.results.votes,
    answer: answer?.content ?? null,
    answer_label: answer?.label ?? null,
    elapsed_seconds: status.meta.elapsed_seconds,
    answers: [...live.newest.values()].map((one) => ({ ...one })),
    agents: Object.fromEntries(
      Object.entries(status.agents).map(([id, agent]) => [
        id,
        { anonymous_id: run.agents.get(id)?.anonymousId ?? null, ...agent, tokens: tokensOf(run, id) },
      ]),
    ) as unknown as JsonObject,
  }
}

/** 0 with a winner; 5 when time ran out without one, 4 when it was cancelled, 1 when no agent brought one about. */
export function exitOf(run: CoordinationRun): ExitCode {
  if (run.finishReason === 'cancelled') return EXIT.interrupted
  if (run.finishReason === 'error') return EXIT.refused
  if (run.result?.winner !== null && run.result !== null) return EXIT.ok
  return run.finishReason === 'timeout' ? EXIT.timeout : EXIT.refused
}

/** The answer that counts: the winner's presentation, else its newest answer. */
export function answerOf(run: CoordinationRun, live: Live): NewestAnswer | null {
  const winner = run.result?.winner ?? null
  if (winner === null) return null
  return live.presentation ?? live.newest.get(winner) ?? null
}

/** How it ended, for people: the winner, the answer in full, the votes, and how reliable the agents were. */
export function endText(run: CoordinationRun, live: Live): string {
  const answer = answerOf(run, live)
  const blocks = [
    headLines(run),
    ...(answer === null ? [] : [[plainText(answer.content).trimEnd()]]),
    titled('Votes', voteLines(run)),
    titled('Reliability', reliabilityLines(run)),
    [tookLine(run), `More: phaselock report ${plainLine(run.id)}`],
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function headLines(run: CoordinationRun): readonly string[] {
  const { result } = run
  const details = plainLine(run.finishDetails ?? '')
  if (run.finishReason === 'cancelled') return [paint('yellow', `Cancelled: ${details}`)]
  if (result === null || result.winner === null) return [paint('red', `No winner: ${details}`)]
  const head = `Winner: ${nameOf(run, result.winner).slice(1, -1)} with ${result.label ?? ''}`
  return [paint('green', plainLine(head)), details]
}

function voteLines(run: CoordinationRun): readonly string[] {
  const counts = [...tally(run)].map(([id, count]) => `${nameOf(run, id)} ${counted(count, 'vote')}`)
  const votes = [...run.agents.values()].flatMap(({ id, vote }) =>
    vote === null ? [] : [`${nameOf(run, id)} for ${vote.label}${vote.reason === '' ? '' : `: ${vote.reason}`}`],
  )
  return [...counts, ...votes].map((line) => plainLine(line))
}

function reliabilityLines(run: CoordinationRun): readonly string[] {
  return Object.entries(statusOf(run, run.updatedAt).agents).flatMap(([id, { reliability, error }]) => {
    const why = error === null ? [] : [error.message]
    if (reliability === null) return error === null ? [] : [plainLine(`${nameOf(run, id)} ${error.message}`)]
    const reasons = [...new Set(reliability.enforcement_attempts.map(({ reason }) => reason))]
    const lost = reliability.total_buffer_chars_lost
    const parts = [
      `${counted(reliability.total_enforcement_retries, 'refusal')} (${reasons.join(', ')})`,
      ...(lost === 0 ? [] : [`${counted(lost, 'character')} lost to restarts`]),
      reliability.outcome,
      ...why,
    ]
    return [plainLine(`${nameOf(run, id)} ${parts.join(', ')}`)]
  })
}

function tookLine(run: CoordinationRun): string {
  const seconds = Math.max(0, Math.round(((run.endedAt ?? run.updatedAt) - run.startedAt) / 1000))
  const all = [...run.agents.values()].map(({ tokens }) => tokens)
  const input = all.reduce((sum, one) => sum + one.input, 0)
  const output = all.reduce((sum, one) => sum + one.output, 0)
  const tokens = input + output === 0 ? '' : `, ${thousands(input)} tokens in, ${thousands(output)} out`
  return `${duration(seconds)}, ${counted(run.answers.length, 'answer')}${tokens}`
}

function tokensOf(run: CoordinationRun, id: string): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = run.agents.get(id)?.tokens ?? {}
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite }
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [paint('bold', title), ...lines.map((line) => `  ${line}`)]
}
