import type { JsonObject } from '../../core/json.js'
import { objectOf, textOf } from '../client/answer-values.js'
import { plainLine } from './plain-text.js'
import { print, tell } from './terminal.js'

/** Says where a task with a work tree of its own works, and what is not there. */
export function tellTree(made: JsonObject): void {
  const branch = textOf(objectOf(made.worktree).branch)
  print(`It works in ${plainLine(textOf(made.workspace))}, on the branch ${plainLine(branch)}.`)
  const { count, paths } = objectOf(made.uncommitted)
  if (count === 0 || !Array.isArray(paths)) return
  tell(`Not in it, because no commit holds it: ${paths.map((one) => plainLine(String(one))).join(', ')}`)
}
