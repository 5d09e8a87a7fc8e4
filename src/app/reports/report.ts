import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import type { Party } from '../identity/identity.js'
import { ok, type Result, refuse } from '../result.js'
import { reportOfCoordination } from './report-council.js'
import { reportOfTask } from './report-task.js'

/** Report of a task or council: refusals, time, tokens, gates, answers and votes. Rebuilt from its events. */
export async function reportOfRun(app: App, party: Party, id: string): Promise<Result<JsonObject>> {
  const state = await app.ledger.read(id)
  if (state !== null) return reportOfTask(app, party, state)
  const report = await reportOfCoordination(app, id)
  return report === null ? refuse('not_found', `There is no task or council ${JSON.stringify(id)}.`) : ok(report)
}
