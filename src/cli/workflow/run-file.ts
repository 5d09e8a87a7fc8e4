import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'
import type { JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'

const RUN_FILE = 'run.json'
const ARCHIVE = 'runs'
const ARCHIVED_MAX = 10_000
const TASK_ID = /^[A-Za-z0-9_.-]{1,64}$/

/** The run that the workflow commands act on: a task, and the agent that was registered for it. */
export interface Run {
  readonly taskId: string
  readonly agentId: string
  readonly agentToken: string
  readonly startedAt: string
}

export function runFile(stateDir: string): string {
  return join(stateDir, RUN_FILE)
}

/** The active run; null when there is none. An invalid file stops the command: a run is never guessed. */
export function readRun(stateDir: string): Run | null {
  const file = runFile(stateDir)
  try {
    const note = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const { task_id: taskId, agent_id: agentId, agent_token: agentToken, started_at: startedAt } = note
    const isRun = isId(taskId) && isId(agentId) && typeof agentToken === 'string' && agentToken !== ''
    if (isRun) return { taskId, agentId, agentToken, startedAt: typeof startedAt === 'string' ? startedAt : '' }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (!(error instanceof SyntaxError)) throw new Stop(EXIT.refused, `${file} cannot be read (${code ?? 'fault'}).`)
  }
  throw new Stop(EXIT.refused, `${file} does not describe a run. Look at it, and remove it if you do not need it.`)
}

/** Makes this the active run, completely or not at all. False: another one was started. */
export function createRun(stateDir: string, run: Run): boolean {
  const { taskId, agentId, agentToken, startedAt } = run
  const text = JSON.stringify(
    { task_id: taskId, agent_id: agentId, agent_token: agentToken, started_at: startedAt },
    null,
    2,
  )
  const file = runFile(stateDir)
  const fresh = `${file}.${process.pid}.new`
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  writeFileSync(fresh, `${text}\n`, { mode: 0o600 })
  try {
    // Linking fails if the name is taken; a rename would replace the existing file.
    linkSync(fresh, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(fresh, { force: true })
  }
}

/** Closes a finished run with its totals. Its token is not kept. */
export function archiveRun(stateDir: string, run: Run, totals: JsonObject): string {
  const folder = join(stateDir, ARCHIVE)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${run.taskId}.json`)
  const { taskId, agentId, startedAt } = run
  const text = JSON.stringify({ task_id: taskId, agent_id: agentId, started_at: startedAt, totals }, null, 2)
  writeFileAtomically(file, `${text}\n`)
  forgetRun(stateDir, run)
  forgetOldest(folder)
  return file
}

/** Removes a run that has nothing worth keeping. Another one that was started meanwhile stays. */
export function forgetRun(stateDir: string, run: Run): void {
  if (readRun(stateDir)?.taskId === run.taskId) rmSync(runFile(stateDir), { force: true })
}

// The ledger has everything; only the summaries are removed.
function forgetOldest(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  if (names.length <= ARCHIVED_MAX) return
  const started = (name: string): string => String(JSON.parse(readFileSync(join(folder, name), 'utf8')).started_at)
  const oldest = names.map((name) => [started(name), name] as const).sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [, name] of oldest.slice(0, names.length - ARCHIVED_MAX)) rmSync(join(folder, name), { force: true })
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && TASK_ID.test(value) && value !== '.' && value !== '..'
}
