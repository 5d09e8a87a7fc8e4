import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './built.js'

const MYPY = 'mypy==2.4.1'
const CACHE = join(ROOT, 'node_modules/.cache/phaselock-test')
export const MYPY_CACHE = join(CACHE, 'mypy-cache')

type Installed = string | { readonly reason: string }
let installed: Installed | null = null

/** A type checker, kept in the cache of the installation. What cannot be had is a reason to skip. */
export function installMypy(): Installed {
  installed ??= findOrInstall()
  return installed
}

function findOrInstall(): Installed {
  const run = (program: string, ...args: readonly string[]) => spawnSync(program, args, { encoding: 'utf8' })
  const { stdout } = run('python3', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])')
  const venv = join(CACHE, `${MYPY.replace('==', '-')}-python-${stdout.trim()}`)
  const program = join(venv, 'bin/mypy')
  if (existsSync(program)) return program
  mkdirSync(CACHE, { recursive: true })
  run('python3', '-m', 'venv', venv)
  const done = run(join(venv, 'bin/pip'), 'install', '--no-input', '-q', MYPY)
  if (done.status === 0 && existsSync(program) && readdirSync(venv).length > 0) return program
  rmSync(venv, { recursive: true, force: true })
  return { reason: `pip cannot install mypy: ${done.stderr.trim().split('\n').at(-1)}` }
}
