import { afterEach, describe, expect, it } from 'vitest'
import { type Files, put } from '../forgery/red-stage.js'
import { type Running, start } from './harness.js'

const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const OLD = `${HEAD}import { old } from '../src/old.mjs'
test('old works', () => assert.equal(old(), 1))
test('old is broken', () => assert.equal(old(), 2))
`
const ADD = `${HEAD}test('adds', async () => assert.equal((await import('../src/add.mjs')).add(2, 3), 5))\n`
const CODE = 'export const add = (a, b) => a + b\n'
const PROJECT: Files = { 'src/old.mjs': 'export const old = () => 1\n', 'tests/old.test.mjs': OLD }
const COVERAGE = 'node --test --experimental-test-coverage --test-reporter=lcov tests/'

const contractOf = (more: { tests?: string; coverage?: string; evidence?: string; checks?: string } = {}): string => `
name: covered
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: RED}]}]
  - id: IMPL
    allowed_tools: [write_files]
${more.evidence ?? ''}
    gates:
      - id: green
        type: validation
        blockers: [${more.checks ?? '{check: coverage_threshold_met, threshold: 60, message: COVERAGE}'}]
  - {id: DONE, allowed_tools: []}
commands:
  tests: {run: node --test tests/, format: node, timeout_seconds: 60}
  coverage: {run: ${JSON.stringify(more.coverage ?? COVERAGE)}, format: lcov, timeout_seconds: 60}
${more.tests === undefined ? '' : `tests: ${more.tests}`}
enforcement: {denial_budget: 1000}
`

describe('coverage of a tree in which a test failed before the task', () => {
  let run: Running
  let token = ''
  afterEach(() => run.stop())
  const write = async (path: string, content: string) => {
    const call = { task_id: 't', tool_name: 'write_files', args: { path, content } }
    expect((await run.call('POST', '/tools/execute', token, call)).status).toBe(200)
  }
  const told = async (target_phase: string): Promise<{ blockers: string; warnings: string }> => {
    const { body } = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
    if (typeof body.phase_token === 'string') token = body.phase_token
    const words = (list: unknown) => ((list ?? []) as { message: string }[]).map(({ message }) => message).join('\n')
    expect(body.allowed, JSON.stringify(body)).toBeDefined()
    return { blockers: words(body.blockers), warnings: words(body.warnings) }
  }
  const inImpl = async (contract: string) => {
    run = await start({ contract })
    put(run.workspace, PROJECT)
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
    await write('tests/add.test.mjs', ADD)
    expect((await told('IMPL')).blockers).toBe('')
  }

  it('[REQ-BASELINE-9] is not refused for it, but for a test that the task broke or left failing', async () => {
    await inImpl(contractOf())
    expect((await told('DONE')).blockers).toContain('ended with exit code 1')
    await write('src/add.mjs', CODE)
    await write('src/old.mjs', 'export const old = () => 3\n')
    expect((await told('DONE')).blockers).toContain('ended with exit code 1')
    await write('src/old.mjs', 'export const old = () => 1\n')
    expect(await told('DONE')).toMatchObject({ blockers: '', warnings: expect.stringContaining('old is broken') })
  })

  it('[REQ-BASELINE-9] is still too low where it is, and evidence has its value', async () => {
    const low = `${COVERAGE} > /dev/null; code=$?; printf "SF:a\\\\nDA:1,1\\\\nDA:2,0\\\\nend_of_record\\\\n"; exit $code`
    const evidence = '    checkpoint: {evidence: {coverage: {type: number, grade: observed, min: 10}}}'
    await inImpl(contractOf({ coverage: low, evidence }))
    await write('src/add.mjs', CODE)
    expect((await told('DONE')).blockers).toBe('COVERAGE: 50 % of the lines, 60 % asked for')
  })

  it('[REQ-BASELINE-9] is refused for it with `baseline: forbid`', async () => {
    await inImpl(contractOf({ tests: '{baseline: forbid}' }))
    await write('src/add.mjs', CODE)
    expect((await told('DONE')).blockers).toContain('ended with exit code 1')
  })
})
