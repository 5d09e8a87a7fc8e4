import { join } from 'node:path'
import { findLinkedGitDirectory } from '../../tools/commands/git-directory.js'
import { askGitConfig } from './ask-git-config.js'
import { readText } from './git-excludes.js'

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

async function listSettings(
  environment: NodeJS.ProcessEnv,
  from: readonly string[],
  input = '',
): Promise<readonly (readonly [string, string])[]> {
  const listed = await askGitConfig(environment, [...from, '--list', '-z'], input)
  return listed?.split('\0').flatMap(parseSetting) ?? []
}

// A name without a value means true.
function parseSetting(entry: string): readonly (readonly [string, string])[] {
  const at = entry.indexOf('\n')
  if (entry === '') return []
  return at < 0 ? [[entry, 'true']] : [[entry.slice(0, at), entry.slice(at + 1)]]
}
