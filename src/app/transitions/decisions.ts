import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { readArtifact } from './phase-content.js'

const ANSWERS_MAX = 10

/**
 * What people decided in this visit: the newest approval if it was rejected, with what was handed in, and the newest
 * answers to questions. An agent that takes a task up again has nothing else to go by.
 */
export async function collectDecisions(app: App, state: TaskState): Promise<JsonObject> {
  const answers = [...state.questions.values()]
    .filter(({ visit, answer }) => visit === state.visit && answer !== null)
    .slice(-ANSWERS_MAX)
    .map(({ question, answer }) => ({ question, answer: answer?.text ?? '' }))
  const rejected = await readRejected(app, state)
  return { ...(rejected === null ? {} : { rejected }), ...(answers.length === 0 ? {} : { answers }) }
}

async function readRejected(app: App, state: TaskState): Promise<JsonObject | null> {
  const newest = [...state.approvals.values()].filter(({ visit }) => visit === state.visit).at(-1)
  if (newest?.status !== 'rejected') return null
  const { by = '', comment = '' } = newest.decisions.at(-1) ?? {}
  const artifacts: [string, Json][] = []
  for (const kept of newest.artifacts) artifacts.push([kept.type, await readArtifact(app, kept)])
  return { approval_id: newest.id, by, comment, artifacts: Object.fromEntries(artifacts) }
}
