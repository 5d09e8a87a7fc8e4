import type { Mode, Severity } from '../../core/contract/contract.js'
import type { AlertCondition } from '../../core/contract/contract-parts.js'
import type { Grade, ReviewStatus } from '../../core/task/fact-parts.js'
import type { TaskStatus, Worktree } from '../../core/task/state.js'
import {
  ANY_OBJECT,
  allowNull,
  COUNT,
  chooseWord,
  type Fields,
  FLAG,
  INTEGER,
  makeList,
  makeMap,
  makeObject,
  makePage,
  NUMBER,
  nameObject,
  nameSchema,
  SHA256,
  TEXT,
  TIME,
} from './schema-parts.js'

export const TASK_STATUS = nameSchema(
  'TaskStatus',
  chooseWord<TaskStatus>('queued', 'active', 'awaiting_approval', 'interrupted', 'parked', 'completed', 'cancelled'),
)
export const GRADE = nameSchema('Grade', chooseWord<Grade>('reported', 'artifact', 'observed', 'proved'))
export const USAGE_GRADE = chooseWord('observed', 'reported', 'none')
export const REVIEW_STATUS = chooseWord<ReviewStatus>('in_progress', 'changes_requested', 'completed', 'approved')
export const CONTRACT_REF = nameObject('ContractRef', { name: TEXT, version: TEXT, hash: TEXT })
export const PENDING_APPROVAL = nameObject('PendingApproval', { id: TEXT, digest: SHA256, expires_at: TIME })

export const WORKTREE = nameObject('Worktree', {
  repository: TEXT,
  branch: TEXT,
  base: TEXT,
  into: allowNull(TEXT),
  status: chooseWord<Worktree['status']>('open', 'merged', 'handed_over', 'discarded'),
  commit: allowNull(TEXT),
})
export const UNCOMMITTED = makeObject({ paths: makeList(TEXT), count: COUNT })

const ALERT_FIELDS: Fields = {
  alert: TEXT,
  condition: chooseWord<AlertCondition>('gate_block_rate', 'task_stuck_in_phase', 'approval_waiting'),
  limit: NUMBER,
  message: TEXT,
  since: TIME,
}
const ALERT = nameObject('Alert', ALERT_FIELDS)
/** An alert outside its task. */
export const TASK_ALERT = nameObject('TaskAlert', { task_id: TEXT, ...ALERT_FIELDS })

/** The fields of a task in every answer that shows one whole. */
export const TASK_FIELDS: Fields = {
  id: TEXT,
  title: TEXT,
  description: TEXT,
  status: TASK_STATUS,
  phase: TEXT,
  epoch: COUNT,
  agent_id: allowNull(TEXT),
  capabilities: makeList(TEXT),
  contract: CONTRACT_REF,
  depends_on: makeList(TEXT),
  requires: makeList(TEXT),
  workspace: TEXT,
  'worktree?': WORKTREE,
  completed_phases: makeList(TEXT),
  lease_expires_at: allowNull(TIME),
  created_at: TIME,
  updated_at: TIME,
  metadata: ANY_OBJECT,
  mode: allowNull(chooseWord<Mode>('strict', 'permissive', 'advisory')),
  priority: INTEGER,
  visit: COUNT,
  refusals: COUNT,
  parked_reason: allowNull(TEXT),
  stash: allowNull(TEXT),
  pending_approval: allowNull(PENDING_APPROVAL),
  open_questions: COUNT,
  reviewers_wanted: makeList(
    makeObject({ name: TEXT, status: chooseWord('wanted', 'registered', 'finished'), awaited: FLAG }),
  ),
  claimable_at: allowNull(TIME),
  alerts: makeList(ALERT),
}
export const TASK = nameObject('Task', TASK_FIELDS)

export const TASK_ROW = nameObject('TaskRow', {
  id: TEXT,
  title: TEXT,
  status: TASK_STATUS,
  checking: FLAG,
  phase: TEXT,
  agent_id: allowNull(TEXT),
  contract: TEXT,
  depends_on: makeList(TEXT),
  requires: makeList(TEXT),
  priority: INTEGER,
  lease_expires_at: allowNull(TIME),
  open_questions: COUNT,
  created_at: TIME,
  updated_at: TIME,
  'progress?': allowNull(
    nameObject('TaskProgress', {
      visit: COUNT,
      phase_entered_at: allowNull(TIME),
      completed_phases: makeList(TEXT),
      refusals: COUNT,
      pending_approval: allowNull(PENDING_APPROVAL),
      parked_reason: allowNull(TEXT),
      lease_seconds: COUNT,
    }),
  ),
})
export const TASK_PAGE = makePage('tasks', TASK_ROW)

