import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../base/package-root.js'
import { EXIT, Stop } from '../exit.js'

const ENTRIES_MAX = 2000
const GIT_MS_MAX = 30_000
// Only the parts of .git that a commit changes: the rest changes when git reads.
const GIT_KEPT = /^\.git\/(?:HEAD$|packed-refs$|refs(?:\/|$))/

// Without a sandbox git would use the settings of the current user.
const GIT_SETTINGS = { 'user.name': 'Demo', 'user.email': 'demo@localhost', 'commit.gpgsign': 'false' } as const
const SAMPLE = packagePath('demo/sample')

/** A small project with a test that passes, as the first commit of a repository. */
export function makeSample(dir: string): void {
  cpSync(SAMPLE, dir, { recursive: true })
  // No hooks of the current user in the sample.
  runGit(dir, ['-c', 'init.defaultBranch=main', 'init', '--quiet', '--template='])
  for (const [name, value] of Object.entries(GIT_SETTINGS)) runGit(dir, ['config', name, value])
  runGit(dir, ['add', '.'])
  runGit(dir, ['commit', '--quiet', '-m', 'Greet by name'])
}

/** The subject of the newest commit. */
export function readNewestCommit(dir: string): string {
  return runGit(dir, ['log', '-1', '--format=%s']).trim()
}

function runGit(dir: string, args: readonly string[]): string {
  const { PATH = '' } = process.env
  const env = { PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
  try {
    return execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8', env, timeout: GIT_MS_MAX, stdio: 'pipe' })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') throw new Stop(EXIT.refused, 'The demo makes git repositories, and there is no git here.')
    throw error
  }
}

/** Lists everything in the work tree and in the commits: equal texts mean equal content. */
export function hashWorkTree(dir: string): string {
  const hash = createHash('sha256')
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('.git/') || GIT_KEPT.test(name))
    .sort()
  if (names.length > ENTRIES_MAX) throw new Error(`the sample has grown to ${names.length} entries`)
  for (const name of names) {
    const path = join(dir, name)
    const entry = lstatSync(path)
    hash.update(`${name}\0${entry.mode}\0`)
    if (entry.isSymbolicLink()) hash.update(readlinkSync(path))
    else if (entry.isFile()) hash.update(createHash('sha256').update(readFileSync(path)).digest())
  }
  return hash.digest('hex')
}
