import { findInstallProblem } from '../../core/dependencies/package-managers.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { splitPath } from '../../tree/lookup.js'
import type { App } from '../app.js'
import { applyTo, findTask } from '../find-task.js'
import { keepBody, type Once } from '../kept-answer.js'
import { ok, type Result, refuse } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { install } from './install.js'

/** An operator installs dependencies for a task. */
export async function installDependencies(
  app: App,
  request: {
    readonly taskId: string
    readonly words: readonly string[]
    readonly cwd: string
    readonly actor: string
    readonly once: Once | undefined
  },
): Promise<Result<JsonObject>> {
  const { taskId, words, cwd, actor, once } = request
  const answerOf = (state: TaskState, install: JsonObject): JsonObject => ({ ...toTaskView(state), install })
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
      record: async (command, options, done) => {
        const remember = keepBody(once, 200, (state) => answerOf(state, done?.answer ?? {}))
        const by = done === undefined ? options : { ...options, remember }
        const handled = await applyTo(app, task.value, command, { actor, ...by })
        if (handled.ok) done?.onRecorded(handled.value)
        return handled.ok ? null : { ok: false, ...handled.problem }
      },
    }),
  )
  if (!done.ok) return refuse(done.code, done.detail, done.extra ?? {})
  const after = await app.ledger.read(taskId)
  return ok(answerOf(after ?? task.value.state, done.result))
}

/** Why a command cannot be run there; null when it can. */
export function findOrderProblem(words: readonly string[], cwd: string): string | null {
  if (cwd !== '.' && splitPath(cwd) === null) return `cwd ${JSON.stringify(cwd)} is not a folder of the work tree`
  return findInstallProblem(words)
}
