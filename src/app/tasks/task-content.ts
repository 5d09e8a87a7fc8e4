import type { Json, JsonObject } from '../../core/json.js'
import type { StoredEvent } from '../../store/store.js'
import type { App } from '../app.js'
import { noTask, ok, type Result, refuse } from '../result.js'
import { toIsoTime } from '../wire.js'

const EVENTS_PER_PAGE = 1000

/** What a kept content is, as the event that names it says. */
interface Named {
  readonly kind: 'artifact' | 'run' | 'baseline' | 'evidence' | 'review'
  readonly name: string
}

/**
 * The content that an event of the task names by its hash: a version of an artifact, the record of an observed run, the
 * baseline, evidence or a review. Contents of other tasks are not found.
 */
export async function showTaskContent(app: App, taskId: string, sha256: string): Promise<Result<JsonObject>> {
  if ((await app.ledger.read(taskId)) === null) return noTask(taskId)
  const found = await findNaming(app, taskId, sha256)
  const content = found === null ? null : await app.ledger.store.readBlob(sha256)
  if (found === null || content === null)
    return refuse('not_found', `No event of task ${taskId} names a kept content ${JSON.stringify(sha256)}.`)
  const { event, named } = found
  return ok({
    task_id: taskId,
    sha256,
    ...named,
    seq: event.seq,
    at: toIsoTime(event.at),
    phase: event.phase,
    content: JSON.parse(content) as Json,
  })
}

async function findNaming(app: App, taskId: string, sha256: string) {
  let after = 0
  for (;;) {
    const events = await app.ledger.store.readStream(`task:${taskId}`, after, EVENTS_PER_PAGE)
    for (const event of events) {
      const named = findNamed(event, sha256)
      if (named !== null) return { event, named }
    }
    if (events.length < EVENTS_PER_PAGE) return null
    after = events.at(-1)?.version ?? after
  }
}

function findNamed({ type, data }: StoredEvent, sha256: string): Named | null {
  const artifact = listRecords(data.artifacts).find((one) => one.sha256 === sha256)
  if (artifact !== undefined) return { kind: 'artifact', name: String(artifact.type) }
  const run = listRecords(data.observed).find((one) => one.sha256 === sha256)
  if (run !== undefined) return { kind: 'run', name: String(run.name) }
  if (type === 'baseline_recorded' && data.run === sha256) return { kind: 'baseline', name: 'tests' }
  if ((type === 'checkpoint_passed' || type === 'checkpoint_refused') && data.sha256 === sha256)
    return { kind: 'evidence', name: 'checkpoint' }
  if (type === 'review_submitted' && data.sha256 === sha256) return { kind: 'review', name: String(data.reviewer) }
  return null
}

function listRecords(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : []
}
