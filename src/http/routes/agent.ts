import { admitCall, applyAs } from '../../app/identity/agent-call.js'
import { buildRenewedAnswer, makeGrant } from '../../app/identity/grant.js'
import { type KeptAnswer, keepUnder } from '../../app/kept-answer.js'
import { recall } from '../../app/ledger/idempotency.js'
import { ok, refuse } from '../../app/result.js'
import { reviewSnapshot } from '../../app/reviews/review-snapshot.js'
import { claimTask } from '../../app/tasks/claim-task.js'
import { buildOverview, buildSnapshot } from '../../app/tasks/snapshot.js'
import { toTaskView } from '../../app/tasks/views.js'
import { checkTool, executeTool, executeToolBatch } from '../../app/tool-calls/use-tool.js'
import { requestTransition } from '../../app/transitions/request-transition.js'
import { toIsoTimeOrNull } from '../../app/wire.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { CLAIM, GRANT_FIELDS, TOOL_BATCH, TOOL_CHECK, TOOL_RESULT, TRANSITION } from '../answers/call-answers.js'
import { allowNull, makeObject, TEXT, TIME } from '../answers/schema-parts.js'
import { SNAPSHOT } from '../answers/snapshot-answers.js'
import { TASK } from '../answers/task-answers.js'
import { FIELD, makeAgentShape } from '../fields.js'
import { type Call, type Route, requireBearer } from '../route.js'

const CALLS_MAX = 32

/** What agents call: claim, transition, tools, snapshot and the life of a lease. */
export const AGENT_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/tasks/claim',
    id: 'claimTask',
    summary: 'Claim a task, or get the task back that the agent already holds',
    body: makeAgentShape({ agent_id: FIELD.id, capabilities: FIELD.ids, task_id: FIELD.id }, ['agent_id']),
    answer:
      '`{task, phase, phase_token, expires_at, prompt, allowed_tools, contract, warnings}`; `warnings` names what changed in the work tree without an allowed call, when a claim is resumed',
    response: CLAIM,
    handle: async (call) => {
      const bearer = requireBearer(call)
      if (bearer.kind !== 'agent') return refuse('not_permitted', 'A claim needs the agent token, not a phase token.')
      if (call.body.agent_id !== bearer.agentId)
        return refuse(
          'not_permitted',
          `The token belongs to agent ${bearer.agentId}, not to ${String(call.body.agent_id)}.`,
        )
      return claimTask(call.app, {
        bearer,
        capabilities: call.body.capabilities as readonly string[] | undefined,
        taskId: call.body.task_id as string | undefined,
        once: call.once,
      })
    },
  },
  {
    method: 'POST',
    path: '/tasks/transition',
    id: 'requestTransition',
    summary: 'Request a transition; the answer names every blocker, or has a new token',
    body: makeAgentShape(
      {
        task_id: FIELD.id,
        current_phase: FIELD.phase,
        target_phase: FIELD.phase,
        artifacts: FIELD.artifacts,
        evidence: FIELD.evidence,
        claims: FIELD.claims,
      },
      ['task_id', 'target_phase'],
    ),
    answer:
      '`{allowed: true, phase, status, phase_token, expires_at, prompt, allowed_tools, warnings, artifacts, violation?, completed?}` or `{allowed: false, phase, phase_token: null, blockers, warnings, retry, task_id, allowed_tools, next_step, interrupt?, pending_approval?, pending_consensus?}`; `{allowed: false, checking: true, …}` while the gates take long: send it again',
    response: TRANSITION,
    handle: async (call) =>
      requestTransition(call.app, {
        bearer: requireBearer(call),
        taskId: call.body.task_id as string | undefined,
        currentPhase: (call.body.current_phase as string | undefined) ?? null,
        target: call.body.target_phase as string,
        artifacts: new Map(Object.entries((call.body.artifacts as Record<string, Json> | undefined) ?? {})),
        evidence: (call.body.evidence as JsonObject | undefined) ?? null,
        claims: listStatements(call.body.claims),
        once: call.once,
      }),
  },
  {
    method: 'POST',
    path: '/tools/execute',
    id: 'executeTool',
    summary: 'Decide and run a tool call',
    body: makeAgentShape({ task_id: FIELD.id, tool_name: FIELD.tool, args: FIELD.object, idempotency_key: FIELD.key }, [
      'task_id',
      'tool_name',
      'args',
    ]),
    answer:
      '`{result, logged: true, decision, duration_ms, violation?, unenforced?, interrupt?, advanced?, advancing?, phase_token?, expires_at?, allowed_tools?}`; `{checking: true, result: null, …}` while tests still run; a tool that fails answers 400 `tool_failed`, changes that the phase does not allow 403 `constraint_violation`',
    response: TOOL_RESULT,
    handle: async (call) => executeTool(call.app, readToolRequest(call)),
  },
  {
    method: 'POST',
    path: '/tools/check',
    id: 'checkTool',
    summary: 'Decide and record a tool call without running it',
    body: makeAgentShape({ task_id: FIELD.id, tool_name: FIELD.tool, args: FIELD.object }, [
      'task_id',
      'tool_name',
      'args',
    ]),
    answer: '`{allowed, code?, detail?, allowed_tools, violation?, retry?}`, also 200 when refused',
    response: TOOL_CHECK,
    handle: async (call) => checkTool(call.app, readToolRequest(call)),
  },
  {
    method: 'POST',
    path: '/tools/batch',
    id: 'batchTools',
    summary: `Up to ${CALLS_MAX} tool calls, each decided on its own`,
    body: makeAgentShape(
      {
        task_id: FIELD.id,
        calls: {
          type: 'array',
          minItems: 1,
          maxItems: CALLS_MAX,
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['tool_name', 'args'],
            properties: { tool_name: FIELD.tool, args: FIELD.object },
          },
        },
      },
      ['task_id', 'calls'],
    ),
    answer:
      '`{results, advanced?, advancing?, phase_token?, expires_at?, allowed_tools?}`, the results in order; they end with the first one that has `checking: true`',
    response: TOOL_BATCH,
    isRepeatable: true,
    handle: async (call) =>
      executeToolBatch(call.app, {
        bearer: requireCallerBearer(call),
        taskId: call.body.task_id as string | undefined,
        calls: (call.body.calls as readonly JsonObject[]).map((one) => ({
          tool: one.tool_name as string,
          args: (one.args as JsonObject | undefined) ?? {},
        })),
        once: call.once,
        recall: async (once) => {
          const before = await recall(call.app, once)
          return before === null || before === 'again' ? null : before.result
        },
      }),
  },
  {
    method: 'GET',
    path: '/state/snapshot',
    id: 'getSnapshot',
    summary: 'A read-only view of the state, under 100 KB',
    answer:
      '`{task, current_phase, task_dependencies, completed_tasks, blockers, phases, agents, events, next_step, counts, truncated}`, for operators also `tasks`, `paused` and `alerts`; to a reviewer `{task, current_phase, reviewer, expires_at, required_reviews, reviews, pending_approval, artifacts, held_out?, report, subject, allowed_tools, next_step, truncated}`',
    response: SNAPSHOT,
    handle: async (call) => {
      if (call.principal.kind === 'operator') return ok(await buildOverview(call.app))
      if (call.principal.kind === 'reviewer') return reviewSnapshot(call.app, call.principal.bearer)
      const admitted = await admitCall(call.app, requireBearer(call), undefined)
      if (admitted.ok) return ok(await buildSnapshot(call.app, admitted.value))
      return admitted.problem.code === 'no_active_task' ? ok(await buildSnapshot(call.app, null)) : admitted
    },
  },
  {
    method: 'POST',
    path: '/tokens/renew',
    id: 'renewToken',
    summary: 'A new token for the same phase and epoch',
    body: makeAgentShape({ task_id: FIELD.id }),
    answer: '`{phase, phase_token, expires_at, allowed_tools}`',
    response: makeObject({ phase: TEXT, ...GRANT_FIELDS }),
    handle: async (call) => {
      const done = await applyAgentCommand(call, { type: 'renew_token' })
      return done.ok ? ok(await buildRenewedAnswer(call.app, makeGrant(done.value, requireBearer(call).agentId))) : done
    },
  },
  {
    method: 'POST',
    path: '/tasks/heartbeat',
    id: 'heartbeat',
    summary: 'Extend the lease',
    body: makeAgentShape({ task_id: FIELD.id }),
    answer: '`{task_id, lease_expires_at}`',
    response: makeObject({ task_id: TEXT, lease_expires_at: allowNull(TIME) }),
    handle: async (call) => {
      const done = await applyAgentCommand(call, { type: 'extend_lease' })
      return done.ok ? ok(toLeaseView(done.value)) : done
    },
  },
  {
    method: 'POST',
    path: '/tasks/release',
    id: 'releaseTask',
    summary: 'Give the task back',
    body: makeAgentShape({ task_id: FIELD.id, reason: FIELD.reason }),
    answer: '`{task}`',
    response: makeObject({ task: TASK }),
    handle: async (call) => {
      const done = await applyAgentCommand(call, {
        type: 'release',
        reason: (call.body.reason as string | undefined) ?? 'released by the agent',
      })
      return done.ok ? ok({ task: toTaskView(done.value) }) : done
    },
  },
]

