import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../cli/program.js'
import { installOnce } from '../install-once.js'
import type { Installed } from '../mcp/packages.js'

const CACHE = join(ROOT, 'node_modules/.cache/phaselock-test')
const INSTALL_MS_MAX = 600_000

/** Where servers find the Python of this machine, whose home is another one. */
export const PYTHON_HOMES: Readonly<Record<string, string>> = existsSync(join(homedir(), '.pyenv'))
  ? { PYENV_ROOT: process.env.PYENV_ROOT ?? join(homedir(), '.pyenv') }
  : {}

/** Packages of Python, in a folder that all tests share. */
export function installPython(packages: readonly string[]): Installed {
  const dir = join(CACHE, `python-${packages.join('+').replace(/[^\w.+-]/g, '_')}`)
  const reason = installOnce(dir, (making) => {
    const failed = run('python3', ['-m', 'pip', 'install', '--quiet', '--target', making, ...packages], making)
    return failed === null ? null : `pip cannot install ${packages.join(', ')}: ${failed}`
  })
  return reason === null ? { ok: true, dir } : { ok: false, reason }
}

/** `python3 -m venv .venv && .venv/bin/pip install …`, with packages that were downloaded before. */
export function makeEnvironment(tree: string, packages: readonly string[]): string | null {
  const found = installPython(packages)
  if (!found.ok) return found.reason
  const failed = run('python3', ['-m', 'venv', '--without-pip', '.venv'], tree)
  if (failed !== null) return `python3 cannot make an environment: ${failed}`
  const [version = ''] = readdirSync(join(tree, '.venv/lib'))
  cpSync(found.dir, join(tree, '.venv/lib', version, 'site-packages'), { recursive: true })
  return null
}

/** Runs a program; null when it succeeded, or its last line. */
export function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): string | null {
  const done = spawnSync(program, args, {
    ...{ cwd, encoding: 'utf8', timeout: INSTALL_MS_MAX },
    env: { ...process.env, ...env },
  })
  return done.status === 0 ? null : (`${done.stderr ?? done.error}`.trim().split('\n').at(-1) ?? 'no reason given')
}
