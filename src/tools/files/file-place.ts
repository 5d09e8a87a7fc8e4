import type { CallPath } from '../../core/tool-calls/call-facts.js'
import { getErrno, TREE_PROBLEMS, type TreeProblem, type TreeRefusal } from '../../tree/problems.js'
import { readPath } from '../read-path.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../tool-place.js'

const QUOTED_CHARS_MAX = 200

/** A path that a tool may read, or the answer if it may not. */
type AskedPath = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly outcome: ToolOutcome }

/** A hidden path answers exactly like a missing one. */
export function resolveAskedPath(place: ToolPlace, given: string): AskedPath {
  const { path, problem } = checkPath(given)
  if (problem !== null) return { ok: false, outcome: failTool(`${quotePath(given)} ${problem}`) }
  if (isHidden(place, path)) return { ok: false, outcome: toProblemOutcome('missing', path) }
  return { ok: true, path }
}

/** Half a surrogate pair has no bytes: the opened name would not be the judged one. */
export function checkPath(given: string): CallPath {
  return given.isWellFormed() ? readPath(given) : { path: given, problem: 'is not valid Unicode' }
}

/** A path is hidden with everything below it. */
export function isHidden(place: ToolPlace, path: string): boolean {
  for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1))
    if (place.isHidden(path.slice(0, at))) return true
  return false
}

export function toOutcome(refused: TreeRefusal): ToolOutcome {
  return toProblemOutcome(refused.problem, refused.path)
}

export function toProblemOutcome(problem: TreeProblem, path: string): ToolOutcome {
  return failTool(`${quotePath(path)}: ${TREE_PROBLEMS[problem]}`)
}

/** Quoted, so that no name can look like part of our message. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > QUOTED_CHARS_MAX ? `${path.slice(0, QUOTED_CHARS_MAX)}…` : path)
}

/** A failing disk or tree is an answer; our own errors are thrown. */
export async function answerFailures(work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await work()
  } catch (error) {
    const code = getErrno(error)
    if (!/^E[A-Z0-9]+$/.test(code)) throw error
    return failTool(`the work tree cannot be used (${code})`)
  }
}
