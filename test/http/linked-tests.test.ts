import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { put } from './committing.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: red
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files, bash]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: Red}]}]
  - id: IMPL
    allowed_tools: [write_files, bash]
    gates: [{id: green, type: validation, blockers: [{check: all_tests_pass, message: Green}]}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: node --test --test-reporter=spec tests/add.test.mjs, format: node, timeout_seconds: 60}}
enforcement: {denial_budget: 1000}
`
const TEST = `import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.equal(add(2, 3), Number(readFileSync('tests/data/sum.txt', 'utf8'))))
`
const FILES = {
  'package.json': '{"name": "adder"}',
  'common/data/sum.txt': '5\n',
  'src/add.mjs': 'export const add = () => 0\n',
}

describe('a link to a folder below tests/', () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-linked-')))
  let run: Running
  let count = 0
  beforeAll(async () => {
    run = await start({ dir, contract: CONTRACT })
  })
  afterAll(() => run.stop())

  /** An agent in TDD that has written the test and made the link. */
  const begin = async (target: string) => {
    count += 1
    const id = `t${count}`
    const workspace = join(dir, `tree-${count}`)
    put(workspace, FILES)
    await run.addTask({ id, workspace })
    let token = await run.claim(`a${count}`, await run.addAgent(`a${count}`), id)
    const use = (tool_name: string, args: object) =>
      run.call('POST', '/tools/execute', token, { task_id: id, tool_name, args })
    const go = async (target_phase: string): Promise<string> => {
      const { body } = await run.call('POST', '/tasks/transition', token, { task_id: id, target_phase })
      if (typeof body.phase_token === 'string') token = body.phase_token
      return body.allowed === true ? '' : (body.blockers as { message: string }[]).map((one) => one.message).join(' / ')
    }
    await use('write_files', { path: 'tests/add.test.mjs', content: TEST })
    await use('bash', { command: `ln -s ${target} tests/data` })
    return { use, go }
  }

  it('[REQ-PIN-4] RED records it with what is in the folder, and the honest task gets to GREEN', async () => {
    const { use, go } = await begin('../common/data')
    expect(await go('IMPL')).toBe('')
    await use('write_files', { path: 'src/add.mjs', content: 'export const add = (a, b) => a + b\n' })
    expect(await go('DONE')).toBe('')
  })

  it.each([
    ['a changed file', 'echo 0 > common/data/sum.txt'],
    ['another target', 'mkdir other; echo 0 > other/sum.txt; ln -sfn ../other tests/data'],
    ['a folder in its place', 'rm tests/data; mkdir tests/data; echo 0 > tests/data/sum.txt'],
  ])('[REQ-PIN-4] %s closes GREEN', async (_, command) => {
    const { use, go } = await begin('../common/data')
    expect(await go('IMPL')).toBe('')
    await use('bash', { command })
    const told = await go('DONE')
    expect(told).toMatch(/tests\/data|common\/data/)
    expect(told).not.toBe('')
  })

  it('[REQ-PIN-4] a link to a folder that holds it, or outside of the work tree, is refused', async () => {
    const around = await begin('..')
    expect(await around.go('IMPL')).toContain('tests/data')
    const outside = await begin('../common/data')
    rmSync(join(dir, `tree-${count}/tests/data`))
    symlinkSync('/etc', join(dir, `tree-${count}/tests/data`))
    expect(await outside.go('IMPL')).toContain('tests/data is a link that leaves the work tree')
  })
})
