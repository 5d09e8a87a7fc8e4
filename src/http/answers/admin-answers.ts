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
  nameObject,
  TEXT,
  TIME,
} from './schema-parts.js'
import { UNCOMMITTED, WORKTREE } from './task-answers.js'

const SPAWN_FIELDS: Fields = {
  task_id: TEXT,
  state: chooseWord('starting', 'running', 'waiting', 'ended'),
  role: chooseWord('worker', 'reviewer'),
  reviewer: allowNull(TEXT),
  entry: allowNull(TEXT),
  harness: TEXT,
  model: allowNull(TEXT),
  adapter: TEXT,
  restarts: COUNT,
  spawned_at: TIME,
  lost: allowNull(makeObject({ cause: TEXT, detail: TEXT, at: TIME })),
  outcome: allowNull(TEXT),
  reason: allowNull(TEXT),
  exit_code: allowNull(INTEGER),
  ended_at: allowNull(TIME),
  unenforced: makeList(TEXT),
}
const WINDOW = allowNull(makeObject({ socket: TEXT, session: TEXT }))
/** An answer that is sent again has no `window`: the ledger does not know it. */
const STARTED_FIELDS: Fields = { agent_id: TEXT, ...SPAWN_FIELDS, 'window?': WINDOW }
/** An agent that Phaselock started. */
export const STARTED_AGENT = nameObject('StartedAgent', { agent_id: TEXT, ...SPAWN_FIELDS, window: WINDOW })
export const STOPPED_AGENT = nameObject('StoppedAgent', STARTED_FIELDS)
export const SPAWNED_AGENT = nameObject('SpawnedAgent', {
  ...STARTED_FIELDS,
  'workspace?': TEXT,
  'worktree?': WORKTREE,
  'uncommitted?': UNCOMMITTED,
})

export const AGENT = nameObject('Agent', {
  agent_id: TEXT,
  capabilities: makeList(TEXT),
  status: chooseWord('idle', 'working', 'revoked', 'reviewing', 'ended'),
  task_id: allowNull(TEXT),
  phase: allowNull(TEXT),
  last_activity: allowNull(TIME),
  registered_at: TIME,
  expires_at: allowNull(TIME),
  spawn: allowNull(nameObject('Spawn', SPAWN_FIELDS)),
  binding: nameObject('AgentBinding', {
    kind: chooseWord('confined', 'tools_only', 'native', 'project', 'plugin', 'managed', 'hooks', 'rest', 'mcp'),
    holds: TEXT,
    agent_cli: allowNull(TEXT),
    mode: allowNull(chooseWord('tools_only', 'native')),
  }),
  reliability: makeObject({ refusals: COUNT, retries: COUNT, gates_first_try: COUNT, gates_passed: COUNT }),
  tokens: makeObject({ input: COUNT, output: COUNT }),
  last_call: allowNull(makeObject({ tool: TEXT, at: TIME, phase: TEXT })),
})

export const OPERATOR = nameObject('Operator', {
  name: TEXT,
  role: allowNull(TEXT),
  added_at: TIME,
  revoked_at: allowNull(TIME),
})

export const CONTRACT_ROW = nameObject('ContractRow', {
  hash: TEXT,
  name: TEXT,
  version: TEXT,
  origin: TEXT,
  registered_at: TIME,
  trusted: FLAG,
  default: FLAG,
})

export const ADDED_CONTRACT = nameObject('AddedContract', {
  hash: TEXT,
  name: TEXT,
  version: TEXT,
  warnings: makeList(
    nameObject('Diagnostic', {
      severity: chooseWord('error', 'warning'),
      code: TEXT,
      'kind?': TEXT,
      path: TEXT,
      message: TEXT,
      remedy: TEXT,
      file: TEXT,
      line: COUNT,
      column: COUNT,
      'extra?': ANY_OBJECT,
    }),
  ),
})

export const EVENT = nameObject('Event', {
  seq: COUNT,
  stream: TEXT,
  version: COUNT,
  type: TEXT,
  at: TIME,
  actor: TEXT,
  epoch: COUNT,
  phase: allowNull(TEXT),
  contract: allowNull(TEXT),
  data: { ...ANY_OBJECT, description: 'What the event of this type records.' },
  prev_hash: TEXT,
  hash: TEXT,
})

export const TIMELINE = makeObject({ events: makeList(EVENT), next_after: allowNull(COUNT) })

export const LEDGER_STATS = nameObject('LedgerStats', {
  events: COUNT,
  streams: COUNT,
  by_type: makeMap(COUNT),
  by_code: makeMap(COUNT),
  first_at: allowNull(TIME),
  last_at: allowNull(TIME),
})

export const LEDGER_CHECK = nameObject('LedgerCheck', {
  ok: FLAG,
  events: COUNT,
  streams: COUNT,
  checkpoints: COUNT,
  problems: makeList(
    makeObject({
      code: TEXT,
      detail: TEXT,
      seq: allowNull(COUNT),
      stream: allowNull(TEXT),
      version: allowNull(COUNT),
    }),
  ),
})
