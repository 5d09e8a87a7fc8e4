import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { isAlive } from '../client/server-file.js'

const FOLDER = 'launched'
const AGENT = /^[a-z]+-[0-9a-f]{8}$/

/** Notes which process holds an agent's session, so that a session that was killed is told from one that is open. */
export function writeSessionNote(stateDir: string, agentId: string): void {
  mkdirSync(join(stateDir, FOLDER), { recursive: true, mode: 0o700 })
  const note = { pid: process.pid, started: readStartTime(process.pid) }
  writeFileAtomically(join(stateDir, FOLDER, `${agentId}.json`), `${JSON.stringify(note)}\n`)
}

export function removeSessionNote(stateDir: string, agentId: string): void {
  rmSync(join(stateDir, FOLDER, `${agentId}.json`), { force: true })
}

/** Whether the agent belongs to a session of this machine, and whether its terminal is still open. */
export function findSession(
  stateDir: string,
  agentId: string,
): { readonly pid: number; readonly isOpen: boolean } | null {
  if (!AGENT.test(agentId)) return null
  try {
    const note: unknown = JSON.parse(readFileSync(join(stateDir, FOLDER, `${agentId}.json`), 'utf8'))
    const { pid, started } = Object(note) as { pid?: unknown; started?: unknown }
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return null
    return { pid, isOpen: isAlive(pid) && readStartTime(pid) === started }
  } catch {
    // No note: the agent was not opened by a command of this machine.
    return null
  }
}

// Process ids are used again; together with the start time they are not. Null where /proc is missing.
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
