import { noTask, ok, type Result, refuse } from '../../app/result.js'
import { listTasks } from '../../app/tasks/list-tasks.js'
import { acceptTools, applyOperatorCommand, createTask, findStashFolder, isAgentFree } from '../../app/tasks/operate.js'
import { showTask } from '../../app/tasks/show-task.js'
import { acceptTree, revertTree } from '../../app/trees/reconcile.js'
import { rewindTree } from '../../app/trees/rewind-tree.js'
import { toEventView } from '../../app/wire.js'
import type { Mode } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { Command } from '../../core/task/command.js'
import { TIMELINE } from '../answers/admin-answers.js'
import * as ANSWERS from '../answers/task-answers.js'
import { FIELD, NUMBER_MAX, shape } from '../fields.js'
import { parseLimit } from '../query.js'
import { type Call, type Route, requireOperator } from '../route.js'

const METADATA_BYTES_MAX = 16 * 1024

const TREE_PATHS_MAX = 1000
const TAKES_MAX = 20

/** Operators' calls on tasks. */
export const TASK_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/tasks',
    id: 'createTask',
    summary: 'Create a task',
    success: 201,
    body: shape(
      {
        title: FIELD.title,
        description: FIELD.text,
        id: FIELD.id,
        contract: {
          type: 'string',
          minLength: 1,
          maxLength: 200,
          description: 'Hash or name of a known contract; default: the one the server was started with.',
        },
        workspace: { type: 'string', minLength: 1, maxLength: 4096, description: 'Absolute path of the work tree.' },
        worktree: {
          type: 'boolean',
          description: 'Make a work tree for this task alone, from the repository in `workspace`.',
        },
        take: {
          type: 'array',
          maxItems: TAKES_MAX,
          items: { type: 'string', minLength: 1, maxLength: 4096 },
          description:
            'With `worktree`: ignored paths of the repository that the new tree has too, such as installed packages.',
        },
        depends_on: FIELD.ids,
        requires: FIELD.ids,
        metadata: FIELD.metadata,
        mode: FIELD.mode,
        priority: FIELD.priority,
        held_out: {
          type: 'object',
          description:
            '`{examples: [{criterion?, run, stdin?, expect}]}`: run at the gate with `examples_hold`, never shown to an agent.',
        },
      },
      ['title'],
    ),
    answer: 'The task',
    response: ANSWERS.CREATED_TASK,
    handle: async ({ app, body, once, ...call }) => {
      const metadata = (body.metadata as JsonObject | undefined) ?? {}
      if (JSON.stringify(metadata).length > METADATA_BYTES_MAX)
        return refuse('invalid_request', `metadata: larger than ${METADATA_BYTES_MAX} bytes of JSON.`)
      return createTask(
        app,
        {
          id: body.id as string | undefined,
          title: body.title as string,
          description: (body.description as string | undefined) ?? '',
          contract: body.contract as string | undefined,
          workspace: body.workspace as string | undefined,
          dependsOn: (body.depends_on as readonly string[] | undefined) ?? [],
          requires: (body.requires as readonly string[] | undefined) ?? [],
          metadata,
          mode: (body.mode as Mode | undefined) ?? null,
          priority: (body.priority as number | undefined) ?? 0,
          ...(body.worktree === true ? { worktree: true as const } : {}),
          take: (body.take as readonly string[] | undefined) ?? [],
          ...(body.held_out === undefined ? {} : { heldOut: body.held_out as JsonObject }),
        },
        { actor: requireOperator({ app, body, once, ...call }), once },
      )
    },
  },
  {
    method: 'GET',
    path: '/tasks',
    id: 'listTasks',
    summary: 'Tasks, newest first',
    query: {
      status: FIELD.phase,
      phase: FIELD.phase,
      agent_id: FIELD.id,
      progress: {
        enum: ['true', 'false'],
        description: 'With `true`, each task has `progress`: its time in the phase, completed phases and refusals.',
      },
      limit: FIELD.limit,
      cursor: FIELD.cursor,
    },
    answer: '`{tasks, next_cursor}`',
    response: ANSWERS.TASK_PAGE,
    handle: async ({ app, query }) => {
      const { status, phase, agent_id: agentId, cursor } = query
      const asked = Object.entries({ status, phase, agentId, cursor }).filter(([, value]) => value !== undefined)
      const filter = { limit: parseLimit(query, 100), ...Object.fromEntries(asked) }
      return ok(await listTasks(app, filter, query.progress === 'true'))
    },
  },
  {
    method: 'GET',
    path: '/tasks/:id',
    id: 'getTask',
    summary: 'One task',
    answer: 'The task',
    response: ANSWERS.TASK_DETAILS,
    handle: async ({ app, params }) => showTask(app, params.id ?? ''),
  },
  {
    method: 'PATCH',
    path: '/tasks/:id',
    id: 'updateTask',
    summary: 'Change title, description, metadata or priority',
    body: {
      ...shape({ title: FIELD.title, description: FIELD.text, metadata: FIELD.metadata, priority: FIELD.priority }),
      minProperties: 1,
    },
    answer: 'The task',
    response: ANSWERS.TASK,
    handle: async (call) => {
      const { title, description, metadata, priority } = call.app.redact(call.body) as {
        title?: string
        description?: string
        metadata?: JsonObject
        priority?: number
      }
      if (JSON.stringify(metadata ?? {}).length > METADATA_BYTES_MAX)
        return refuse('invalid_request', `metadata: larger than ${METADATA_BYTES_MAX} bytes of JSON.`)
      return applyToTask(call, {
        type: 'update',
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(priority === undefined ? {} : { priority }),
      })
    },
  },
  {
    method: 'GET',
    path: '/tasks/:id/timeline',
    id: 'getTimeline',
    summary: 'Every event of the task, oldest first',
    query: {
      after: { type: 'integer', minimum: 0, maximum: NUMBER_MAX, description: 'Version to start after.' },
      limit: FIELD.limit,
    },
    answer: '`{events, next_after}`',
    response: TIMELINE,
    handle: async ({ app, params, query }) => {
      const id = params.id ?? ''
      if ((await app.ledger.read(id)) === null) return noTask(id)
      const limit = parseLimit(query, 500)
      const events = await app.ledger.store.readStream(`task:${id}`, Number(query.after ?? 0), limit)
      return ok({
        events: events.map(toEventView),
        next_after: events.length < limit ? null : (events.at(-1)?.version ?? null),
      })
    },
  },
  makeActionRoute('cancel', 'Cancel the task', {}, async (_, reason) => ({ type: 'cancel', reason })),
  makeActionRoute('park', 'Park the task until it is resumed', {}, async (_, reason) => ({ type: 'park', reason })),
  makeActionRoute('resume', 'Resume a parked task', {}, async ({ app, params }, reason) => {
    const id = params.id ?? ''
    const stashFolder = await findStashFolder(app, id)
    const agentIsFree = await isAgentFree(app, id)
    return { type: 'resume', reason, agentIsFree, ...(stashFolder === null ? {} : { stashFolder }) }
  }),
  {
    method: 'POST',
    path: '/tasks/:id/rewind',
    id: 'rewindTask',
    summary: 'Return the task to an earlier phase',
    body: shape(
      {
        to_phase: FIELD.phase,
        restore_tree: { type: 'boolean', description: 'Also restore the work tree as it was in that phase.' },
        reason: FIELD.reason,
      },
      ['to_phase', 'reason'],
    ),
    answer: 'The task; with `restore_tree` also `restored` (the first of the paths) and `restored_count`',
    response: ANSWERS.REWOUND_TASK,
    handle: async (call) => {
      const taskId = call.params.id ?? ''
      const to = call.body.to_phase as string
      const reason = call.app.redact(call.body.reason ?? '') as string
      const about = { to, reason, agentIsFree: await isAgentFree(call.app, taskId) }
      return call.body.restore_tree === true
        ? rewindTree(call.app, { taskId, ...about, actor: requireOperator(call), once: call.once })
        : applyToTask(call, { type: 'rewind', ...about })
    },
  },
  makeTreeRoute('accept', 'Accept changes of the work tree that no allowed call explains', acceptTree),
  makeTreeRoute('revert', 'Revert changes of the work tree that no allowed call explains', revertTree),
  {
    method: 'POST',
    path: '/tasks/:id/tools/accept',
    id: 'acceptTools',
    summary: 'Accept the upstream tools of a task as their servers list them now',
    body: shape({ reason: FIELD.reason }, ['reason']),
    answer: 'the task, and `accepted_tools` with the hash of each tool',
    response: ANSWERS.ACCEPTED_TOOLS,
    handle: async (call) =>
      acceptTools(call.app, call.params.id ?? '', {
        actor: requireOperator(call),
        once: call.once,
        reason: call.app.redact(call.body.reason ?? '') as string,
      }),
  },
  {
    ...makeActionRoute(
      'reassign',
      'Take the task from its agent; with agent_id, reserve it for that agent',
      {},
      async (call, reason) => ({
        type: 'reassign',
        reason,
        agentId: (call.body.agent_id as string | undefined) ?? null,
      }),
    ),
    body: shape({ reason: FIELD.reason, agent_id: FIELD.id }, ['reason']),
    handle: async (call) => {
      const agentId = (call.body.agent_id as string | undefined) ?? null
      const known = agentId === null ? undefined : call.app.ledger.registry.agents.get(agentId)
      if (agentId !== null && (known === undefined || known.revokedAt !== null))
        return refuse('not_found', `There is no agent ${JSON.stringify(agentId)}.`)
      return applyToTask(call, { type: 'reassign', agentId, reason: call.app.redact(call.body.reason ?? '') as string })
    },
  },
]

