import type { Entrance } from '../../app/reports/visit-tally.js'
import type { JsonObject } from '../../core/json.js'
import { DECISION_CHANNELS, type DecisionChannel } from '../../core/task/fact-parts.js'
import { TOKEN_FIELDS, VERDICT } from './run-answers.js'
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
  TEXT,
  TIME,
} from './schema-parts.js'
import { TASK_STATUS, USAGE_GRADE } from './task-answers.js'

/** What `GET /tasks/{id}/metrics` and `GET /runs/{id}/report` answer. */
const TOKENS = nameObject('Tokens', { ...TOKEN_FIELDS, grade: USAGE_GRADE })
const TALLY_FIELDS: Fields = {
  duration_seconds: COUNT,
  tokens: TOKENS,
  turns: COUNT,
  commands: makeObject({ count: COUNT, by_command: makeList(makeObject({ command: TEXT, count: COUNT })) }),
  edits: makeObject({ count: COUNT, by_path: makeList(makeObject({ path: TEXT, count: COUNT })) }),
  tool_calls: COUNT,
  refusals: makeObject({ count: COUNT, by_code: makeMap(COUNT) }),
  interrupts: COUNT,
  commits: COUNT,
}
const VISIT_FIELDS: Fields = {
  phase: TEXT,
  visit: COUNT,
  entered_by: chooseWord<Entrance>('start', 'transition', 'back', 'rewind'),
  entered_at: TIME,
  left_at: allowNull(TIME),
}
export const TASK_METRICS = nameObject('TaskMetrics', {
  task: makeObject({ id: TEXT, title: TEXT, status: TASK_STATUS, phase: TEXT, visit: COUNT }),
  agent_id: allowNull(TEXT),
  contract: TEXT,
  at: TIME,
  visits: makeList(nameObject('VisitMetrics', { ...VISIT_FIELDS, ...TALLY_FIELDS })),
  phases: makeList(nameObject('PhaseMetrics', { phase: TEXT, visits: COUNT, ...TALLY_FIELDS })),
  totals: makeObject({ visits: COUNT, ...TALLY_FIELDS }),
  outside: makeObject({ tokens: TOKENS, turns: COUNT }),
  events: COUNT,
  truncated: FLAG,
})

const RUN_FIELDS: Fields = {
  id: TEXT,
  title: TEXT,
  status: TEXT,
  phase: TEXT,
  started_at: allowNull(TIME),
  ended_at: allowNull(TIME),
  elapsed_seconds: NUMBER,
}
const REFUSED: Fields = { agent: TEXT, reason: TEXT, phase: TEXT, round: COUNT }
const countBy = (name: 'agent' | 'reason' | 'phase' | 'round'): JsonObject =>
  makeList(makeObject({ [name]: REFUSED[name] ?? TEXT, count: COUNT }))
const HEAD_FIELDS: Fields = {
  at: TIME,
  refusals: nameObject('RefusalCounts', {
    count: COUNT,
    by_agent: countBy('agent'),
    by_reason: countBy('reason'),
    by_phase: countBy('phase'),
    by_round: countBy('round'),
    rows: makeList(makeObject({ ...REFUSED, count: COUNT })),
  }),
  buffer_chars_lost: COUNT,
  events: COUNT,
  truncated: FLAG,
}
const COST_FIELDS: Fields = { seconds: COUNT, tokens: allowNull(TOKENS), tool_calls: COUNT, interrupts: COUNT }
const TASK_REPORT = nameObject('TaskReport', {
  run: makeObject({ ...RUN_FIELDS, kind: chooseWord('task') }),
  ...HEAD_FIELDS,
  agents: makeList(makeObject({ id: TEXT, refusals: COUNT, buffer_chars_lost: COUNT })),
  phases: makeList(makeObject({ phase: TEXT, visits: COUNT, refusals: COUNT, ...COST_FIELDS })),
  visits: makeList(makeObject({ ...VISIT_FIELDS, ...COST_FIELDS })),
  totals: makeObject(COST_FIELDS),
  gates: makeObject({
    passed: COUNT,
    blocked: COUNT,
    pass_rate: allowNull(NUMBER),
    by_gate: makeList(makeObject({ gate: TEXT, passed: COUNT, blocked: COUNT })),
  }),
  approvals: makeList(
    makeObject({
      ...{
        phase: TEXT,
        target_phase: TEXT,
        gate: TEXT,
        decision: chooseWord<'approve' | 'reject'>('approve', 'reject'),
      },
      ...{ by: TEXT, channel: allowNull(chooseWord<DecisionChannel>(...DECISION_CHANNELS)), at: TIME },
    }),
  ),
  commits: makeList(makeObject({ commit: TEXT, by: TEXT, at: TIME })),
  interventions: makeList(
    makeObject({ type: TEXT, phase: TEXT, by: TEXT, reason: TEXT, paths: makeList(TEXT), at: TIME }),
  ),
  evidence: makeList(
    makeObject({
      visit: COUNT,
      phase: TEXT,
      name: TEXT,
      grade: TEXT,
      'run?': makeObject({
        command: allowNull(TEXT),
        passed: allowNull(COUNT),
        failed: allowNull(COUNT),
        skipped: allowNull(COUNT),
        'not_loaded?': COUNT,
        'sigusr1?': TEXT,
        'inverted?': makeMap(COUNT),
      }),
    }),
  ),
})

const WRITTEN: Fields = { agent: TEXT, label: TEXT, chars: COUNT, content: TEXT, is_cut: FLAG }
const COUNCIL_REPORT = nameObject('CoordinationReport', {
  run: makeObject({ ...RUN_FIELDS, kind: chooseWord('coordination'), finish_reason_details: allowNull(TEXT) }),
  ...HEAD_FIELDS,
  result: makeObject({ winner: allowNull(TEXT), label: allowNull(TEXT), is_tie: FLAG, votes: makeMap(COUNT) }),
  agents: makeList(
    makeObject({
      id: TEXT,
      anonymous_id: TEXT,
      status: TEXT,
      error: allowNull(TEXT),
      answers: COUNT,
      refusals: COUNT,
      buffer_chars_lost: COUNT,
      outcome: allowNull(TEXT),
      unknown_tools: makeList(TEXT),
      tokens: TOKENS,
      rounds: makeList(
        makeObject({
          round: COUNT,
          seconds: NUMBER,
          refusals: COUNT,
          reasons: makeList(TEXT),
          tokens: makeObject(TOKEN_FIELDS),
        }),
      ),
    }),
  ),
  answers: makeList(makeObject({ ...WRITTEN, round: COUNT, verdict: VERDICT, at: TIME })),
  presentation: allowNull(nameObject('Presentation', WRITTEN)),
  votes: makeList(
    makeObject({ agent: TEXT, voted_for: TEXT, label: TEXT, round: COUNT, reason: TEXT, at: TIME, stands: FLAG }),
  ),
  timeline: makeList(
    makeObject({ seconds: NUMBER, agent: allowNull(TEXT), round: allowNull(COUNT), type: TEXT, what: TEXT }),
  ),
})
export const REPORT = chooseOne(TASK_REPORT, COUNCIL_REPORT)
