import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: observed
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files, bash, run_tests]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
    required_artifacts: [{type: test_run_result, schema: schemas/test_result.json, description: the red run}]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: The tests must fail}]}]
  - id: IMPL
    allowed_tools: [write_files, run_tests]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
    required_artifacts: [{type: test_run_result, schema: schemas/test_result.json, description: the green run}]
    gates:
      - id: green
        type: validation
        blockers:
          - {check: all_tests_pass, message: All tests must pass}
          - {check: no_skipped_tests, message: None may be skipped}
  - id: DONE
    allowed_tools: []
commands:
  tests: {run: "node --test tests/", format: node, timeout_seconds: 60}
enforcement: {reconcile: off}
`
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.equal(add(2, 3), 5))
test('adds nothing', () => assert.equal(add(2, 0), 2))
`
const CODE = 'export const add = (a, b) => a + b\n'

describe('expressions over the result of a run', () => {
  it('[REQ-CONTRACT-28] a rule about test_run_result waits for the run that makes it, and then judges it', async () => {
    const rules = 'description: the red run, validation: [{rule: tests_were_run}]'
    const run = await start({ contract: CONTRACT.replace('description: the red run', rules) })
    await run.addTask({ id: 't' })
    const token = await run.claim('a', await run.addAgent('a'), 't')
    const move = () => run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'IMPL' })
    mkdirSync(join(run.workspace, 'tests'))
    writeFileSync(join(run.workspace, 'tests/add.test.mjs'), 'test(')
    expect((await move()).body).toMatchObject({ allowed: false, blockers: [{ check: 'tests_are_failing' }] })
    writeFileSync(join(run.workspace, 'tests/add.test.mjs'), TEST)
    expect((await move()).body).toMatchObject({ allowed: true, phase: 'IMPL' })
    await run.stop()
  })
})

describe('tests that Phaselock runs itself', () => {
  let run: Running
  let token = ''
  const put = (path: string, content: string) => {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content)
  }
  const move = async (target_phase: string, artifacts: object = {}): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, artifacts })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const messages = (answer: Answer): string[] =>
    ((answer.body.blockers ?? []) as { message: string }[]).map((one) => one.message)

  beforeEach(async () => {
    run = await start({ contract: CONTRACT })
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterEach(() => run.stop())

  const red = async () => {
    put('tests/add.test.mjs', TEST)
    put('src/add.mjs', 'export const add = () => 0\n')
    expect((await move('IMPL')).body).toMatchObject({ allowed: true, phase: 'IMPL' })
  }

  it('[REQ-OBSERVED-1] an invented red run opens nothing: the tests are run', async () => {
    put('tests/add.test.mjs', TEST)
    put('src/add.mjs', CODE)
    const lie = { test_run_result: { command: 'x', exit_code: 1, passed: 0, failed: 3, skipped: 0 } }
    const answer = await move('IMPL', lie)
    expect(answer.body).toMatchObject({ allowed: false, phase: 'TDD' })
    expect(messages(answer)).toEqual(['The tests must fail: the run ended with exit code 0 (2 passed, 0 failed)'])
  })

  it('[REQ-OBSERVED-2] no test, a test that does not parse and a test that crashes the runner are no red run', async () => {
    put('tests/readme.txt', 'nothing here')
    expect((await move('IMPL')).body.allowed).toBe(false)
    put('tests/bad.test.mjs', 'test(')
    expect(messages(await move('IMPL')).join()).toMatch(/syntax error/)
    rmSync(join(run.workspace, 'tests/bad.test.mjs'))
    put('tests/exit.test.mjs', 'process.exit(0)\n')
    expect((await move('IMPL')).body.allowed).toBe(false)
  })

  it('[REQ-OBSERVED-3] tests of a module that is not there yet are a red run, and must run at green', async () => {
    put('tests/add.test.mjs', TEST)
    expect((await move('IMPL')).body).toMatchObject({
      allowed: true,
      artifacts: [{ type: 'test_run_result', grade: 'observed' }],
    })
    expect(messages(await move('DONE')).join()).toMatch(/All tests must pass/)
    put('src/add.mjs', 'process.exit(0)\n')
    expect((await move('DONE')).body).toMatchObject({ allowed: false })
    put('src/add.mjs', CODE)
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-OBSERVED-4] an invented green run opens nothing, and red tests that no longer run are missed', async () => {
    await red()
    const lie = { test_run_result: { command: 'x', exit_code: 0, passed: 9, failed: 0, skipped: 0 } }
    expect(messages(await move('DONE', lie))).toContainEqual(expect.stringMatching(/^All tests must pass: 2 failed/))
    put('src/add.mjs', CODE)
    put('tests/add.test.mjs', TEST.replace("test('adds nothing'", "test.skip('adds nothing'"))
    expect(messages(await move('DONE')).join()).toMatch(/recorded at RED|changed|skipped/)
    put('tests/add.test.mjs', TEST)
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it("[REQ-OBSERVED-6] run_tests runs the contract's own command, shows what failed, and keeps nothing", async () => {
    const execute = (tool_name: string, args: object) =>
      run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    put('tests/add.test.mjs', TEST)
    put('src/add.mjs', 'export const add = () => 5\n')
    expect(await execute('run_tests', {})).toMatchObject({
      status: 200,
      body: {
        result: {
          exit_code: 1,
          passed: 1,
          failed: 1,
          skipped: 0,
          failures: [{ id: expect.stringContaining('adds nothing') }],
        },
      },
    })
    expect(await execute('run_tests', { filter: 1 })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await execute('run_tests', { filter: "x'; touch stolen; '" })).toMatchObject({ status: 200 })
    expect(() => rmSync(join(run.workspace, 'stolen'))).toThrow(/ENOENT/)
  })

  it('[REQ-OBSERVED-5] the run is in the ledger; an unchanged tree is not tested twice; the run changes nothing', async () => {
    put('tests/add.test.mjs', `${TEST}import { writeFileSync } from 'node:fs'\nwriteFileSync('made-by-test', 'x')\n`)
    put('src/add.mjs', CODE)
    await move('IMPL')
    await move('IMPL')
    const events = (await run.call('GET', '/tasks/t/timeline', run.operator)).body.events as {
      type: string
      data: { observed?: object[] }
    }[]
    const observed = events
      .filter((event) => event.type === 'transition_requested')
      .map((event) => event.data.observed?.[0])
    expect(observed).toMatchObject([
      {
        name: 'tests',
        command: 'node --test tests/',
        exit_code: 0,
        passed: 2,
        failed: 0,
        skipped: 0,
        cached: false,
      },
      { cached: true },
    ])
    expect(() => rmSync(join(run.workspace, 'made-by-test'))).toThrow(/ENOENT/)
  })
})