const VIOLATION_FIELDS: Fields = {
  rule: TEXT,
  rule_type: TEXT,
  diagnostic: TEXT,
  suggestion: TEXT,
  metrics_snapshot: ANY_OBJECT,
  recent_events: makeList(makeObject({ at: TIME, text: TEXT })),
}
/** A rule that was violated. */
export const RULE_VIOLATION = nameObject('RuleViolation', VIOLATION_FIELDS)

export const TASK_DETAILS = nameObject('TaskDetails', {
  ...TASK_FIELDS,
  'held_out?': makeObject({ sha256: SHA256, count: COUNT, failures: COUNT }),
  checking: FLAG,
  lease_seconds: COUNT,
  phase_entered_at: allowNull(TIME),
  phase_seconds: allowNull(COUNT),
  rules: makeObject({
    open: allowNull(nameObject('OpenViolation', { ...VIOLATION_FIELDS, action: TEXT })),
    acknowledged: makeList(TEXT),
    unavailable: makeList(TEXT),
  }),
  pending_consensus: allowNull(
    nameObject('PendingConsensus', {
      id: TEXT,
      voters: makeList(TEXT),
      voted: makeList(TEXT),
      answered: makeList(TEXT),
      gone: makeList(TEXT),
      awaited: makeList(TEXT),
      quorum: allowNull(COUNT),
      started_at: allowNull(TIME),
    }),
  ),
  next_step: TEXT,
})

export const ACTIVITY = nameObject('Activity', {
  at: TIME,
  tasks: makeList(
    nameObject('ActiveTask', {
      id: TEXT,
      title: TEXT,
      status: TASK_STATUS,
      checking: FLAG,
      phase: TEXT,
      visit: COUNT,
      agent_id: allowNull(TEXT),
      phase_seconds: allowNull(COUNT),
      tokens: COUNT,
      tokens_grade: USAGE_GRADE,
      calls_per_minute: COUNT,
      refusals: COUNT,
      violation: allowNull(makeObject({ rule: TEXT, diagnostic: TEXT })),
      pending_approval: allowNull(PENDING_APPROVAL),
      open_questions: COUNT,
      parked_reason: allowNull(TEXT),
    }),
  ),
  counts: makeMap(COUNT),
  paused: allowNull(TEXT),
  truncated: FLAG,
})

export const CREATED_TASK = nameObject('CreatedTask', { ...TASK_FIELDS, 'uncommitted?': UNCOMMITTED })
export const REWOUND_TASK = nameObject('RewoundTask', {
  ...TASK_FIELDS,
  'restored?': makeList(TEXT),
  'restored_count?': COUNT,
})
export const SETTLED_TREE = nameObject('SettledTree', { ...TASK_FIELDS, paths: makeList(TEXT), path_count: COUNT })
export const ACCEPTED_TOOLS = nameObject('AcceptedTools', { ...TASK_FIELDS, accepted_tools: makeMap(SHA256) })
export const MERGED_TASK = nameObject('MergedTask', {
  ...TASK_FIELDS,
  'merge?': makeObject({ into: TEXT, commit: TEXT, result: TEXT, fast_forward: FLAG, already: FLAG }),
})
export const INSTALLED_TASK = nameObject('InstalledTask', {
  ...TASK_FIELDS,
  install: makeObject({
    status: chooseWord('installed'),
    command: makeList(TEXT),
    cwd: TEXT,
    exit_code: INTEGER,
    paths: makeList(TEXT),
    output: TEXT,
    duration_ms: COUNT,
    'notes?': makeList(TEXT),
  }),
})

/** A run that failed or could not be read. */
const UNREADABLE_RUN = makeObject({
  cause: TEXT,
  mended_by: TEXT,
  remedy: TEXT,
  last_lines: makeList(TEXT),
})

export const SEVERITY = chooseWord<Severity>('blocking', 'warning', 'info')
export const BLOCKER = nameObject('Blocker', {
  code: TEXT,
  gate: allowNull(TEXT),
  check: allowNull(TEXT),
  artifact: allowNull(TEXT),
  message: TEXT,
  remedy: TEXT,
  severity: SEVERITY,
  'grade?': GRADE,
  'run?': UNREADABLE_RUN,
})
