import type { JsonObject } from '../../core/json.js'
import { failed, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { answering, askedPath } from './file-place.js'
import { runFileJob } from './file-workers.js'
import { bounded } from './glob-files.js'

const LIMIT_DEFAULT = 10
const LIMIT_MAX = 50
const QUERY_CHARS_MAX = 1_000

/** `search_codebase {query, path?, limit?}`: snippets that share words with a question, best first. */
export async function searchCodebase(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answering(async () => {
    const query = args.query as string
    if (!/[\p{L}\p{N}]/u.test(query)) return failed('the query has no words')
    if (query.length > QUERY_CHARS_MAX) return failed(`the query is longer than ${QUERY_CHARS_MAX} characters`)
    const start = askedPath(place, (args.path as string | undefined) ?? '.')
    if (!start.ok) return start.outcome
    const limit = bounded(args.limit, { usual: LIMIT_DEFAULT, max: LIMIT_MAX })
    const answer = await runFileJob(place, { type: 'search', root: place.root, start: start.path, query, limit })
    if (!answer.ok) return failed(answer.detail, answer.code)
    return { ok: true, result: answer.value, changes: [] }
  })
}
