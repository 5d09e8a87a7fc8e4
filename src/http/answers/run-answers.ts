import type { ReliabilityOutcome } from '../../core/councils/reliability.js'
import type { AgentStatusWord } from '../../core/councils/status.js'
import {
  allowNull,
  COUNT,
  chooseOne,
  chooseWord,
  type Fields,
  FLAG,
  makeList,
  makeMap,
  makeObject,
  NUMBER,
  nameObject,
  nameSchema,
  TEXT,
  TIME,
} from './schema-parts.js'
import { TASK_ALERT, TASK_STATUS } from './task-answers.js'

const UNIX_SECONDS = { ...NUMBER, description: 'Unix time in seconds, with a fraction.' }
export const TOKEN_FIELDS: Fields = { input: COUNT, output: COUNT, cache_read: COUNT, cache_write: COUNT }
export const FINISH_REASON = nameSchema(
  'FinishReason',
  chooseWord('in_progress', 'completed', 'timeout', 'error', 'cancelled', 'parked'),
)
export const VERDICT = allowNull(chooseWord('approve', 'request_changes'))

const RELIABILITY = nameObject('ReliabilityRecord', {
  enforcement_attempts: makeList(
    makeObject({
      round: COUNT,
      attempt: COUNT,
      max_attempts: COUNT,
      reason: TEXT,
      tool_calls: makeList(TEXT),
      error_message: allowNull(TEXT),
      buffer_preview: TEXT,
      buffer_chars: COUNT,
      handled: TEXT,
      timestamp: UNIX_SECONDS,
    }),
  ),
  by_round: makeMap(makeObject({ count: COUNT, reasons: makeList(TEXT) })),
  unknown_tools: makeList(TEXT),
  workflow_errors: makeList(TEXT),
  total_enforcement_retries: COUNT,
  total_buffer_chars_lost: COUNT,
  outcome: chooseWord<ReliabilityOutcome>('ok', 'non_compliant', 'dropped'),
})

const AGENT_STATUS = nameObject('AgentStatus', {
  status: chooseWord<AgentStatusWord>(
    ...(['waiting', 'streaming', 'restarting', 'answered', 'voted', 'stopped', 'timeout', 'error'] as const),
    'completed',
  ),
  answer_count: COUNT,
  latest_answer_label: allowNull(TEXT),
  vote_cast: allowNull(makeObject({ voted_for_agent: TEXT, voted_for_label: TEXT, reason_preview: TEXT })),
  times_restarted: COUNT,
  last_activity: allowNull(UNIX_SECONDS),
  error: allowNull(makeObject({ type: TEXT, message: TEXT, timestamp: UNIX_SECONDS })),
  reliability: allowNull(RELIABILITY),
})

/** The `status.json` of a task or a council. */
export const RUN_STATUS = nameObject('RunStatus', {
  finish_reason: FINISH_REASON,
  finish_reason_details: allowNull(TEXT),
  is_complete: FLAG,
  meta: makeObject({
    last_updated: UNIX_SECONDS,
    session_id: TEXT,
    log_dir: allowNull(TEXT),
    question: TEXT,
    start_time: UNIX_SECONDS,
    elapsed_seconds: NUMBER,
  }),
  coordination: makeObject({
    phase: TEXT,
    active_agent: allowNull(TEXT),
    completion_percentage: COUNT,
    is_final_presentation: FLAG,
    'checking?': FLAG,
  }),
  agents: makeMap(AGENT_STATUS),
  results: makeObject({
    votes: makeMap(COUNT),
    winner: allowNull(TEXT),
    is_tie: FLAG,
    final_answer_preview: allowNull(TEXT),
  }),
})

export const COORDINATION_ROW = nameObject('CoordinationRow', {
  id: TEXT,
  question: TEXT,
  started_at: TIME,
  ended_at: allowNull(TIME),
  finish_reason: FINISH_REASON,
  winner: allowNull(TEXT),
  agents: COUNT,
  answers: COUNT,
})

export const COORDINATION = nameObject('Coordination', {
  id: TEXT,
  question: TEXT,
  is_consensus: FLAG,
  options: makeObject({
    max_new_answers_per_agent: COUNT,
    max_new_answers_global: allowNull(COUNT),
    novelty: chooseWord('lenient', 'balanced', 'strict'),
    max_attempts: COUNT,
    round_timeout_seconds: COUNT,
    timeout_seconds: COUNT,
    quorum: allowNull(COUNT),
    skip_voting: FLAG,
    allow_self_vote: FLAG,
    final_presentation: FLAG,
  }),
  tools: makeList(TEXT),
  agents: makeList(
    nameObject('CoordinationAgent', {
      id: TEXT,
      anonymous_id: TEXT,
      kind: TEXT,
      status: chooseWord('live', 'stopped', 'failed', 'timed_out'),
      round: COUNT,
      turns: COUNT,
      tokens: makeObject(TOKEN_FIELDS),
      vote: allowNull(makeObject({ voted_for: TEXT, label: TEXT, reason: TEXT })),
    }),
  ),
  answers: makeList(
    nameObject('CoordinationAnswer', {
      label: TEXT,
      agent_id: TEXT,
      anonymous_id: TEXT,
      content: TEXT,
      verdict: VERDICT,
      at: TIME,
    }),
  ),
  final_presentation: allowNull(TEXT),
  status: RUN_STATUS,
})

/** What a participant sees. */
export const PARTICIPANT_VIEW = nameObject('ParticipantView', {
  id: TEXT,
  question: TEXT,
  anonymous_id: TEXT,
  round: COUNT,
  attempt: COUNT,
  max_attempts: COUNT,
  answers: makeList(makeObject({ agent_id: TEXT, label: TEXT, content: TEXT, verdict: VERDICT })),
  must: chooseWord('new_answer', 'vote', 'new_answer_or_vote', 'present', 'wait', 'none'),
  valid_agents: makeList(TEXT),
  needs_verdict: FLAG,
  is_complete: FLAG,
  finish_reason: FINISH_REASON,
  winner: allowNull(TEXT),
})

export const STARTED_COORDINATION = nameObject('StartedCoordination', {
  id: TEXT,
  agents: makeList(makeObject({ id: TEXT, anonymous_id: allowNull(TEXT), 'token?': TEXT })),
})

export const RESPONSE_VERDICT = nameObject('ResponseVerdict', {
  accepted: FLAG,
  'action?': TEXT,
  'label?': TEXT,
  'reason?': TEXT,
  'message?': TEXT,
  'asked_again?': FLAG,
  'stopped?': TEXT,
  attempt: COUNT,
  max_attempts: COUNT,
  round: COUNT,
  view: PARTICIPANT_VIEW,
})

/** What an agent of a council writes between two events of the ledger; sent as `event: part`. */
export const STREAMED_PART = nameObject('StreamedPart', { agent: TEXT, type: TEXT, 'name?': TEXT, 'text?': TEXT })

export const COORDINATION_VIEW = chooseOne(COORDINATION, PARTICIPANT_VIEW)

/** Counts since the start of the server. */
export const METRICS = nameObject('MetricsSummary', {
  events: makeMap(COUNT),
  refusals: makeMap(COUNT),
  tasks: makeList(makeObject({ status: TASK_STATUS, phase: TEXT, count: COUNT })),
  gate_pass_rate: allowNull(NUMBER),
  alerts: makeList(TASK_ALERT),
  requests: COUNT,
  mean_seconds: allowNull(NUMBER),
})
