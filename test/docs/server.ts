import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './blocks.js'

const READY_MS_MAX = 180_000
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
  const port = await freePort()
  const args = ['serve', '--port', String(port), '--workspace', workspace, '--state-dir', stateDir, ...more]
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
  try {
    await ready(port, child, () => existsSync(join(stateDir, 'server.json')) && said.includes('Ctrl-C stops.'))
  } catch (error) {
    await stop()
    throw new Error(`the server did not start: ${said}`, { cause: error })
  }
  const operatorToken = readFileSync(join(stateDir, 'operator.token'), 'utf8').trim()
  return { port, stateHome: join(home, 'state'), stateDir, workspace, operatorToken, said: () => said, stop }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      probe.close(() => resolve(port))
    })
  })
}

// It answers while it still tries its wall; what a reader sees comes after that.
async function ready(port: number, child: ChildProcess, hasSaidSo: () => boolean): Promise<void> {
  const until = Date.now() + READY_MS_MAX
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
    const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null)
    if (answer?.ok === true && hasSaidSo()) return
    if (Date.now() > until) throw new Error('it was not ready in time')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await gone
  clearTimeout(timer)
}
