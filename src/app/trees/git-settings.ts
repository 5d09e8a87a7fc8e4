import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { findLinkedGitDirectory } from '../../tools/commands/git-directory.js'
import { readText } from './git-excludes.js'

const GIT_MS_MAX = 10_000
// git uses these variables to find the operator's settings.
const VARIABLES = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']

/** git settings by lower-case name; the last value of each. */
export type GitSettings = ReadonlyMap<string, string>

/**
 * The settings for commits in a repository: its own settings override the operator's. git is not run inside the
 * repository.
 */
export async function readGitSettings(repository: string, environment: NodeJS.ProcessEnv): Promise<GitSettings> {
  const [operators, own] = await Promise.all([
    environment.PATH === undefined ? [] : listSettings(environment, []),
    readConfig(repository).then((text) =>
      // Includes are not followed: they could name any file of this machine.
      listSettings(environment, ['--file', '-'], text),
    ),
  ])
  const settings = new Map([...operators, ...own])
  const hooks = settings.get('core.hookspath')
  if (hooks?.startsWith('~/') === true) settings.set('core.hookspath', join(environment.HOME ?? '/', hooks.slice(2)))
  return settings
}

function readConfig(repository: string): Promise<string> {
  const linked = findLinkedGitDirectory(repository)
  return linked === null ? readText(repository, '.git/config') : readText(linked, 'config')
}

/** Whether git reads the value as true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && !/^(false|no|off|0)?$/i.test(value)
}

function listSettings(
  environment: NodeJS.ProcessEnv,
  from: readonly string[],
  input = '',
): Promise<readonly (readonly [string, string])[]> {
  const given = VARIABLES.map((name) => [name, environment[name]]).filter(([, value]) => value !== undefined)
  const env = {
    ...Object.fromEntries(given),
    PATH: environment.PATH ?? process.env.PATH,
    LC_ALL: 'C',
    GIT_DIR: '/dev/null',
  }
  const words = ['config', ...from, '--list', '-z']
  return new Promise((resolve) => {
    const child = execFile('git', words, { cwd: '/', env, encoding: 'utf8', timeout: GIT_MS_MAX }, (error, stdout) =>
      resolve(error === null ? stdout.split('\0').flatMap(parseSetting) : []),
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

// A name without a value means true.
function parseSetting(entry: string): readonly (readonly [string, string])[] {
  const at = entry.indexOf('\n')
  if (entry === '') return []
  return at < 0 ? [[entry, 'true']] : [[entry.slice(0, at), entry.slice(at + 1)]]
}