async function applyAgentCommand(
  call: Call,
  command: { type: 'renew_token' } | { type: 'extend_lease' } | { type: 'release'; reason: string },
) {
  const admitted = await admitCall(call.app, requireBearer(call), call.body.task_id as string | undefined)
  if (!admitted.ok) return admitted
  const { once } = call
  const answerOf = (state: TaskState): KeptAnswer => {
    if (command.type === 'renew_token') return { renewed: makeGrant(state, requireBearer(call).agentId) }
    return { body: command.type === 'release' ? { task: toTaskView(state) } : toLeaseView(state) }
  }
  const handled = await applyAs(call.app, admitted.value, command, {
    remember: (done) => keepUnder(once, 200, () => answerOf(done.state)),
  })
  return handled.ok ? ok(handled.value.state) : handled
}

function toLeaseView(state: TaskState): JsonObject {
  return { task_id: state.id, lease_expires_at: toIsoTimeOrNull(state.held?.leaseExpiresAt ?? null) }
}

function requireCallerBearer(call: Call): Bearer {
  return call.principal.kind === 'reviewer' ? call.principal.bearer : requireBearer(call)
}

function readToolRequest(call: Call) {
  return {
    bearer: requireCallerBearer(call),
    taskId: call.body.task_id as string | undefined,
    tool: call.body.tool_name as string,
    args: (call.body.args as JsonObject | undefined) ?? {},
    once: call.once,
  }
}

export function listStatements(claims: Json | undefined): readonly string[] {
  return Object.entries((claims as Record<string, boolean> | undefined) ?? {})
    .filter(([, made]) => made)
    .map(([name]) => name)
}
