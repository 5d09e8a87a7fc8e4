import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { buildGuardedArgv } from '../../src/checks/observed-runs/test-guards.js'

function run(line: string): { readonly status: number | null; readonly stdout: string } {
  const [program = '', ...args] = buildGuardedArgv(line)
  return spawnSync(program, args, { encoding: 'utf8' })
}

it('[REQ-MATRIX-2] a runner after a build starts after the build, not with the shell', () => {
  const [shell, last] = run(`echo $$ && sh -c 'echo $$'`).stdout.trim().split('\n')
  expect(last).toMatch(/^\d+$/)
  expect(last).not.toBe(shell)
})

it('[REQ-MATRIX-2] the line is run as it is written, and its exit code is that of the run', () => {
  expect(run('printf %s "$#:$*"; exit 7')).toMatchObject({ status: 7, stdout: '0:' })
  expect(run("printf '%s' 'a  b' # said").stdout).toBe('a  b')
  expect(run('false || (exit 3)').status).toBe(3)
})
