import type { JsonObject } from '../../core/json.js'
import { failed, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { answering, askedPath } from './file-place.js'
import { runFileJob } from './file-workers.js'
import { bounded, globProblem } from './glob-files.js'

const LIMIT_DEFAULT = 200
const LIMIT_MAX = 2_000

/** `grep {pattern, path?, glob?, ignore_case?, limit?}`: lines that match a regular expression of RE2. */
export async function grepFiles(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answering(async () => {
    const glob = typeof args.glob === 'string' ? args.glob.replace(/^(\.\/)+/, '') : null
    const problem = glob === null ? null : globProblem(glob)
    if (problem !== null) return failed(`the glob ${problem}`)
    const start = askedPath(place, (args.path as string | undefined) ?? '.')
    if (!start.ok) return start.outcome
    const answer = await runFileJob(place, {
      type: 'grep',
      root: place.root,
      start: start.path,
      pattern: args.pattern as string,
      glob,
      ignoresCase: args.ignore_case === true,
      limit: bounded(args.limit, { usual: LIMIT_DEFAULT, max: LIMIT_MAX }),
    })
    if (!answer.ok) return failed(answer.detail, answer.code)
    return { ok: true, result: answer.value, changes: [] }
  })
}
