import type { RunStatus } from '../../core/councils/status.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskRunStatus } from '../../core/task/task-status.js'
import type { App } from '../app.js'
import { admitCall } from '../identity/agent-call.js'
import type { Party } from '../identity/identity.js'
import { ok, type Result, refuse } from '../result.js'

/** The current status of a run: operators see any, by default the newest; an agent sees the task it holds. */
export async function readRunStatus(app: App, party: Party, run: string | undefined): Promise<Result<JsonObject>> {
  if (party.kind === 'agent') return readStatusForAgent(app, party, run)
  const id = run ?? (await findNewestRun(app))
  if (id === null) return refuse('not_found', 'There is no run yet: no task was claimed, and no council was started.')
  const status = await findStatus(app, id)
  if (status !== null) return ok(toJson(status))
  const isTask = (await app.ledger.store.task(id)) !== null
  return refuse(
    'not_found',
    isTask ? `Task ${id} has no status yet: nobody has claimed it.` : `There is no run ${JSON.stringify(id)}.`,
  )
}

async function readStatusForAgent(
  app: App,
  { bearer }: Party & { kind: 'agent' },
  run: string | undefined,
): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, bearer, run)
  if (!admitted.ok) return admitted
  const status = await app.taskRuns.readTaskStatus(admitted.value.state.id)
  if (status === null) return refuse('not_found', 'The task has no status yet.')
  return ok(toJson(status))
}

async function findStatus(app: App, id: string): Promise<TaskRunStatus | RunStatus | null> {
  return (await app.taskRuns.readTaskStatus(id)) ?? (await app.coordinations.readStatus(id))
}

async function findNewestRun(app: App): Promise<string | null> {
  const task = await app.taskRuns.findNewest()
  const coordination = await app.coordinations.newest()
  if (task === null || coordination === null) return task?.id ?? coordination?.id ?? null
  return coordination.startedAt > task.startedAt ? coordination.id : task.id
}

function toJson(status: TaskRunStatus | RunStatus): JsonObject {
  return status
}
