import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../cli/program.js'

const CACHE = join(ROOT, 'node_modules/.cache/phaselock-test')
const INSTALL_MS_MAX = 180_000

/** Where servers find the Python of this machine, whose home is another one. */
export const PYTHON_HOMES: Readonly<Record<string, string>> = existsSync(join(homedir(), '.pyenv'))
  ? { PYENV_ROOT: process.env.PYENV_ROOT ?? join(homedir(), '.pyenv') }
  : {}

/** Packages of Python in a folder of the cache; a string is the reason why they cannot be had. */
export function installPython(name: string, packages: readonly string[]): { readonly dir: string } | string {
  const dir = join(CACHE, `python-${name}`)
  if (existsSync(dir)) return { dir }
  const making = `${dir}.${process.pid}`
  mkdirSync(making, { recursive: true })
  const done = run('python3', ['-m', 'pip', 'install', '--quiet', '--target', making, ...packages], CACHE)
  if (done !== null) {
    rmSync(making, { recursive: true, force: true })
    return `pip cannot install ${packages.join(', ')}: ${done}`
  }
  if (existsSync(dir)) rmSync(making, { recursive: true, force: true })
  else renameSync(making, dir)
  return { dir }
}

/** `python3 -m venv .venv && .venv/bin/pip install …`, with packages that were downloaded before. */
export function makeEnvironment(tree: string, name: string, packages: readonly string[]): string | null {
  const found = installPython(name, packages)
  if (typeof found === 'string') return found
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
