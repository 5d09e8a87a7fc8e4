import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { untilServed } from '../until-served.js'
import { ROOT } from './blocks.js'

const POLL_MS = 20
const STOP_MS_MAX = 5_000

/** A server process of its own with empty state, as a reader of the documents would have it. */
export interface DocsServer {
  readonly port: number
  readonly stateHome: string
  readonly stateDir: string
  readonly workspace: string
  readonly operatorToken: string
  /** What it has printed so far. */
  said(): string
  stop(): Promise<void>
}

export async function startServer(more: readonly string[] = []): Promise<DocsServer> {
  const home = mkdtempSync(join(tmpdir(), 'phaselock-docs-'))
  const stateDir = join(home, 'state', 'phaselock', 'docs')
  const workspace = join(home, 'work')
  mkdirSync(workspace)
  const args = ['serve', '--port', '0', '--workspace', workspace, '--state-dir', stateDir, ...more]
  const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const child = spawn(join(ROOT, 'bin/phaselock'), args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  const stop = async (): Promise<void> => {
    await ended(child)
    rmSync(home, { recursive: true, force: true })
  }
  let port: number
  try {
    port = Number(new URL(await untilServed(child, stateDir, () => said)).port)
    // It answers while it still tries its sandbox; what a reader sees comes after that.
    while (!said.includes('Ctrl-C stops.') && child.exitCode === null) await wait(POLL_MS)
  } catch (error) {
    await stop()
    throw error
  }
  const operatorToken = readFileSync(join(stateDir, 'operator.token'), 'utf8').trim()
  return { port, stateHome: join(home, 'state'), stateDir, workspace, operatorToken, said: () => said, stop }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await gone
  clearTimeout(timer)
}
