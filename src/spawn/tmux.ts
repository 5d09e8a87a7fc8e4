import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { App } from '../app/app.js'
import { sha256Hex } from '../base/sha256.js'
import { makePrivateFolder } from '../gateway/socket-paths.js'
import { AgentLog } from './agent-log.js'

const run = promisify(execFile)
const RUN_MS_MAX = 10_000
const OUTPUT_BYTES_MAX = 1024 * 1024
const SOCKET_PATH_BYTES_MAX = 100
const NAME_CHARS = 12
const [COLUMNS, ROWS] = ['160', '48']

/**
 * Windows in which people can watch agents. They show the log: the sandbox passes no terminal through, and typed keys
 * have no effect.
 */
export class Tmux {
  /** In a separate tmux server: the user's sessions and settings are not touched. */
  readonly socket: string
  readonly #isElsewhere: boolean

  constructor(
    stateDir: string,
    private readonly path: string,
  ) {
    const own = join(stateDir, 'tmux.sock')
    const hash = sha256Hex(stateDir).slice(0, NAME_CHARS)
    this.socket =
      Buffer.byteLength(own) <= SOCKET_PATH_BYTES_MAX ? own : join(tmpdir(), `phaselock-tmux-${hash}`, 'sock')
    this.#isElsewhere = this.socket !== own
  }

  async isThere(): Promise<boolean> {
    try {
      await run('tmux', ['-V'], { env: this.#env(), timeout: RUN_MS_MAX })
      return true
    } catch {
      return false
    }
  }

  /** Opens a window on the log. It closes when this server ends. */
  async open(agentId: string, log: string): Promise<void> {
    await this.close(agentId)
    const viewer = ['tail', `--pid=${process.pid}`, '-n', '+1', '-F', log]
    const size = ['-x', COLUMNS, '-y', ROWS]
    await this.#run(['new-session', '-d', '-s', formatSession(agentId), '-n', agentId, ...size, ...viewer])
  }

  /** The current content of its window; null when there is none. */
  async captureScreen(agentId: string): Promise<string | null> {
    try {
      return (await this.#run(['capture-pane', '-p', '-t', `=${formatSession(agentId)}:`])).stdout
    } catch {
      return null
    }
  }

  async close(agentId: string): Promise<void> {
    try {
      await this.#run(['kill-session', '-t', `=${formatSession(agentId)}`])
    } catch {
      // There was none, which is the desired result.
    }
  }

  /** The address of its window for a terminal. */
  windowOf(agentId: string): { readonly socket: string; readonly session: string } {
    return { socket: this.socket, session: formatSession(agentId) }
  }

  async #run(words: readonly string[]): Promise<{ readonly stdout: string }> {
    // Somebody who could replace tmux there would decide what people see.
    if (this.#isElsewhere) makePrivateFolder(dirname(this.socket))
    return run('tmux', ['-S', this.socket, '-f', '/dev/null', ...words], {
      env: this.#env(),
      timeout: RUN_MS_MAX,
      maxBuffer: OUTPUT_BYTES_MAX,
    })
  }

  #env(): NodeJS.ProcessEnv {
    return { PATH: this.path, LANG: 'C.UTF-8', TERM: 'screen' }
  }
}

// Dots and colons have another meaning in session names.
function formatSession(agentId: string): string {
  return `agent-${sha256Hex(agentId).slice(0, NAME_CHARS)}`
}

/** Opens the window of an agent that should have one. */
export async function openWindow(app: App, tmux: Tmux, agentId: string): Promise<void> {
  if (app.ledger.registry.spawns.get(agentId)?.adapter !== 'tmux') return
  const log = new AgentLog(app.stateDir, agentId, (text) => text)
  await log.write([`--- agent ${agentId}`])
  await tmux.open(agentId, log.file)
}
