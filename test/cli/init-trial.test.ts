import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { loadContractFile } from '../../src/contract/load/load-contract.js'
import { type Files, git, makeRepository } from '../e2e/projects.js'
import { built, Place } from './program.js'

beforeAll(built)
const place = new Place()
const CONTRACT = 'agent_workflow.yaml'

function repository(name: string, files: Files): string {
  const dir = join(place.home, name)
  makeRepository(dir, files)
  return dir
}

const TEST = "import { test } from 'node:test'\ntest('one', () => {})\ntest('two', { skip: true }, () => {})\n"

test('[REQ-INIT-1] init runs the tests in the sandbox, says what it read, and doctor does the same', async () => {
  const scripts = { test: 'node --test tests.js', pretest: 'npm run lint', lint: 'node --check index.js' }
  const cwd = repository('good', {
    'package.json': JSON.stringify({ type: 'module', scripts }),
    'index.js': 'export const one = 1\n',
    'tests.js': TEST,
  })
  const unasked = await place.run(['init', '--no-trial'], { cwd })
  expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining('add --yes') })
  expect(existsSync(join(cwd, CONTRACT))).toBe(false)
  const ended = await place.run(['init', '--yes'], { cwd })
  expect(ended.code, ended.stderr).toBe(0)
  expect(ended.stdout).toMatch(/ran \d+\.\d s; read 1 passed, 0 failed, 1 skipped as node; ids complete\n/)
  expect(ended.stdout, '[REQ-INIT-3]').toMatch(
    /`npm run lint` ran .*; exit code 0: it must succeed too before an agent leaves IMPL/,
  )
  const loaded = await loadContractFile(join(cwd, CONTRACT))
  if (!loaded.ok) throw new Error('the contract does not load')
  const { commands, phases, tests } = loaded.contract
  expect(commands.get('tests')?.run, '[REQ-INIT-3]').toBe('node --test tests.js')
  expect(commands.get('lint')?.run, '[REQ-INIT-3]').toBe('npm run lint')
  const green = phases.get('IMPL')?.gates.flatMap(({ blockers }) => blockers)
  expect(green).toContainEqual(expect.objectContaining({ check: 'command_succeeds', severity: 'blocking' }))
  expect(tests.patterns, '[REQ-INIT-4]').toContain('tests.js')
  expect(phases.get('TDD')?.constraints.get('write_files')?.allowedPatterns).toEqual(tests.patterns)
  expect(phases.get('IMPL')?.constraints.get('write_files')?.forbiddenPatterns).toContain('tests.js')
  const doctor = await place.run(['doctor', '--port', '0', '--json'], { cwd })
  const { findings } = JSON.parse(doctor.stdout) as { findings: { name: string; status: string; detail: string }[] }
  expect(findings.find(({ name }) => name === 'tests')).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/^`node --test tests\.js` ran .* read 1 passed, 0 failed, 1 skipped as node; ids/),
  })
  expect(git(cwd, 'status', '--porcelain')).toBe(`?? ${CONTRACT}\n`)
})

test('[REQ-INIT-1] init writes nothing for a command that cannot be read, and says why and what to do', async () => {
  const cwd = repository('bad', { 'package.json': '{"scripts":{"test":"a-runner-of-mine --all"}}' })
  const ended = await place.run(['init', '--yes'], { cwd })
  expect(ended.code).toBe(1)
  expect(ended.stdout).toMatch(/exit code 127; the results cannot be read: command not found: .*a-runner-of-mine/)
  expect(ended.stdout).toMatch(
    /a-runner-of-mine is not installed here\. Install it .* or name another command with --tests/,
  )
  expect(ended.stdout).toMatch(/Its last lines:\n.*a-runner-of-mine/s)
  expect(ended.stderr).toContain('nothing was written')
  expect(existsSync(join(cwd, CONTRACT))).toBe(false)
  const json = await place.run(['init', '--yes', '--json'], { cwd })
  expect(JSON.parse(json.stderr)).toMatchObject({ exit: 1, trial: { status: 'error', exit_code: 127, counts: null } })
  expect((await place.run(['init', '--yes', '--no-trial'], { cwd })).code).toBe(0)
  expect(readFileSync(join(cwd, CONTRACT), 'utf8')).toContain('run: npm test')
})