function makeTreeRoute(name: 'accept' | 'revert', summary: string, work: typeof acceptTree): Route {
  return {
    method: 'POST',
    path: `/tasks/:id/tree/${name}`,
    id: `${name}Tree`,
    summary,
    body: shape(
      {
        reason: FIELD.reason,
        paths: {
          type: 'array',
          minItems: 1,
          maxItems: TREE_PATHS_MAX,
          items: { type: 'string', minLength: 1, maxLength: 4096 },
        },
      },
      ['reason'],
    ),
    answer: 'the task, `paths` (the first of them) and `path_count`',
    response: ANSWERS.SETTLED_TREE,
    handle: async (call) =>
      work(call.app, {
        taskId: call.params.id ?? '',
        paths: (call.body.paths as readonly string[] | undefined) ?? null,
        reason: call.app.redact(call.body.reason ?? '') as string,
        actor: requireOperator(call),
        once: call.once,
      }),
  }
}

function makeActionRoute(
  name: 'cancel' | 'park' | 'resume' | 'reassign',
  summary: string,
  fields: Record<string, JsonObject>,
  command: (call: Call, reason: string) => Promise<Command>,
): Route {
  return {
    method: 'POST',
    path: `/tasks/:id/${name}`,
    id: `${name}Task`,
    summary,
    body: shape({ ...fields, reason: FIELD.reason }, [...Object.keys(fields), 'reason']),
    answer: 'The task',
    response: ANSWERS.TASK,
    handle: async (call) => applyToTask(call, await command(call, call.app.redact(call.body.reason ?? '') as string)),
  }
}

function applyToTask(call: Call, command: Command): Promise<Result<JsonObject>> {
  return applyOperatorCommand(call.app, call.params.id ?? '', command, {
    actor: requireOperator(call),
    once: call.once,
  })
}
