import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { keepSettable } from '../../core/contract/variables.js'
import { cleanEnv, NOTHING_LEFT, watchChild } from '../confined.js'
import type { ConfinedCommand, Job } from '../confinement.js'
import type { HostView } from '../view/host-view.js'
import { watchView } from '../view/watch-view.js'

const LINGER_MS = 500

/**
 * Runs the command without a sandbox, only because the contract says so. All its effects are real. It runs in the tree
 * itself: its view cannot be composed, but writes to pinned files are still detected.
 */
export async function startOpenly(job: Job, view: Pick<HostView, 'path' | 'variables'>): Promise<ConfinedCommand> {
  if ((job.sockets ?? []).length > 0) throw new Error('only commands in a sandbox get sockets')
  const { composition } = job
  const watched = composition === undefined ? null : await watchView({ view: job.tree, touched: null }, composition)
  const [program = '', ...args] = job.argv
  const child = spawn(program, args, {
    cwd: join(job.tree, job.cwd),
    env: { ...cleanEnv(view, { network: true }), ...keepSettable(job.env) },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  child.stdin.on('error', () => undefined)
  const group = {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    once: child.once.bind(child),
    kill: (signal: NodeJS.Signals): boolean => {
      try {
        return child.pid === undefined ? false : process.kill(-child.pid, signal)
      } catch {
        return child.kill(signal)
      }
    },
  }
  // Nothing else ends the processes it left running, and a child that keeps the output open would keep the call open.
  child.once('exit', () => {
    group.kill('SIGKILL')
    // A process that left the group keeps the pipes open; nobody reads them any more.
    setTimeout(() => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    }, LINGER_MS).unref()
  })
  return watchChild(group, job, async () => ({ ...NOTHING_LEFT, written: (await watched?.()) ?? [] }))
}
