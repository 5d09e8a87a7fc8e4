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

/** Without network, package managers fail at once instead of retrying. With network, they retry as usual. */
const OFFLINE: Readonly<Record<string, string>> = {
  ...{ npm_config_offline: 'true', npm_config_fetch_retries: '0' },
  ...{ YARN_ENABLE_NETWORK: '0', PIP_NO_INDEX: '1', PIP_RETRIES: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  ...{ UV_OFFLINE: '1', POETRY_REQUESTS_MAX_RETRIES: '0', GOPROXY: 'off', CARGO_NET_OFFLINE: 'true' },
  ...{ COMPOSER_DISABLE_NETWORK: '1', BUNDLE_RETRY: '0' },
}
const OFFLINE_NAMES: ReadonlySet<string> = new Set([...Object.keys(OFFLINE), 'MAVEN_ARGS'])

/** Never inherited: lists everything that a command may know about its environment. */
export function cleanEnv(
  view: Pick<HostView, 'path' | 'variables'>,
  { network }: Pick<Job, 'network'>,
): Record<string, string> {
  const variables = Object.entries(view.variables).filter(([name]) => !network || !OFFLINE_NAMES.has(name))
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
    ...(network ? {} : OFFLINE),
    ...Object.fromEntries(variables),
  }
}

export const NOTHING_LEFT: LeftBehind = { changes: NO_CHANGES, files: new Map() }
