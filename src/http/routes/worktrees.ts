import { endWorktree } from '../../app/worktrees/end-worktree.js'
import { mergeWorktree } from '../../app/worktrees/merge-worktree.js'
import { MERGED_TASK, TASK } from '../answers/task-answers.js'
import { FIELD, shape } from '../fields.js'
import { type Call, type Route, requireOperator } from '../route.js'

const BRANCH_CHARS_MAX = 200

const COMMIT = { type: 'boolean', description: 'Include uncommitted changes: they are committed first.' }

/** Operators' calls on tasks with a separate work tree. */
export const WORKTREE_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/tasks/:id/merge',
    id: 'mergeTask',
    summary: "Merge the work of a task into a branch of its repository, and remove the task's own work tree",
    body: shape(
      {
        reason: FIELD.reason,
        force: { type: 'boolean', description: 'Merge even if the task is not completed.' },
        commit: COMMIT,
        into: {
          type: 'string',
          maxLength: BRANCH_CHARS_MAX,
          pattern: '^[A-Za-z0-9_][A-Za-z0-9_./-]*$',
          description: 'The branch; default: the one that the work tree was made from.',
        },
      },
      ['reason'],
    ),
    answer: 'the task, and `merge` with `into`, `commit`, `result`, `fast_forward` and `already`',
    response: MERGED_TASK,
    handle: async (call) =>
      mergeWorktree(call.app, { ...readEndRequest(call), into: call.body.into as string | undefined }),
  },
  {
    method: 'POST',
    path: '/tasks/:id/handover',
    id: 'handOverTask',
    summary: "Keep the work of a task as a branch of its repository, and remove the task's own work tree",
    body: shape({ reason: FIELD.reason, commit: COMMIT }, ['reason']),
    answer: 'the task; `worktree` names the branch and the commit',
    response: TASK,
    handle: async (call) => endWorktree(call.app, { ...readEndRequest(call), end: 'hand_over' }),
  },
  {
    method: 'POST',
    path: '/tasks/:id/discard',
    id: 'discardTask',
    summary: "Discard the work of a cancelled task, and remove the task's own work tree",
    body: shape(
      { reason: FIELD.reason, force: { type: 'boolean', description: 'Discard the work of a completed task too.' } },
      ['reason'],
    ),
    answer: 'the task',
    response: TASK,
    handle: async (call) => endWorktree(call.app, { ...readEndRequest(call), end: 'discard' }),
  },
]

function readEndRequest(call: Call) {
  return {
    taskId: call.params.id ?? '',
    force: call.body.force === true,
    commit: call.body.commit === true,
    reason: call.app.redact(call.body.reason ?? '') as string,
    actor: requireOperator(call),
    once: call.once,
  }
}
