import type { JsonObject } from '../../core/json.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { answerFailures, resolveAskedPath } from './file-place.js'
import { runFileJob } from './file-workers.js'
import { clampLimit, findGlobProblem } from './glob-files.js'

const LIMIT_DEFAULT = 200
const LIMIT_MAX = 2_000

/** `grep {pattern, path?, glob?, ignore_case?, limit?}`: lines that match a regular expression of RE2. */
export async function grepFiles(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answerFailures(async () => {
    const glob = typeof args.glob === 'string' ? args.glob.replace(/^(\.\/)+/, '') : null
    const problem = glob === null ? null : findGlobProblem(glob)
    if (problem !== null) return failTool(`the glob ${problem}`)
    const start = resolveAskedPath(place, (args.path as string | undefined) ?? '.')
    if (!start.ok) return start.outcome
    const answer = await runFileJob(place, {
      type: 'grep',
      root: place.root,
      start: start.path,
      pattern: args.pattern as string,
      glob,
      ignoresCase: args.ignore_case === true,
      limit: clampLimit(args.limit, { usual: LIMIT_DEFAULT, max: LIMIT_MAX }),
    })
    if (!answer.ok) return failTool(answer.detail, answer.code)
    return { ok: true, result: answer.value as unknown as JsonObject, changes: [] }
  })
}
