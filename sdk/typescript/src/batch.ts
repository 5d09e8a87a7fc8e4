import type { BatchAnswer, ToolCall } from './answers.js'
import type { JsonObject } from './json.js'

/**
 * Sends calls until all have their results. A call that runs tests may take long: it is sent again, with the calls
 * after it.
 */
export async function sendBatch(
  calls: readonly ToolCall[],
  send: (rest: JsonObject[]) => Promise<JsonObject>,
  until: number,
): Promise<BatchAnswer> {
  const results: BatchAnswer['results'][number][] = []
  for (;;) {
    const rest = calls.slice(results.length) as unknown as JsonObject[]
    const answer = (await send(rest)) as unknown as BatchAnswer
    results.push(...answer.results)
    const last = results.at(-1) as { readonly checking?: boolean } | undefined
    if (last?.checking !== true || performance.now() >= until) return { ...answer, results }
    results.pop()
  }
}
