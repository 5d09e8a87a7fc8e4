import { type ExecFileException, execFile } from 'node:child_process'

const GIT_MS_MAX = 300_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const SAID_CHARS_MAX = 2000

/** Whose name commits of ours carry, and by which a git of ours is known. */
export const COMMITTER = { name: 'Phaselock', email: 'phaselock@localhost' } as const

export interface GitRun {
  readonly code: number
  readonly stdout: string
  /** What it said on its way, shortened. */
  readonly said: string
}

// Nothing of a repository is run: no hooks, no monitors, nothing that collects garbage meanwhile.
const QUIET = [
  ...[
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'core.fsmonitor=false',
    '-c',
    'gc.auto=0',
    '-c',
    'maintenance.auto=false',
  ],
  ...['-c', 'core.quotePath=false', '-c', 'commit.gpgSign=false', '-c', 'protocol.allow=never'],
  ...['-c', 'protocol.file.allow=always', '-c', 'fetch.fsckObjects=true', '-c', 'fetch.recurseSubmodules=false'],
  ...['-c', 'core.fsync=objects,reference'],
]

export interface GitPlace {
  /** The folder that git runs in. */
  readonly at: string
  /** Whose settings count besides the repository's: the operator's in a repository of theirs, nobody's in what agents work on. */
  readonly settings: 'operator' | 'none'
  /** Another index than the repository's own. */
  readonly index?: string
  readonly input?: string
  /** How the bytes of the output become characters. */
  readonly encoding?: 'latin1'
}

/** Runs git for an operator, outside of any task. What fails is a value; that git is not there is a fault. */
export function runGit(place: GitPlace, args: readonly string[]): Promise<GitRun> {
  const { PATH, HOME } = process.env
  const env = {
    PATH,
    HOME,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_AUTHOR_NAME: COMMITTER.name,
    GIT_AUTHOR_EMAIL: COMMITTER.email,
    GIT_COMMITTER_NAME: COMMITTER.name,
    GIT_COMMITTER_EMAIL: COMMITTER.email,
    ...(place.settings === 'none' ? { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' } : {}),
    ...(place.index === undefined ? {} : { GIT_INDEX_FILE: place.index }),
  }
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...QUIET, ...args],
      { cwd: place.at, env, encoding: place.encoding ?? 'utf8', timeout: GIT_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code
        const ended = error === null || typeof code === 'number' ? null : whyEnded(error)
        if (ended === null && typeof code === 'string') reject(error)
        else
          resolve({
            code: typeof code === 'number' ? code : 1,
            stdout,
            said: ended ?? `${stderr}`.trim().slice(0, SAID_CHARS_MAX),
          })
      },
    )
    // A git that does not read has ended by then, and says so itself.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(place.input ?? '')
  })
}

// A repository can make git wait or write without end: that is no fault.
function whyEnded(error: ExecFileException): string | null {
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `it wrote more than ${OUTPUT_BYTES_MAX} bytes`
  return error.signal ? `it was ended (${error.signal}), at the latest after ${GIT_MS_MAX / 1000} s` : null
}

/** The one line that git answers; null when it fails. */
export async function askGit(place: GitPlace, args: readonly string[]): Promise<string | null> {
  const run = await runGit(place, args)
  return run.code === 0 ? run.stdout.trim() : null
}
