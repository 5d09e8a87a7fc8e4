import { OPTION_SCHEMAS } from '../../app/councils/council-file.js'
import {
  cancelCoordination,
  issueParticipantToken,
  listCoordinations,
  readCouncilStatus,
  showCoordination,
  startCoordination,
} from '../../app/councils/operate-councils.js'
import { lookAtRun, respondToRun, WAIT_SECONDS_MAX } from '../../app/councils/take-part.js'
import { COUNCIL_TOOLS } from '../../app/councils/turn-prompts.js'
import { AGENTS_MAX, QUESTION_CHARS_MAX } from '../../core/councils/options.js'
import type { Json, JsonObject } from '../../core/json.js'
import {
  COORDINATION_ROW,
  COORDINATION_VIEW,
  FINISH_REASON,
  RESPONSE_VERDICT,
  RUN_STATUS,
  STARTED_COORDINATION,
} from '../answers/run-answers.js'
import { allowNull, FLAG, makeObject, makePage, TEXT } from '../answers/schema-parts.js'
import { FIELD, shape } from '../fields.js'
import { type Route, requireOperator, requireParticipant } from '../route.js'

const CALLS_MAX = 64
const TEXT_CHARS_MAX = 200_000
const LIST_USUAL = 50

const CALL: JsonObject = shape({ name: { type: 'string', maxLength: 200 }, arguments: {} }, ['name'])

/** Several agents on one question. */
export const COORDINATION_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/coordinations',
    id: 'startCoordination',
    summary: 'Put a question to several agents, who answer and vote until there is a winner',
    success: 201,
    body: shape(
      {
        question: {
          type: 'string',
          minLength: 1,
          maxLength: QUESTION_CHARS_MAX,
          description: 'The question that all agents answer.',
        },
        agents: {
          type: 'array',
          minItems: 1,
          maxItems: AGENTS_MAX,
          items: { type: 'object' },
          description: '`[{id, kind: model, command, remote or scripted, …}]`; their order breaks ties.',
        },
        options: {
          ...shape({
            ...OPTION_SCHEMAS,
            tools: {
              type: 'array',
              items: { enum: [...COUNCIL_TOOLS] },
              maxItems: COUNCIL_TOOLS.length,
              uniqueItems: true,
              description: 'Tools with which models and programs may look at the work tree; default: none.',
            },
          }),
          description: 'Limits of the council.',
        },
      },
      ['question', 'agents'],
    ),
    answer: '`{id, agents: [{id, anonymous_id, token?}]}`; the tokens of remote agents are shown here',
    response: STARTED_COORDINATION,
    handle: async (call) =>
      startCoordination(
        call.app,
        {
          question: call.body.question as string,
          agents: call.body.agents as Json,
          options: (call.body.options ?? {}) as JsonObject,
        },
        { actor: requireOperator(call), once: call.once },
      ),
  },
  {
    method: 'GET',
    path: '/coordinations',
    id: 'listCoordinations',
    summary: 'List councils, newest first',
    query: { limit: FIELD.limit, cursor: FIELD.cursor },
    answer:
      '`{coordinations: [{id, question, started_at, ended_at, finish_reason, winner, agents, answers}], next_cursor}`',
    response: makePage('coordinations', COORDINATION_ROW),
    handle: async ({ app, query }) =>
      listCoordinations(app, { limit: Number(query.limit ?? LIST_USUAL), cursor: query.cursor }),
  },
  {
    method: 'GET',
    path: '/coordinations/:id',
    id: 'getCoordination',
    summary: 'One council; a participant sees the question, the answers under anonymous ids and what it must do',
    query: {
      wait: {
        type: 'integer',
        minimum: 0,
        maximum: WAIT_SECONDS_MAX,
        description: 'For participants: wait up to this many seconds for something to do.',
      },
    },
    answer: 'The council with its `status`; or the view of the participant',
    response: COORDINATION_VIEW,
    handle: async (call) => {
      const { app, principal, params, query } = call
      const id = params.id ?? ''
      if (principal.kind !== 'participant') return showCoordination(app, id)
      return lookAtRun(app, requireParticipant(call), { id, waitSeconds: Number(query.wait ?? 0) })
    },
  },
  {
    method: 'POST',
    path: '/coordinations/:id/respond',
    id: 'respond',
    summary: "One response of a remote agent, judged exactly as a model's",
    body: shape(
      {
        text: { type: 'string', maxLength: TEXT_CHARS_MAX, description: 'Text of the response besides the calls.' },
        tool_calls: {
          type: 'array',
          maxItems: CALLS_MAX,
          items: CALL,
          description:
            '`[{name: new_answer, arguments: {content}}]` or `[{name: vote, arguments: {agent_id, reason}}]`.',
        },
      },
      ['tool_calls'],
    ),
    answer:
      '`{accepted, action?, label?, reason?, message?, asked_again?, stopped?, attempt, max_attempts, round, view}`',
    response: RESPONSE_VERDICT,
    handle: async (call) => {
      const calls = (call.body.tool_calls ?? []) as readonly { name: string; arguments?: Json }[]
      const toolCalls = calls.map((one) => ({ name: one.name, arguments: one.arguments ?? {} }))
      const response = { text: (call.body.text as string | undefined) ?? '', toolCalls }
      return respondToRun(call.app, requireParticipant(call), { id: call.params.id ?? '', response, once: call.once })
    },
  },
  {
    method: 'GET',
    path: '/coordinations/:id/status',
    id: 'coordinationStatus',
    summary: 'The `status.json` of a council',
    answer: '`{finish_reason, finish_reason_details, is_complete, meta, coordination, agents, results}`',
    response: RUN_STATUS,
    handle: async ({ app, params }) => readCouncilStatus(app, params.id ?? ''),
  },
  {
    method: 'POST',
    path: '/coordinations/:id/agents/:agent/token',
    id: 'participantToken',
    summary: "Show a remote agent's token again",
    body: shape({}),
    answer: '`{id, anonymous_id, token}`',
    response: makeObject({ id: TEXT, anonymous_id: allowNull(TEXT), token: TEXT }),
    isRepeatable: true,
    handle: async ({ app, params }) => issueParticipantToken(app, { id: params.id ?? '', agent: params.agent ?? '' }),
  },
  {
    method: 'POST',
    path: '/coordinations/:id/cancel',
    id: 'cancelCoordination',
    summary: 'End a council immediately',
    body: shape({ reason: FIELD.reason }, ['reason']),
    answer: '`{id, finish_reason, is_complete}`',
    response: makeObject({ id: TEXT, finish_reason: FINISH_REASON, is_complete: FLAG }),
    handle: async (call) =>
      cancelCoordination(
        call.app,
        { id: call.params.id ?? '', reason: call.body.reason as string },
        { actor: requireOperator(call), once: call.once },
      ),
  },
]
