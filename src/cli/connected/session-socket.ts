import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const LEVELS_MAX = 16
const FOLDER_MODE = 0o700

/** Where a session listens, and the name under which its hooks find it. */
export interface SessionSocket {
  readonly path: string
  /** Call it when something listens at the path. */
  publish(): void
  remove(): void
}

/**
 * The socket of a session, under the id of the agent CLI's process: its hooks run below that process and find it by
 * walking up. Only this account can enter the folder. An agent CLI that starts its MCP server again has two for a
 * moment: the name leads to the newer one, and the older one leaves it alone.
 */
export function makeSessionSocket(cliPid: number, environment: NodeJS.ProcessEnv = process.env): SessionSocket {
  const folder = getSocketFolder(environment)
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  chmodSync(folder, FOLDER_MODE)
  const file = `${cliPid}-${process.pid}`
  const path = join(folder, file)
  const name = join(folder, `${cliPid}.sock`)
  rmSync(path, { force: true })
  return {
    path,
    publish: () => {
      rmSync(`${name}.${process.pid}`, { force: true })
      symlinkSync(file, `${name}.${process.pid}`)
      renameSync(`${name}.${process.pid}`, name)
    },
    remove: () => {
      rmSync(path, { force: true })
      if (readLink(name) === file) rmSync(name, { force: true })
    },
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    // Gone already.
    return null
  }
}

/** Notes that the agent CLI has read the list of tools: its first message waits for that. Returns how to remove it. */
export function markSessionReady(cliPid: number, environment: NodeJS.ProcessEnv = process.env): () => void {
  const folder = getSocketFolder(environment)
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  const path = join(folder, `${cliPid}.ready`)
  writeFileSync(path, '')
  return () => rmSync(path, { force: true })
}

/** The socket of the session that a process belongs to; null: of none. */
export function findSessionSocket(pid: number, environment: NodeJS.ProcessEnv = process.env): string | null {
  const folder = getSocketFolder(environment)
  let at: number | null = pid
  for (let level = 0; level < LEVELS_MAX && at !== null && at > 1; level += 1) {
    const path = join(folder, `${at}.sock`)
    if (statSync(path, { throwIfNoEntry: false })?.isSocket() === true) return path
    at = readParent(at)
  }
  return null
}

// Short: the path of a socket has at most 107 bytes.
function getSocketFolder(environment: NodeJS.ProcessEnv): string {
  return join(environment.HOME ?? homedir(), '.local/state/phaselock/.sessions')
}

function readParent(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    return Number.isSafeInteger(parent) ? parent : null
  } catch {
    // The process has ended.
    return null
  }
}
