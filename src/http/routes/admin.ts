import { decideApproval, listApprovals, showApproval } from '../../app/approvals/approvals.js'
import {
  addOperator,
  listAgents,
  listContracts,
  listOperators,
  note,
  registerAgent,
  rotateSecret,
} from '../../app/identity/administer.js'
import { toCallerKind } from '../../app/identity/identity.js'
import { ok, refuse } from '../../app/result.js'
import { addContract } from '../../app/tasks/add-contract.js'
import { type AgentBinding, BINDING_MODES, BINDING_PLACES } from '../../core/identity/operator-access.js'
import { mayRenewAgent } from '../../core/identity/permissions.js'
import type { JsonObject } from '../../core/json.js'
import { DECISION_CHANNELS, type DecisionChannel } from '../../core/task/fact-parts.js'
import { ADDED_CONTRACT, AGENT, CONTRACT_ROW, OPERATOR } from '../answers/admin-answers.js'
import { APPROVAL, APPROVAL_DETAILS } from '../answers/approval-answers.js'
import {
  ANY_OBJECT,
  allowNull,
  FLAG,
  makeList,
  makeObject,
  makePage,
  TEXT,
  TIME,
  TRUE,
} from '../answers/schema-parts.js'
import { FIELD, shape } from '../fields.js'
import { parseLimit } from '../query.js'
import { type Call, type Route, readReason, requireOperator, requireTaskPrincipal } from '../route.js'

const BINDING = {
  ...shape({ agent_cli: FIELD.id, place: { enum: [...BINDING_PLACES] }, mode: { enum: [...BINDING_MODES] } }, [
    ...['agent_cli', 'place', 'mode'],
  ]),
  description: 'How the configuration of an agent CLI binds it; kept in the ledger.',
}

function toBinding(given: JsonObject | undefined): AgentBinding | undefined {
  if (given === undefined) return undefined
  const { agent_cli: agentCli, place, mode } = given
  return { agentCli, place, mode } as unknown as AgentBinding
}

