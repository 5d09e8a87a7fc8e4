import { refuse } from '../../app/result.js'
import type { CallId } from '../../core/identity/permissions.js'
import type { JsonObject } from '../../core/json.js'
import type { HookDialect } from '../../hooks/hook-message.js'
import { type Call, type Route, requireBearer } from '../route.js'
import { answerHook, CLAIM_FIRST } from './answer-hook.js'

/** What differs between the endpoints of agent CLIs. */
interface HookRouteText {
  readonly id: CallId
  readonly summary: string
  readonly answer: string
  readonly response: JsonObject
  /** The field with the name of the event. */
  readonly eventField: string
  readonly events: readonly string[]
}

/** The endpoint for the hooks of one agent CLI. Everything that it refuses is refused in the words of that CLI. */
export function makeHookRoute(dialect: HookDialect, text: HookRouteText): Route {
  const { id, summary, answer, response, eventField, events } = text
  return {
    method: 'POST',
    path: `/hooks/${dialect.agentCli}`,
    ...{ id, summary, answer, response },
    body: {
      type: 'object',
      additionalProperties: true,
      required: [eventField],
      properties: { [eventField]: { description: `One of ${events.map((event) => `\`${event}\``).join(', ')}.` } },
    },
    // A refusal with a status other than 200 would let the tool run if the agent CLI is not configured to block then.
    refusal: ({ code, detail, extra }, body) => {
      const next = code === 'no_active_task' ? CLAIM_FIRST : (extra.next_step ?? extra.remedy)
      return dialect.answers.refuse(body, `${detail} [${code}]${typeof next === 'string' ? `\n${next}` : ''}`)
    },
    handle: async (call) => {
      await recordBinding(call, dialect.agentCli)
      const read = dialect.read(call.body)
      return read.ok ? answerHook(call, dialect, read.hook) : refuse('invalid_request', read.detail)
    },
  }
}

// An agent whose own tools do the work has a shell, unless it runs in the sandbox. Recorded before anything is decided:
// from now on its tasks need confirmed decisions. (REQ-CONFIRM-1)
async function recordBinding(call: Call, agentCli: string): Promise<void> {
  const { app, isConfined } = call
  const { agentId } = requireBearer(call)
  if (isConfined) return
  app.operators.shells.note(agentId)
  if (app.ledger.registry.access.boundByHooks.has(agentId)) return
  const fact = { type: 'agent_bound_by_hooks', agentId, agentCli } as const
  await app.ledger.record(fact, { now: app.now(), actor: `agent:${agentId}` })
}
