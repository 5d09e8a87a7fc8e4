import { type ExecFileException, execFile } from 'node:child_process'
import { type LocalSettings, readLocalSettings } from './local-settings.js'

const GIT_MS_MAX = 300_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const SAID_CHARS_MAX = 2000

/** The author of our commits, and the mark of our git processes. */
export const COMMITTER = { name: 'Phaselock', email: 'phaselock@localhost' } as const

interface GitRun {
  readonly code: number
  readonly stdout: string
  /** Its error output, shortened. */
  readonly said: string
}

// No hooks, no monitors, no garbage collection, and no git in a submodule, where these settings would not apply.
const QUIET = [
  ...[
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'gc.auto=0',
    'maintenance.auto=false',
    'core.quotePath=false',
  ],
  ...['commit.gpgSign=false', 'fetch.fsckObjects=true', 'submodule.recurse=false'],
  ...['core.fsync=objects,reference', 'protocol.version=2'],
].flatMap((setting) => ['-c', setting])
/** Fetches commits from another repository on this machine without running programs that settings name. */
export const FETCH: readonly string[] = [
  ...['fetch', '--quiet', '--no-tags', '--update-shallow', '--no-write-fetch-head', '--no-recurse-submodules'],
  '--upload-pack=git-upload-pack',
]
/** For `git status`, which would otherwise run another git in each submodule. */
export const IGNORE_SUBMODULES = '--ignore-submodules=dirty'
const LIST_SETTINGS = ['config', '--list', '--show-scope', '-z']

export interface GitPlace {
  /** The folder that git runs in. */
  readonly at: string
  /**
   * Whose settings apply besides the repository's: the operator's in their own repository, nobody's in agents' trees.
   */
  readonly settings: 'operator' | 'none'
  /** An index other than the repository's own. */
  readonly index?: string
  /** git writes to the work tree: it stops at a file that needs a disabled filter. */
  readonly writesFiles?: true
  readonly input?: string
  /** The encoding of the output. */
  readonly encoding?: 'latin1'
}

/**
 * Runs git for an operator, outside any task. It may run programs that the operator's own settings name, never those
 * that the repository's settings name. Failure is a value; a missing git is a fault. (REQ-TREES-12)
 */
export async function runGit(place: GitPlace, args: readonly string[]): Promise<GitRun> {
  const settings = await listLocalSettings(place)
  if (settings.problem !== null) return { code: 128, stdout: '', said: settings.problem }
  const required = [...settings.filters].map((name) => [`filter.${name}.required`, String(place.writesFiles === true)])
  const overrides = [...settings.overrides, ...required].flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  const env = { GIT_CONFIG_COUNT: String(overrides.length / 2), ...Object.fromEntries(overrides) }
  return startGit(place, [...QUIET, ...args], env)
}

/** Programs that the repository's settings name, and their replacements. */
export async function listLocalSettings(place: GitPlace): Promise<LocalSettings> {
  const listed = await startGit({ at: place.at, settings: place.settings }, LIST_SETTINGS, {})
  const settings = readLocalSettings(listed.stdout)
  return listed.code === 0 ? settings : { ...settings, problem: listed.said }
}

function startGit(place: GitPlace, args: readonly string[], more: Record<string, string>): Promise<GitRun> {
  const { PATH, HOME } = process.env
  const env = {
    PATH,
    HOME,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_ALLOW_PROTOCOL: 'file',
    GIT_NO_LAZY_FETCH: '1',
    GIT_AUTHOR_NAME: COMMITTER.name,
    GIT_AUTHOR_EMAIL: COMMITTER.email,
    GIT_COMMITTER_NAME: COMMITTER.name,
    GIT_COMMITTER_EMAIL: COMMITTER.email,
    ...(place.settings === 'none' ? { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' } : {}),
    // With another index, git must use this folder, whatever work tree the settings name.
    ...(place.index === undefined ? {} : { GIT_INDEX_FILE: place.index, GIT_WORK_TREE: place.at }),
    ...more,
  }
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...args],
      { cwd: place.at, env, encoding: place.encoding ?? 'utf8', timeout: GIT_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code
        const ended = error === null || typeof code === 'number' ? null : findEndReason(error)
        if (ended === null && typeof code === 'string') reject(error)
        else
          resolve({
            code: typeof code === 'number' ? code : 1,
            stdout,
            said: ended ?? `${stderr}`.trim().slice(0, SAID_CHARS_MAX),
          })
      },
    )
    // If git does not read its input it has already ended, and reports that itself.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(place.input ?? '')
  })
}

// A repository can make git wait or write without end: that is not a fault.
function findEndReason(error: ExecFileException): string | null {
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `it wrote more than ${OUTPUT_BYTES_MAX} bytes`
  return error.signal ? `it was ended (${error.signal}), at the latest after ${GIT_MS_MAX / 1000} s` : null
}

/** git's one-line answer; null when it fails. */
export async function askGit(place: GitPlace, args: readonly string[]): Promise<string | null> {
  const run = await runGit(place, args)
  return run.code === 0 ? run.stdout.trim() : null
}