/** Who may act, which contracts are known, and what waits for a human. */
export const ADMIN_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/agents',
    id: 'addAgent',
    summary: 'Register an agent; a known id gets a new token that replaces the older one (not with the role ci)',
    success: 201,
    body: shape({ agent_id: FIELD.id, capabilities: FIELD.ids, binding: BINDING }, ['agent_id']),
    answer: '`{agent_id, agent_token, expires_at}`',
    response: makeObject({ agent_id: TEXT, agent_token: TEXT, expires_at: TIME }),
    handle: async (call) =>
      registerAgent(
        call.app,
        {
          agentId: call.body.agent_id as string,
          capabilities: (call.body.capabilities as readonly string[] | undefined) ?? [],
          binding: toBinding(call.body.binding as JsonObject | undefined),
        },
        { actor: requireOperator(call), once: call.once, unlessKnown: !mayRenewAgent(toCallerKind(call.principal)) },
      ),
  },
  {
    method: 'GET',
    path: '/agents',
    id: 'listAgents',
    summary: 'Agents and what they work on',
    answer: '`{agents}`',
    response: makeObject({ agents: makeList(AGENT) }),
    handle: async ({ app }) => ok(await listAgents(app)),
  },
  {
    method: 'POST',
    path: '/agents/:id/revoke',
    id: 'revokeAgent',
    summary: "Revoke the agent's tokens immediately",
    body: shape({ reason: FIELD.reason }),
    answer: '`{agent_id, revoked: true}`',
    response: makeObject({ agent_id: TEXT, revoked: TRUE }),
    handle: async (call) => {
      const agentId = call.params.id ?? ''
      return note(
        call.app,
        { type: 'agent_revoked', agentId, reason: readReason(call) },
        makeBy(call, { agent_id: agentId, revoked: true }),
      )
    },
  },
  {
    method: 'POST',
    path: '/operators',
    id: 'addOperator',
    summary: 'Add an operator; the token is shown once',
    success: 201,
    body: shape({ name: FIELD.name, role: FIELD.name }, ['name']),
    answer: '`{name, role, operator_token}`',
    response: makeObject({ name: TEXT, role: allowNull(TEXT), operator_token: TEXT }),
    handle: async (call) =>
      addOperator(
        call.app,
        { name: call.body.name as string, role: (call.body.role as string | undefined) ?? null },
        { actor: requireOperator(call), once: call.once },
      ),
  },
  {
    method: 'GET',
    path: '/operators',
    id: 'listOperators',
    summary: 'Operators and their roles',
    answer: '`{operators}`',
    response: makeObject({ operators: makeList(OPERATOR) }),
    handle: async ({ app }) => ok(listOperators(app)),
  },
  {
    method: 'POST',
    path: '/operators/:name/revoke',
    id: 'revokeOperator',
    summary: "Revoke an operator's token immediately",
    body: shape({ reason: FIELD.reason }),
    answer: '`{name, revoked: true}`',
    response: makeObject({ name: TEXT, revoked: TRUE }),
    handle: async (call) => {
      const name = call.params.name ?? ''
      return note(
        call.app,
        { type: 'operator_revoked', name, reason: readReason(call) },
        makeBy(call, { name, revoked: true }),
      )
    },
  },
  {
    method: 'POST',
    path: '/secret/rotate',
    id: 'rotateSecret',
    summary: 'Sign new tokens with a new secret; existing tokens stay valid',
    body: shape({ reason: FIELD.reason }),
    answer: '`{kid}`',
    response: makeObject({ kid: TEXT }),
    handle: async (call) => rotateSecret(call.app, readReason(call), { actor: requireOperator(call), once: call.once }),
  },
  {
    method: 'POST',
    path: '/contracts',
    id: 'addContract',
    summary: 'Make a contract known, as YAML or JSON text or as an object',
    success: 201,
    body: {
      ...shape({ source: { type: 'string', minLength: 1, maxLength: 1_048_576 }, contract: { type: 'object' } }),
      minProperties: 1,
      maxProperties: 1,
    },
    answer: '`{hash, name, version, warnings}`',
    response: ADDED_CONTRACT,
    handle: async (call) => {
      const { source, contract } = call.body
      return addContract(
        call.app,
        typeof source === 'string' ? source : JSON.stringify(contract, null, 2),
        requireOperator(call),
      )
    },
  },
  {
    method: 'GET',
    path: '/contracts',
    id: 'listContracts',
    summary: 'Known contracts',
    answer: '`{contracts}`',
    response: makeObject({ contracts: makeList(CONTRACT_ROW) }),
    handle: async ({ app }) => ok(listContracts(app)),
  },
  {
    method: 'GET',
    path: '/contracts/:hash',
    id: 'getContract',
    summary: 'One contract in its canonical form',
    answer: '`{hash, contract}`',
    response: makeObject({ hash: TEXT, contract: ANY_OBJECT }),
    handle: async ({ app, params }) => {
      const document = await app.contracts.document(params.hash ?? '')
      return document === null
        ? refuse('not_found', `There is no contract ${JSON.stringify(params.hash)}.`)
        : ok({ hash: params.hash ?? '', contract: document })
    },
  },
  {
    method: 'GET',
    path: '/approvals',
    id: 'listApprovals',
    summary: 'Approvals that wait for an answer, or were answered',
    query: {
      status: { enum: ['pending', 'decided', 'all'], description: 'Which ones; default `pending`.' },
      limit: FIELD.limit,
      cursor: FIELD.cursor,
    },
    answer: '`{approvals, next_cursor}`',
    response: makePage('approvals', APPROVAL),
    handle: async ({ app, query }) =>
      ok(
        await listApprovals(app, {
          status: (query.status ?? 'pending') as 'pending' | 'decided' | 'all',
          limit: parseLimit(query, 100),
          ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
        }),
      ),
  },
  {
    method: 'GET',
    path: '/approvals/:id',
    id: 'getApproval',
    summary: 'One approval with the content to approve; agents and reviewers see those of their own task',
    answer: 'The approval, with `contents`',
    response: APPROVAL_DETAILS,
    handle: async (call) => showApproval(call.app, requireTaskPrincipal(call), call.params.id ?? ''),
  },
  {
    method: 'POST',
    path: '/approvals/:id/decision',
    id: 'decideApproval',
    summary: 'Approve or reject exactly what the digest names',
    body: shape(
      {
        decision: { enum: ['approve', 'reject'] },
        digest: {
          type: 'string',
          pattern: '^[0-9a-f]{64}$',
          description: '`digest` of the approval, 64 hexadecimal digits.',
        },
        comment: { type: 'string', maxLength: 4000 },
        channel: { enum: DECISION_CHANNELS, description: 'Where the operator decided; kept in the ledger.' },
        phase_token: FIELD.token,
      },
      ['decision', 'digest'],
    ),
    answer: 'The approval',
    response: APPROVAL,
    handle: async (call) =>
      decideApproval(call.app, requireTaskPrincipal(call), {
        id: call.params.id ?? '',
        decision: call.body.decision as 'approve' | 'reject',
        digest: call.body.digest as string,
        comment: (call.body.comment as string | undefined) ?? '',
        ...(call.body.channel === undefined ? {} : { channel: call.body.channel as DecisionChannel }),
        once: call.once,
      }),
  },
  pause('pause', 'Stop all agents: their calls are refused until unpause', 'agents_paused'),
  pause('unpause', 'Resume all agents', 'agents_unpaused'),
]

function pause(name: 'pause' | 'unpause', summary: string, type: 'agents_paused' | 'agents_unpaused'): Route {
  return {
    method: 'POST',
    path: `/${name}`,
    id: name,
    summary,
    body: shape({ reason: FIELD.reason }),
    answer: '`{paused}`',
    response: makeObject({ paused: FLAG }),
    handle: async (call) =>
      note(call.app, { type, reason: readReason(call) }, makeBy(call, { paused: type === 'agents_paused' })),
  }
}

function makeBy(call: Call, answer: JsonObject) {
  return { actor: requireOperator(call), once: call.once, answer }
}
