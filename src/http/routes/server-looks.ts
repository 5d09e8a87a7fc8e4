import { adoptNode } from '../../app/nodes/adopt-node.js'
import { listNodes } from '../../app/nodes/list-nodes.js'
import { ok } from '../../app/result.js'
import { checkServer } from '../../app/status/server-checks.js'
import { showContractGraph, showContractText, trustContract } from '../../app/tasks/contract-looks.js'
import { toIsoTime } from '../../app/wire.js'
import {
  ADOPTED_NODE,
  CONTRACT_GRAPH,
  CONTRACT_TEXT,
  NODES,
  SERVER_CHECKS,
  TRUSTED_CONTRACT,
  WEBHOOKS,
} from '../answers/server-answers.js'
import { FIELD, shape } from '../fields.js'
import { type Route, readReason, requireOperator } from '../route.js'

/** What operators see of contracts and of the server itself. */
export const SERVER_LOOK_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/contracts/:hash/text',
    id: 'getContractText',
    summary: 'One contract as YAML',
    answer: '`{hash, text, origin}`',
    response: CONTRACT_TEXT,
    handle: async ({ app, params }) => showContractText(app, params.hash ?? ''),
  },
  {
    method: 'GET',
    path: '/contracts/:hash/graph',
    id: 'getContractGraph',
    summary: 'The phases and transitions of a contract, with the open tasks in each',
    answer: '`{hash, phases, transitions, counts, waiting, truncated}`',
    response: CONTRACT_GRAPH,
    handle: async ({ app, params }) => showContractGraph(app, params.hash ?? ''),
  },
  {
    method: 'POST',
    path: '/contracts/:hash/trust',
    id: 'trustContract',
    summary: 'Trust a contract that the server was started with',
    body: shape({}),
    answer: '`{hash, name, version, trusted: true}`',
    response: TRUSTED_CONTRACT,
    handle: async (call) => trustContract(call.app, call.params.hash ?? '', requireOperator(call)),
  },
  {
    method: 'GET',
    path: '/webhooks',
    id: 'listWebhooks',
    summary: 'The addresses that get events, with their newest deliveries',
    answer: '`{webhooks}`',
    response: WEBHOOKS,
    handle: async ({ app }) =>
      ok({
        webhooks: (await app.webhooks()).map(({ url, events, problem, deliveries }) => ({
          ...{ url, events, problem },
          last_deliveries: deliveries.map((one) => ({ ...one, at: toIsoTime(one.at) })),
        })),
      }),
  },
  {
    method: 'GET',
    path: '/nodes',
    id: 'listNodes',
    summary: 'The servers that share the ledger',
    answer: '`{nodes}`',
    response: NODES,
    handle: async ({ app }) => ok({ nodes: await listNodes(app) }),
  },
  {
    method: 'POST',
    path: '/nodes/:id/adopt',
    id: 'adoptNode',
    summary: 'Take over the tasks of a node that has gone for good',
    body: shape({
      reason: FIELD.reason,
      without_trees: {
        type: 'boolean',
        description: 'The folder of its shared trees is lost: they count as they are at the next claim.',
      },
    }),
    answer: '`{node, adopted_by, streams}`',
    response: ADOPTED_NODE,
    handle: async (call) => {
      const isWithoutTrees = (call.body as { without_trees?: unknown } | null)?.without_trees === true
      const by = { actor: requireOperator(call), once: call.once, reason: readReason(call), isWithoutTrees }
      return adoptNode(call.app, call.params.id ?? '', by)
    },
  },
  {
    method: 'GET',
    path: '/doctor',
    id: 'checkServer',
    summary: 'What the server needs and whether it has it',
    answer: '`{checks}`',
    response: SERVER_CHECKS,
    handle: async ({ app }) => ok(await checkServer(app)),
  },
]
