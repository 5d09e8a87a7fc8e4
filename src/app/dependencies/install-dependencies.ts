import { findInstallProblem } from '../../core/dependencies/package-managers.js'
import type { JsonObject } from '../../core/json.js'
import { splitPath } from '../../tree/lookup.js'
import type { App } from '../app.js'
import { applyTo, findTask } from '../find-task.js'
import { ok, type Result, refuse } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { install } from './install.js'

/** An operator installs dependencies for a task. */
export async function installDependencies(
  app: App,
  request: { readonly taskId: string; readonly words: readonly string[]; readonly cwd: string; readonly actor: string },
): Promise<Result<JsonObject>> {
  const { taskId, words, cwd, actor } = request
  const task = await findTask(app, taskId)
  if (!task.ok) return task
  const problem = findOrderProblem(words, cwd)
  if (problem !== null) return refuse('invalid_request', `command: ${problem}.`)
  if (app.checking.has(taskId)) return refuse('conflict', `The gates of task ${taskId} are being checked.`)
  const { status } = task.value.state
  if (status === 'completed' || status === 'cancelled') return refuse('task_not_active', `Task ${taskId} is ${status}.`)
  const done = await app.running.run(taskId, (signal) =>
    install(app, task.value, {
      ...{ words, cwd, digest: null, signal },
      record: async (command, options, onRecorded) => {
        const handled = await applyTo(app, task.value, command, { actor, ...options })
        if (handled.ok) onRecorded?.(handled.value)
        return handled.ok ? null : { ok: false, ...handled.problem }
      },
    }),
  )
  if (!done.ok) return refuse(done.code, done.detail, done.extra ?? {})
  const after = await app.ledger.read(taskId)
  return ok({ ...toTaskView(after ?? task.value.state), install: done.result })
}

/** Why a command cannot be run there; null when it can. */
export function findOrderProblem(words: readonly string[], cwd: string): string | null {
  if (cwd !== '.' && splitPath(cwd) === null) return `cwd ${JSON.stringify(cwd)} is not a folder of the work tree`
  return findInstallProblem(words)
}
