import type { Readable, Writable } from 'node:stream'
import type { ChangeSet, CommandEnd, ConfinedCommand, Job } from './confinement.js'
import type { HostView } from './view/host-view.js'

/** What a command left behind. */
type LeftBehind = Pick<CommandEnd, 'changes' | 'files' | 'isFilesCut' | 'written'>

/** The used part of a child process. */
export interface Child {
  readonly pid?: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  kill(signal: NodeJS.Signals): boolean
  once(event: string, listener: (...args: never[]) => void): unknown
}

/** Watches a child until it ends: time limit, abort, and its remains. */
export function watchChild(
  child: Child,
  job: Job,
  settle: (stopped: CommandEnd['stopped']) => Promise<LeftBehind>,
): ConfinedCommand {
  let stopped: CommandEnd['stopped'] = null
  const stop = (why: NonNullable<CommandEnd['stopped']>): void => {
    stopped ??= why
    child.kill('SIGKILL')
  }
  const onAbort = (): void => stop('aborted')
  const timer = setTimeout(() => stop('timeout'), job.timeoutMs)
  job.signal.addEventListener('abort', onAbort, { once: true })
  if (job.signal.aborted) onAbort()
  const done = new Promise<CommandEnd>((resolve, reject) => {
    child.once('error', (error: Error) => reject(error))
    child.once('close', (code: number | null, signal: string | null) => {
      clearTimeout(timer)
      job.signal.removeEventListener('abort', onAbort)
      settle(stopped).then(
        (left) => resolve({ exitCode: code ?? (signal === null ? 1 : SIGNALLED), stopped, ...left }),
        reject,
      )
    })
  })
  // A caller that waits gets the fault; without one it must not end the server.
  done.catch(() => undefined)
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, done, kill: () => stop('output') }
}

const SIGNALLED = 137

export const NO_CHANGES: ChangeSet = {
  list: [],
  view: null,
  commit: async () => null,
  discard: async () => undefined,
}

/** Never inherited: lists everything that a command may know about its environment. */
export function cleanEnv(view: Pick<HostView, 'path' | 'variables'>): Record<string, string> {
  return {
    PATH: view.path,
    HOME: '/tmp',
    TMPDIR: '/tmp',
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...(process.env.TZ === undefined ? {} : { TZ: process.env.TZ }),
    ...view.variables,
  }
}

export const NOTHING_LEFT: LeftBehind = { changes: NO_CHANGES, files: new Map() }
