import { isObject, type JsonObject } from '../core/json.js'

const OVER_REST = '- Run: POST /api/v1/prompt/continue'
const OVER_MCP = '- Call the tool continue'

/** An interrupt says how to continue; over MCP that is a tool. */
export function rewordInterrupt(text: string): string {
  return text.replace(OVER_REST, OVER_MCP)
}

/** The same for a session that has other tools next to Phaselock's. */
export function rewordForHooks(text: string): string {
  return text.replace(OVER_REST, `${OVER_MCP} of the MCP server phaselock (without it: POST /api/v1/prompt/continue)`)
}

const REPORT_OVER_REST = /send your report to POST \S+\/reviews/

/** A reviewer reports with a tool. */
export function rewordReview(answer: JsonObject): JsonObject {
  const { next_step: step } = answer
  if (typeof step !== 'string') return answer
  return { ...answer, next_step: step.replace(REPORT_OVER_REST, 'report with the tool submit_review') }
}

/** The same for an answer that is an interrupt or contains one. The rest of it stays unchanged. */
export function rewordForMcp(answer: JsonObject): JsonObject {
  const { interrupt } = answer
  const said =
    answer.kind === 'interrupt' && typeof answer.text === 'string'
      ? { ...answer, text: rewordInterrupt(answer.text) }
      : answer
  return isObject(interrupt) ? { ...said, interrupt: rewordForMcp({ ...interrupt, kind: 'interrupt' }) } : said
}
