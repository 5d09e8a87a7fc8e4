import type { JsonObject } from '../../core/json.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { answerFailures, resolveAskedPath } from './file-place.js'
import { runFileJob } from './file-workers.js'

const LIMIT_DEFAULT = 1_000
const LIMIT_MAX = 10_000
const GLOB_CHARS_MAX = 4096

/** `glob {pattern, path?, limit?}`: files by pattern, relative to `path`, which is the work tree unless given. */
export async function listFilesByGlob(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answerFailures(async () => {
    const pattern = (args.pattern as string).replace(/^(\.\/)+/, '')
    const problem = findGlobProblem(pattern)
    if (problem !== null) return failTool(`the pattern ${problem}`)
    const start = resolveAskedPath(place, (args.path as string | undefined) ?? '.')
    if (!start.ok) return start.outcome
    const limit = clampLimit(args.limit, { usual: LIMIT_DEFAULT, max: LIMIT_MAX })
    const answer = await runFileJob(place, { type: 'glob', root: place.root, start: start.path, pattern, limit })
    if (!answer.ok) return failTool(answer.detail, answer.code)
    return { ok: true, result: answer.value as unknown as JsonObject, changes: [] }
  })
}

export function clampLimit(limit: unknown, { usual, max }: { readonly usual: number; readonly max: number }): number {
  return typeof limit === 'number' ? Math.min(limit, max) : usual
}

export function findGlobProblem(glob: string): string | null {
  if (glob === '') return 'is empty'
  if (glob.length > GLOB_CHARS_MAX) return `is longer than ${GLOB_CHARS_MAX} characters`
  if (glob.includes('\0')) return 'contains a NUL character'
  if (glob.startsWith('/')) return 'is absolute; patterns are relative to the work tree'
  return glob.split('/').includes('..') ? 'leaves the work tree' : null
}
