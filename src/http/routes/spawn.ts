import { findAgent } from '../../app/identity/administer.js'
import { ok, type Result, refuse } from '../../app/result.js'
import type { TaskRequest } from '../../app/tasks/operate.js'
import type { Mode } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import { ADAPTERS, HARNESSES, type SpawnRequest } from '../../spawn/spawn-request.js'
import { AGENT, SPAWNED_AGENT, STARTED_AGENT, STOPPED_AGENT } from '../answers/admin-answers.js'
import { allowNull, chooseOne, FLAG, makeObject, TEXT } from '../answers/schema-parts.js'
import { FIELD, shape } from '../fields.js'
import { type Call, type Route, requireOperator } from '../route.js'

const METADATA_BYTES_MAX = 16 * 1024
const TAKES_MAX = 100
const WORD: JsonObject = { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^\\u0000]*$' }
const TASK: JsonObject = {
  ...shape(
    {
      id: { ...FIELD.id, description: 'Default: generated. The branch of a separate work tree has this name.' },
      title: FIELD.title,
      description: FIELD.text,
      contract: { type: 'string', minLength: 1, maxLength: 200, description: 'Hash or name of a known contract.' },
      workspace: { type: 'string', minLength: 1, maxLength: 4096, description: 'Absolute path of the work tree.' },
      worktree: { type: 'boolean', description: 'Make a work tree for this task alone.' },
      take: { type: 'array', maxItems: TAKES_MAX, items: { type: 'string', minLength: 1, maxLength: 4096 } },
      metadata: FIELD.metadata,
      mode: FIELD.mode,
      priority: FIELD.priority,
    },
    ['title'],
  ),
  description: 'The task to create; or give `task_id`.',
}

/** Agents that Phaselock starts, watches and ends. */
export const SPAWN_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/agents/spawn',
    id: 'spawnAgent',
    summary: 'Start an agent on a new task or on one that no agent holds',
    success: 201,
    body: shape({
      agent: { ...FIELD.name, description: "An entry of the contract's `agents`; or give `harness`." },
      harness: { enum: [...HARNESSES] },
      command: { ...WORD, description: 'The program; needed where `harness` is `command`.' },
      args: { type: 'array', items: { type: 'string', maxLength: 4096, pattern: '^[^\\u0000]*$' }, maxItems: 100 },
      model: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' },
      agent_id: { ...FIELD.id, description: 'What it is called; default: a new name.' },
      adapter: { enum: [...ADAPTERS], description: 'Default `subprocess`.' },
      task: TASK,
      task_id: FIELD.id,
    }),
    answer: '`{agent_id, task_id, state, …}`; with `worktree` also `workspace`, `worktree` and `uncommitted`',
    response: SPAWNED_AGENT,
    handle: spawnAgent,
  },
  {
    method: 'GET',
    path: '/agents/:id',
    id: 'showAgent',
    summary: 'One agent',
    answer:
      'of an agent that Phaselock started `{agent_id, task_id, state, role, restarts, lost, outcome, reason, exit_code, unenforced, window, …}`; of another the entry of `GET /agents`',
    response: chooseOne(STARTED_AGENT, AGENT),
    handle: async ({ app, supervisor, params: { id = '' } }) => {
      if (app.ledger.registry.spawns.has(id)) return supervisor.show(id)
      const agent = await findAgent(app, id)
      return agent === null ? refuse('not_found', `There is no agent ${JSON.stringify(id)}.`) : ok(agent)
    },
  },
  {
    method: 'POST',
    path: '/agents/:id/stop',
    id: 'stopAgent',
    summary: 'End an agent that Phaselock started; its task can be claimed again, or is parked',
    body: shape({ reason: FIELD.reason, park: { type: 'boolean', description: 'Park its task.' } }),
    answer: 'The agent',
    response: STOPPED_AGENT,
    handle: async (call) => {
      const { reason, park } = call.app.redact(call.body) as { reason?: string; park?: boolean }
      const about = { park: park === true, reason: reason ?? 'stopped by an operator' }
      return call.supervisor.stop(call.params.id ?? '', about, { actor: requireOperator(call), once: call.once })
    },
  },
  {
    method: 'GET',
    path: '/agents/:id/log',
    id: 'agentLog',
    summary: 'The output of an agent: its end, or everything after `cursor`',
    query: { cursor: { type: 'string', maxLength: 64, description: '`cursor` of the answer before.' } },
    answer: '`{agent_id, text, cursor, more, ended}`',
    response: makeObject({ agent_id: TEXT, text: TEXT, cursor: allowNull(TEXT), more: FLAG, ended: FLAG }),
    handle: async ({ supervisor, params, query }) => supervisor.log(params.id ?? '', query.cursor ?? null),
  },
  {
    method: 'GET',
    path: '/agents/:id/screen',
    id: 'agentScreen',
    summary: 'What the window of an agent shows now',
    answer: '`{agent_id, screen}`',
    response: makeObject({ agent_id: TEXT, screen: TEXT }),
    handle: async ({ supervisor, params }) => supervisor.readScreen(params.id ?? ''),
  },
]

async function spawnAgent(call: Call): Promise<Result<JsonObject>> {
  const { body } = call
  const task = body.task as JsonObject | undefined
  const taskId = body.task_id as string | undefined
  if ((task === undefined) === (taskId === undefined))
    return refuse('invalid_request', 'Give exactly one of task and task_id.')
  if (JSON.stringify(task?.metadata ?? {}).length > METADATA_BYTES_MAX)
    return refuse('invalid_request', `task.metadata: larger than ${METADATA_BYTES_MAX} bytes of JSON.`)
  const request: SpawnRequest = {
    agent: body.agent as string | undefined,
    harness: body.harness as SpawnRequest['harness'],
    command: body.command as string | undefined,
    args: body.args as readonly string[] | undefined,
    model: body.model as string | undefined,
    agentId: body.agent_id as string | undefined,
    adapter: (body.adapter as SpawnRequest['adapter'] | undefined) ?? 'subprocess',
  }
  const about = taskId === undefined ? { task: readTaskRequest(task ?? {}) } : { taskId }
  return call.supervisor.spawn(request, about, { actor: requireOperator(call), once: call.once })
}

function readTaskRequest(task: JsonObject): TaskRequest {
  return {
    id: task.id as string | undefined,
    title: task.title as string,
    description: (task.description as string | undefined) ?? '',
    contract: task.contract as string | undefined,
    workspace: task.workspace as string | undefined,
    dependsOn: [],
    requires: [],
    metadata: (task.metadata as JsonObject | undefined) ?? {},
    mode: (task.mode as Mode | undefined) ?? null,
    priority: (task.priority as number | undefined) ?? 0,
    ...(task.worktree === true ? { worktree: true as const } : {}),
    take: (task.take as readonly string[] | undefined) ?? [],
  }
}
