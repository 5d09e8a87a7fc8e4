import type { AgentBearer } from '../core/identity/admit.js'
import type { JsonObject } from '../core/json.js'
import { sumFacts } from '../core/rules/facts.js'
import type { App } from './app.js'
import { admitCall, applyAs } from './identity/agent-call.js'
import { keepUnder, type Once } from './kept-answer.js'
import type { CommandResult } from './ledger/ledger.js'
import { ok, type Result } from './result.js'
import { toInterruptView } from './tasks/interrupts.js'

/** Token usage that an agent reports about itself, graded as self-reported. */
export async function recordUsage(
  app: App,
  bearer: AgentBearer,
  body: JsonObject,
  once: Once | undefined,
): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, bearer, body.task_id as string | undefined)
  if (!admitted.ok) return admitted
  const number = (name: string): number => (body[name] as number | undefined) ?? 0
  const command = {
    type: 'record_usage',
    input: number('input_tokens'),
    output: number('output_tokens'),
    cacheRead: number('cache_read_tokens'),
    cacheWrite: number('cache_creation_tokens'),
    model: (body.model as string | undefined) ?? null,
    usageId: (body.message_id as string | undefined) ?? null,
    grade: 'reported',
    occurredAt: app.now(),
  } as const
  const handled = await applyAs(app, admitted.value, command, {
    remember: (done) => keepUnder(once, 200, () => ({ body: buildAnswer(done) })),
  })
  return handled.ok ? ok(buildAnswer(handled.value)) : handled
}

function buildAnswer({ state, events }: CommandResult): JsonObject {
  const { tokens, usage } = sumFacts(state.watch.facts)
  const violated = events.find((event) => event.type === 'rule_violated' && !event.shadow)
  return {
    tokens,
    usage,
    ...(violated?.type === 'rule_violated' ? { interrupt: toInterruptView(state, violated.violation) } : {}),
  }
}
