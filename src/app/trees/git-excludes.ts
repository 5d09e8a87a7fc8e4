import { closeSync, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { findLinkedGitDirectory } from '../../tools/commands/git-directory.js'
import { openFile } from '../../tree/lookup.js'
import { readBytes } from '../../tree/read-bytes.js'
import { askGitConfig } from './ask-git-config.js'

const EXCLUDES_BYTES_MAX = 256 * 1024

/**
 * What git ignores in a work tree besides its `.gitignore` files: the operator's `core.excludesFile`, then
 * `.git/info/exclude`, where later lines win. Agents can write neither. A `core.excludesFile` in the repository's own
 * settings is not read, because it could name any file of this machine.
 */
export async function readExcludes(tree: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const file = await findOperatorsFile(environment)
  const operators = file === null ? '' : readOperatorsFile(file)
  const linked = findLinkedGitDirectory(tree)
  const own = await (linked === null ? readText(tree, '.git/info/exclude') : readText(linked, 'info/exclude'))
  return `${operators}\n${own}\n`
}

// git reads its settings with their includes, outside any repository.
async function findOperatorsFile(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { PATH, HOME, XDG_CONFIG_HOME } = environment
  if (PATH === undefined) return null
  const settings = XDG_CONFIG_HOME ?? (HOME === undefined ? undefined : join(HOME, '.config'))
  const usual = settings === undefined ? null : join(settings, 'git', 'ignore')
  const configured = await askGitConfig(environment, ['--type=path', '--get', 'core.excludesFile'])
  const file = configured?.replace(/\n$/, '') ?? usual
  return file !== null && isAbsolute(file) ? file : null
}

// The operator's own file, often a link.
function readOperatorsFile(file: string): string {
  try {
    const isSmall = statSync(file).isFile() && statSync(file).size <= EXCLUDES_BYTES_MAX
    return isSmall ? readFileSync(file, 'utf8') : ''
  } catch {
    // It does not exist, or the server may not read it.
    return ''
  }
}

export async function readText(folder: string, path: string): Promise<string> {
  const file = openFile(folder, path)
  if (!file.ok) return ''
  try {
    return (await readBytes(file.fd, EXCLUDES_BYTES_MAX)).toString('utf8')
  } finally {
    closeSync(file.fd)
  }
}
