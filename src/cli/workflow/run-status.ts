import type { TaskDetails } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { type Client, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { findLiveServerNote } from '../client/server-file.js'
import { codeOf, Stop } from '../exit.js'
import { type Finding, ok, warning } from '../finding.js'
import { readRun, runFile } from './run-file.js'
import { openSession } from './run-session.js'
import { formatUnavailable } from './run-text.js'

const SHOWN = [
  ...(['title', 'status', 'checking', 'phase', 'visit', 'phase_entered_at', 'phase_seconds'] as const),
  ...(['parked_reason', 'rules', 'next_step'] as const),
]

/** The active run as `status` shows it. */
export interface RunShown extends Partial<Omit<Pick<TaskDetails, (typeof SHOWN)[number]>, 'status'>> {
  /** `unknown`: the server does not have the task. */
  readonly status?: TaskDetails['status'] | 'unknown'
  readonly task_id: string
  readonly agent_id: string
  readonly started_at: string
}

/** The active run; null when there is none. */
export async function runStatus(client: Client, options: ClientOptions): Promise<RunShown | null> {
  const { run } = openSession(options)
  if (run === null) return null
  const about = { task_id: run.taskId, agent_id: run.agentId, started_at: run.startedAt }
  try {
    const task = await client.task(run.taskId)
    return { ...about, ...Object.fromEntries(SHOWN.map((name) => [name, task[name]])) }
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw error
    return { ...about, status: 'unknown', next_step: 'This server has no such task: start another run.' }
  }
}

/** The finding of `doctor` about the active run: rules that cannot be judged block nothing, so report them. */
export async function runFinding(stateDir: string): Promise<readonly Finding[]> {
  const server = findLiveServerNote(stateDir)
  if (server === null) return []
  try {
    const run = readRun(stateDir)
    if (run === null) return []
    const task = await (await openClient({ url: server.url, stateDir })).task(run.taskId)
    const unavailable = formatUnavailable(task.rules.unavailable)
    if (unavailable !== '')
      return [
        warning(
          'run',
          plainLine(`${run.taskId}: ${unavailable}`),
          'Report usage (POST /usage), or give the server the transcripts of the agent.',
        ),
      ]
    return [ok('run', plainLine(`${run.taskId} is ${task.status} in ${task.phase}`))]
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return [warning('run', plainLine(error.message), `Look at ${runFile(stateDir)}.`)]
  }
}
