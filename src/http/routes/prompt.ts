import { continuePrompt, getPrompt, nextPrompt, showTaskPrompt } from '../../app/tasks/prompts.js'
import { recordUsage } from '../../app/usage.js'
import type { Json, JsonObject } from '../../core/json.js'
import { NEXT_PROMPT, PROMPT, TASK_PROMPT, USAGE } from '../answers/call-answers.js'
import { FIELD, makeAgentShape } from '../fields.js'
import { type Route, requireBearer } from '../route.js'
import { listStatements } from './agent.js'

/** Prompts, interrupts and token usage. */
export const PROMPT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/prompt',
    id: 'getPrompt',
    summary: 'The prompt of the phase the task is in, or the interrupt of a rule in its place',
    answer: '`{kind: "prompt" | "interrupt", text, phase, violation?}`',
    response: PROMPT,
    handle: async (call) => getPrompt(call.app, requireBearer(call)),
  },
  {
    method: 'GET',
    path: '/tasks/:id/prompt',
    id: 'getTaskPrompt',
    summary: 'What the agent of a task is told now',
    answer: '`{task_id, kind: "prompt" | "interrupt", text, phase, violation?, allowed_tools, next_step}`',
    response: TASK_PROMPT,
    handle: async ({ app, params }) => showTaskPrompt(app, params.id ?? ''),
  },
  {
    method: 'POST',
    path: '/prompt/next',
    id: 'nextPrompt',
    summary:
      'Claim that something is done: makes the transition that the claim leads to, or answers with an interrupt or the prompt',
    body: makeAgentShape({
      task_id: FIELD.id,
      claims: FIELD.claims,
      artifacts: FIELD.artifacts,
      evidence: FIELD.evidence,
    }),
    answer:
      '`{kind, text, phase, violation?, task_id?, allowed_tools?, next_step?}`; if a claim led to a transition, also the fields that `POST /tasks/transition` answers',
    response: NEXT_PROMPT,
    handle: async (call) =>
      nextPrompt(call.app, {
        bearer: requireBearer(call),
        taskId: call.body.task_id as string | undefined,
        claims: listStatements(call.body.claims),
        artifacts: new Map(Object.entries((call.body.artifacts as Record<string, Json> | undefined) ?? {})),
        evidence: (call.body.evidence as JsonObject | undefined) ?? null,
        once: call.once,
      }),
  },
  {
    method: 'POST',
    path: '/prompt/continue',
    id: 'continuePrompt',
    summary: 'Acknowledge the interrupt that was shown, and get the prompt of the phase',
    body: makeAgentShape({ task_id: FIELD.id }),
    answer: '`{kind: "prompt", text, phase}`; the third time for one rule in a visit parks the task',
    response: PROMPT,
    handle: async (call) => continuePrompt(call.app, requireBearer(call), call.body.task_id as string | undefined),
  },
  {
    method: 'POST',
    path: '/usage',
    id: 'reportUsage',
    summary: 'Report tokens that were used; counted once for each `message_id`',
    body: makeAgentShape(
      {
        task_id: FIELD.id,
        input_tokens: FIELD.tokens,
        output_tokens: FIELD.tokens,
        cache_read_tokens: FIELD.tokens,
        cache_creation_tokens: FIELD.tokens,
        model: { type: 'string', minLength: 1, maxLength: 200 },
        message_id: { type: 'string', minLength: 1, maxLength: 200 },
      },
      ['input_tokens', 'output_tokens'],
    ),
    answer: '`{tokens: {input, output, cache_read, cache_write}, usage, interrupt?}` of this visit of the phase',
    response: USAGE,
    handle: async (call) => recordUsage(call.app, requireBearer(call), call.body, call.once),
  },
]
