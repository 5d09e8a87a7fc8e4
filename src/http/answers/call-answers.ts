import { ARTIFACT_FIELDS } from './approval-answers.js'
import { TOKEN_FIELDS } from './run-answers.js'
import {
  ANYTHING,
  allowNull,
  COUNT,
  chooseOne,
  chooseWord,
  FALSE,
  type Fields,
  FLAG,
  makeList,
  makeObject,
  NULL,
  NUMBER,
  nameObject,
  TEXT,
  TIME,
  TRUE,
} from './schema-parts.js'
import { BLOCKER, PENDING_APPROVAL, RULE_VIOLATION, TASK, TASK_STATUS, USAGE_GRADE } from './task-answers.js'

export const RETRY = nameObject('Retry', { attempt: COUNT, max: COUNT, text: TEXT })
/** What a mode other than strict allowed. */
const MODE_VIOLATION = nameObject('AllowedViolation', { code: TEXT, detail: TEXT })
export const INTERRUPT = nameObject('Interrupt', {
  kind: chooseWord('interrupt'),
  text: TEXT,
  phase: TEXT,
  violation: RULE_VIOLATION,
})

export const GRANT_FIELDS: Fields = { phase_token: TEXT, expires_at: TIME, allowed_tools: makeList(TEXT) }
/** The same for a task that may be completed, which has no token. */
export const GRANT_OR_END_FIELDS: Fields = {
  phase_token: allowNull(TEXT),
  expires_at: allowNull(TIME),
  allowed_tools: makeList(TEXT),
}
export const HELP_FIELDS: Fields = { task_id: TEXT, phase: TEXT, allowed_tools: makeList(TEXT), next_step: TEXT }
export const CHECKING_FIELDS: Fields = {
  ...HELP_FIELDS,
  checking: TRUE,
  phase: allowNull(TEXT),
  task_id: allowNull(TEXT),
}

/** The contract as an agent may see it: phases that are not open yet have only an id and a name. */
const AGENT_CONTRACT = nameObject('AgentContract', {
  name: TEXT,
  version: TEXT,
  hash: TEXT,
  phases: makeList(
    makeObject({
      id: TEXT,
      name: TEXT,
      'description?': TEXT,
      'allowed_tools?': makeList(TEXT),
      'required_artifacts?': makeList(makeObject({ type: TEXT, description: TEXT })),
      'evidence?': makeList(makeObject({ name: TEXT, type: TEXT, description: TEXT, optional: FLAG })),
      'gates?': makeList(makeObject({ id: TEXT, type: TEXT, checks: makeList(TEXT) })),
    }),
  ),
})

export const CLAIM = nameObject('Claim', {
  task: TASK,
  phase: TEXT,
  ...GRANT_FIELDS,
  prompt: TEXT,
  contract: AGENT_CONTRACT,
  warnings: makeList(BLOCKER),
})

const MOVED_FIELDS: Fields = {
  allowed: TRUE,
  phase: TEXT,
  status: TASK_STATUS,
  ...GRANT_OR_END_FIELDS,
  prompt: allowNull(TEXT),
  warnings: makeList(BLOCKER),
  artifacts: makeList(makeObject({ ...ARTIFACT_FIELDS, phase: TEXT })),
  'violation?': MODE_VIOLATION,
  'completed?': TRUE,
}
const BLOCKED_FIELDS: Fields = {
  allowed: FALSE,
  ...HELP_FIELDS,
  phase_token: NULL,
  blockers: makeList(BLOCKER),
  warnings: makeList(BLOCKER),
  retry: RETRY,
  'interrupt?': INTERRUPT,
  'pending_approval?': PENDING_APPROVAL,
  'pending_consensus?': makeObject({ id: TEXT }),
}
const GATES_CHECKED_FIELDS: Fields = {
  allowed: FALSE,
  ...CHECKING_FIELDS,
  phase_token: NULL,
  blockers: makeList(BLOCKER),
  warnings: makeList(BLOCKER),
}
export const TRANSITION = chooseOne(
  nameObject('TransitionMade', MOVED_FIELDS),
  nameObject('TransitionBlocked', BLOCKED_FIELDS),
  nameObject('TransitionChecking', GATES_CHECKED_FIELDS),
)

