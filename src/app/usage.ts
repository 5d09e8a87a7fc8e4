import type { AgentBearer } from '../core/admit.js'
import type { JsonObject } from '../core/contract.js'
import { totals } from '../core/rules/facts.js'
import { admitCall, applyAs } from './agent-call.js'
import type { App } from './app.js'
import { interruptView } from './interrupts.js'
import { ok, type Result } from './result.js'

/** Tokens that an agent says it used. What it says of itself is graded so. */
export async function recordUsage(app: App, bearer: AgentBearer, body: JsonObject): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, bearer, body.task_id as string | undefined)
  if (!admitted.ok) return admitted
  const call = admitted.value
  const number = (name: string): number => (body[name] as number | undefined) ?? 0
  const handled = await applyAs(app, call, {
    type: 'record_usage',
    input: number('input_tokens'),
    output: number('output_tokens'),
    cacheRead: number('cache_read_tokens'),
    cacheWrite: number('cache_creation_tokens'),
    model: (body.model as string | undefined) ?? null,
    usageId: (body.message_id as string | undefined) ?? null,
    grade: 'reported',
    occurredAt: app.now(),
  })
  if (!handled.ok) return handled
  const { state, events } = handled.value
  const { tokens, usage } = totals(state.watch.facts)
  const violated = events.find((event) => event.type === 'rule_violated' && !event.shadow)
  return ok({
    tokens,
    usage,
    ...(violated?.type === 'rule_violated' ? { interrupt: interruptView(state, violated.violation) } : {}),
  })
}
