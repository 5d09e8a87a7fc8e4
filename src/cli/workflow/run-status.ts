import type { JsonObject } from '../../core/json.js'
import { toObject, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { findLiveServerNote } from '../client/server-file.js'
import type { Finding } from '../doctor/doctor.js'
import { Stop } from '../exit.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { readRun, runFile } from './run-file.js'
import { getRefusalCode, openSession } from './run-session.js'
import { formatUnavailable } from './run-text.js'

/** The active run as `status` shows it; null when there is none. */
export async function runStatus(client: Client, options: ClientOptions): Promise<JsonObject | null> {
  const { run } = openSession(options)
  if (run === null) return null
  const about = { task_id: run.taskId, agent_id: run.agentId, started_at: run.startedAt }
  try {
    const task = await client.get(`/tasks/${encodeSegment(run.taskId)}`)
    const { title, status, checking, phase, visit, phase_entered_at, phase_seconds, parked_reason } = task
    const { rules, next_step } = task
    const shown = { title, status, checking, phase, visit, phase_entered_at, phase_seconds, parked_reason }
    return { ...about, ...(shown as JsonObject), ...({ rules, next_step } as JsonObject) }
  } catch (error) {
    if (getRefusalCode(error) !== 'not_found') throw error
    return { ...about, status: 'unknown', next_step: 'This server has no such task: start another run.' }
  }
}

/** What `doctor` says of the active run: rules that cannot be judged block nothing, so somebody has to be told. */
export async function runFinding(stateDir: string): Promise<readonly Finding[]> {
  const server = findLiveServerNote(stateDir)
  if (server === null) return []
  const warning = (detail: string, remedy: string): readonly Finding[] => [
    { name: 'run', status: 'warning', detail: toPlainLine(detail), remedy },
  ]
  try {
    const run = readRun(stateDir)
    if (run === null) return []
    const task = await new Client({ url: server.url, stateDir }).get(`/tasks/${encodeSegment(run.taskId)}`)
    const unavailable = formatUnavailable(toObject(task.rules).unavailable)
    if (unavailable !== '')
      return warning(
        `${run.taskId}: ${unavailable}`,
        'Report usage (POST /usage), or give the server the transcripts of the agent.',
      )
    const detail = toPlainLine(`${run.taskId} is ${toText(task.status)} in ${toText(task.phase)}`)
    return [{ name: 'run', status: 'ok', detail, remedy: '' }]
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return warning(error.message, `Look at ${runFile(stateDir)}.`)
  }
}
