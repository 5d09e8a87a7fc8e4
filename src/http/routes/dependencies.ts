import { installDependencies } from '../../app/dependencies/install-dependencies.js'
import { INSTALLED_TASK } from '../answers/task-answers.js'
import { shape } from '../fields.js'
import { type Route, requireOperator } from '../route.js'

/** Dependencies of tasks. */
export const DEPENDENCY_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/tasks/:id/install',
    id: 'installDependencies',
    summary: 'Install dependencies for a task, with network, in the sandbox',
    body: shape(
      {
        command: { type: 'array', minItems: 1, maxItems: 50, items: { type: 'string', minLength: 1, maxLength: 300 } },
        cwd: { type: 'string', minLength: 1, maxLength: 4096 },
      },
      ['command'],
    ),
    answer: 'the task, and `install` with the command, its exit code, the paths it changed and its last lines',
    response: INSTALLED_TASK,
    handle: async (call) =>
      installDependencies(call.app, {
        taskId: call.params.id ?? '',
        words: call.body.command as readonly string[],
        cwd: (call.body.cwd as string | undefined) ?? '.',
        actor: requireOperator(call),
        once: call.once,
      }),
  },
]
