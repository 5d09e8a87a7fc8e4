import type { JsonObject } from '../../core/json.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { answerFailures, resolveAskedPath } from './file-place.js'
import { runFileJob } from './file-workers.js'
import { clampLimit } from './glob-files.js'

const LIMIT_DEFAULT = 10
const LIMIT_MAX = 50
const QUERY_CHARS_MAX = 1_000

/** `search_codebase {query, path?, limit?}`: snippets that share words with a question, best first. */
export async function searchCodebase(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answerFailures(async () => {
    const query = args.query as string
    if (!/[\p{L}\p{N}]/u.test(query)) return failTool('the query has no words')
    if (query.length > QUERY_CHARS_MAX) return failTool(`the query is longer than ${QUERY_CHARS_MAX} characters`)
    const start = resolveAskedPath(place, (args.path as string | undefined) ?? '.')
    if (!start.ok) return start.outcome
    const limit = clampLimit(args.limit, { usual: LIMIT_DEFAULT, max: LIMIT_MAX })
    const answer = await runFileJob(place, { type: 'search', root: place.root, start: start.path, query, limit })
    if (!answer.ok) return failTool(answer.detail, answer.code)
    return { ok: true, result: answer.value as unknown as JsonObject, changes: [] }
  })
}
