import { closeSync } from 'node:fs'
import type { TaskState } from '../../core/task/state.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import { openTree } from '../../tree/lookup.js'
import { TreeMissing } from '../../tree/problems.js'
import { formatStream } from '../ledger/entries.js'
import type { Resources } from '../resources.js'
import { type Problem, refuse } from '../result.js'

type TaskOfTree = Pick<TaskState, 'id' | 'workspace' | 'worktree'>

/** The work tree of a task that cannot be opened: what is wrong, and the way out. */
export interface MissingTree {
  readonly detail: string
  readonly remedy: string
}

/** What is wrong with the folder of a task's work tree; null: it can be opened. */
export function findMissingTree({ id, workspace, worktree }: TaskOfTree): MissingTree | null {
  try {
    closeSync(openTree(workspace))
    return null
  } catch (error) {
    if (!(error instanceof TreeMissing)) throw error
    const ending = `phaselock task cancel ${id} --reason "its work tree is gone"`
    const discarding =
      worktree?.status === 'open' ? `, then \`phaselock task discard ${id} --reason "it is gone"\`` : ''
    return {
      detail: `The work tree of task ${id}, ${workspace}, ${error.problem}.`,
      remedy: `An operator puts the folder ${workspace} back as it was, or gives the task up: \`${ending}\`${discarding}.`,
    }
  }
}

export interface TaskOfMissingTree extends MissingTree {
  readonly state: TaskState
}

/** Those of the tasks whose work tree should be on this node and cannot be opened. */
export async function listMissingTrees(
  app: Pick<Resources, 'ledger'>,
  states: readonly TaskState[],
): Promise<readonly TaskOfMissingTree[]> {
  const found: TaskOfMissingTree[] = []
  for (const state of states) {
    const missing = findMissingTree(state)
    if (missing !== null && (await app.ledger.isHere(formatStream(state.id)))) found.push({ state, ...missing })
  }
  return found
}

/** Refuses a call that needs the work tree of a task; null: it is there. */
export function refuseMissingTree(task: TaskOfTree): { readonly ok: false; readonly problem: Problem } | null {
  const missing = findMissingTree(task)
  return missing === null ? null : refuse('tree_missing', missing.detail, { remedy: missing.remedy })
}

/** The outcome of a tool that needs the work tree of a task; null: it is there. */
export function failMissingTree(task: TaskOfTree): ToolOutcome | null {
  const missing = findMissingTree(task)
  return missing === null ? null : failTool(missing.detail, 'tree_missing', { remedy: missing.remedy })
}