const PROMPT_FIELDS: Fields = { kind: chooseWord('prompt', 'interrupt'), text: TEXT, 'violation?': RULE_VIOLATION }
export const PROMPT = nameObject('Prompt', { ...PROMPT_FIELDS, phase: TEXT })
/** What an operator sees of it. */
export const TASK_PROMPT = nameObject('TaskPrompt', { ...PROMPT_FIELDS, ...HELP_FIELDS })
/** The prompt and, if a claim led to a transition, its result. */
export const NEXT_PROMPT = chooseOne(
  nameObject('PromptWithHelp', {
    ...{ ...PROMPT_FIELDS, phase: TEXT },
    ...{ 'task_id?': TEXT, 'allowed_tools?': makeList(TEXT), 'next_step?': TEXT },
  }),
  nameObject('PromptAfterTransition', {
    ...MOVED_FIELDS,
    ...PROMPT_FIELDS,
    'violation?': chooseOne(MODE_VIOLATION, RULE_VIOLATION),
  }),
  nameObject('PromptAfterBlockers', { ...BLOCKED_FIELDS, ...PROMPT_FIELDS }),
  nameObject('PromptWhileChecking', { ...GATES_CHECKED_FIELDS, ...PROMPT_FIELDS }),
)

const ADVANCED_FIELDS: Fields = {
  'advanced?': nameObject('Advanced', {
    phase: TEXT,
    status: TASK_STATUS,
    warnings: makeList(BLOCKER),
    ...GRANT_OR_END_FIELDS,
    prompt: allowNull(TEXT),
  }),
  'advancing?': TRUE,
  'phase_token?': allowNull(TEXT),
  'expires_at?': allowNull(TIME),
  'allowed_tools?': makeList(TEXT),
}
const EXECUTED_FIELDS: Fields = {
  result: { ...ANYTHING, description: 'What the tool answers.' },
  logged: TRUE,
  decision: chooseWord('allowed'),
  duration_ms: NUMBER,
  'violation?': MODE_VIOLATION,
  'unenforced?': makeList(TEXT),
  'interrupt?': INTERRUPT,
}
const RUNNING_FIELDS: Fields = {
  checking: TRUE,
  decision: chooseWord('allowed'),
  result: NULL,
  logged: TRUE,
  task_id: TEXT,
  phase: TEXT,
  'allowed_tools?': makeList(TEXT),
  next_step: TEXT,
}
export const TOOL_RESULT = chooseOne(
  nameObject('ToolResult', { ...EXECUTED_FIELDS, ...ADVANCED_FIELDS }),
  nameObject('ToolRunning', RUNNING_FIELDS),
)
export const TOOL_CHECK = chooseOne(
  nameObject('ToolAllowed', { allowed: TRUE, allowed_tools: makeList(TEXT), 'violation?': MODE_VIOLATION }),
  nameObject('ToolRefused', { allowed: FALSE, code: TEXT, detail: TEXT, allowed_tools: makeList(TEXT), retry: RETRY }),
)
export const TOOL_BATCH = nameObject('ToolBatch', {
  results: makeList(
    chooseOne(
      nameObject('BatchResult', { tool_name: TEXT, ...EXECUTED_FIELDS, ...ADVANCED_FIELDS }),
      nameObject('BatchRunning', { tool_name: TEXT, ...RUNNING_FIELDS }),
      nameObject('BatchError', {
        tool_name: TEXT,
        error: { ...makeObject({ code: TEXT, detail: TEXT }), additionalProperties: true },
      }),
    ),
  ),
  ...ADVANCED_FIELDS,
})

export const USAGE = nameObject('Usage', {
  tokens: makeObject(TOKEN_FIELDS),
  usage: USAGE_GRADE,
  'interrupt?': INTERRUPT,
})
