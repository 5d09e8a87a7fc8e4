import { type CoordinationRun, tally } from '../../core/councils/council.js'
import { buildRunStatus } from '../../core/councils/status.js'
import type { JsonObject } from '../../core/json.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatCount, formatDuration, formatThousands } from '../../core/text.js'
import { EXIT, type ExitCode } from '../exit.js'
import { paintText } from '../terminal/terminal.js'
import { formatAgentName } from './event-lines.js'
import type { Live, NewestAnswer } from './live-council.js'

/** The result of a council, for programs. */
export function buildResult(run: CoordinationRun, live: Live): JsonObject {
  const status = buildRunStatus(run, run.updatedAt)
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
        { anonymous_id: run.agents.get(id)?.anonymousId ?? null, ...agent, tokens: getTokens(run, id) },
      ]),
    ) as unknown as JsonObject,
  }
}

/** 0 with a winner; 5 when time ran out without one, 4 when it was cancelled, 1 when no agent gave an answer. */
export function toExitCode(run: CoordinationRun): ExitCode {
  if (run.finishReason === 'cancelled') return EXIT.interrupted
  if (run.finishReason === 'error') return EXIT.refused
  if (run.result?.winner !== null && run.result !== null) return EXIT.ok
  return run.finishReason === 'timeout' ? EXIT.timeout : EXIT.refused
}

/** The final answer: the winner's presentation, else its newest answer. */
export function answerOf(run: CoordinationRun, live: Live): NewestAnswer | null {
  const winner = run.result?.winner ?? null
  if (winner === null) return null
  return live.presentation ?? live.newest.get(winner) ?? null
}

/** The result for people: the winner, the full answer, the votes, and how reliable the agents were. */
export function endText(run: CoordinationRun, live: Live): string {
  const answer = answerOf(run, live)
  const blocks = [
    formatHeadLines(run),
    ...(answer === null ? [] : [[plainText(answer.content).trimEnd()]]),
    addTitle('Votes', formatVoteLines(run)),
    addTitle('Reliability', formatReliabilityLines(run)),
    [formatDurationLine(run), `More: phaselock report ${plainLine(run.id)}`],
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function formatHeadLines(run: CoordinationRun): readonly string[] {
  const { result } = run
  const details = plainLine(run.finishDetails ?? '')
  if (run.finishReason === 'cancelled') return [paintText('yellow', `Cancelled: ${details}`)]
  if (result === null || result.winner === null) return [paintText('red', `No winner: ${details}`)]
  const head = `Winner: ${formatAgentName(run, result.winner).slice(1, -1)} with ${result.label ?? ''}`
  return [paintText('green', plainLine(head)), details]
}

function formatVoteLines(run: CoordinationRun): readonly string[] {
  const counts = [...tally(run)].map(([id, count]) => `${formatAgentName(run, id)} ${formatCount(count, 'vote')}`)
  const votes = [...run.agents.values()].flatMap(({ id, vote }) =>
    vote === null
      ? []
      : [`${formatAgentName(run, id)} for ${vote.label}${vote.reason === '' ? '' : `: ${vote.reason}`}`],
  )
  return [...counts, ...votes].map((line) => plainLine(line))
}

function formatReliabilityLines(run: CoordinationRun): readonly string[] {
  return Object.entries(buildRunStatus(run, run.updatedAt).agents).flatMap(([id, { reliability, error }]) => {
    const why = error === null ? [] : [error.message]
    if (reliability === null) return error === null ? [] : [plainLine(`${formatAgentName(run, id)} ${error.message}`)]
    const reasons = [...new Set(reliability.enforcement_attempts.map(({ reason }) => reason))]
    const lost = reliability.total_buffer_chars_lost
    const parts = [
      `${formatCount(reliability.total_enforcement_retries, 'refusal')} (${reasons.join(', ')})`,
      ...(lost === 0 ? [] : [`${formatCount(lost, 'character')} lost to restarts`]),
      reliability.outcome,
      ...why,
    ]
    return [plainLine(`${formatAgentName(run, id)} ${parts.join(', ')}`)]
  })
}

function formatDurationLine(run: CoordinationRun): string {
  const seconds = Math.max(0, Math.round(((run.endedAt ?? run.updatedAt) - run.startedAt) / 1000))
  const all = [...run.agents.values()].map(({ tokens }) => tokens)
  const input = all.reduce((sum, used) => sum + used.input, 0)
  const output = all.reduce((sum, used) => sum + used.output, 0)
  const tokens = input + output === 0 ? '' : `, ${formatThousands(input)} tokens in, ${formatThousands(output)} out`
  return `${formatDuration(seconds)}, ${formatCount(run.answers.length, 'answer')}${tokens}`
}

function getTokens(run: CoordinationRun, id: string): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = run.agents.get(id)?.tokens ?? {}
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite }
}

function addTitle(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [paintText('bold', title), ...lines.map((line) => `  ${line}`)]
}
