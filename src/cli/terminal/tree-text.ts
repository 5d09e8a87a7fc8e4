import type { JsonObject } from '../../core/json.js'
import { toObject, toText } from '../client/answer-values.js'
import { toPlainLine } from './plain-text.js'
import { print, tell } from './terminal.js'

/** Says where a task with a work tree of its own works, and what is not there. */
export function tellTree(made: JsonObject): void {
  const branch = toText(toObject(made.worktree).branch)
  print(`It works in ${toPlainLine(toText(made.workspace))}, on the branch ${toPlainLine(branch)}.`)
  const { count, paths } = toObject(made.uncommitted)
  if (count === 0 || !Array.isArray(paths)) return
  tell(`Not in it, because no commit holds it: ${paths.map((path) => toPlainLine(String(path))).join(', ')}`)
}
