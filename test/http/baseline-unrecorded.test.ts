import { afterEach, describe, expect, it } from 'vitest'
import { type Files, put } from '../forgery/red-stage.js'
import { type Running, start } from './harness.js'

const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const OLD = `${HEAD}import { old } from '../src/old.mjs'
test('old works', () => assert.equal(old(), 1))
test('old is broken', () => assert.equal(old(), 2))
test.skip('old is skipped', () => assert.equal(old(), 1))
`
const ADD = `${HEAD}test('adds', async () => assert.equal((await import('../src/add.mjs')).add(2, 3), 5))\n`
const PROJECT: Files = { 'src/old.mjs': 'export const old = () => 1\n', 'tests/old.test.mjs': OLD }

const contractOf = (enforcement: string): string => `
name: unrecorded
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: RED}]}]
  - id: IMPL
    allowed_tools: [write_files]
    gates:
      - id: green
        type: validation
        blockers: [{check: all_tests_pass, message: GREEN}, {check: no_skipped_tests, message: SKIPS}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: node --test tests/, format: node, timeout_seconds: 60}}
enforcement: {denial_budget: 1000, ${enforcement}}
`

describe('old failing tests where the start of the work is not recorded, or there is no sandbox', () => {
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
  const baselines = async (): Promise<readonly unknown[]> => {
    const { body } = await run.call('GET', '/tasks/t/timeline', run.operator)
    return (body.events as { type: string }[]).filter((event) => event.type === 'baseline_recorded')
  }

  it.each(['reconcile: off', 'confinement: off', 'confinement: off, reconcile: off'])(
    '[REQ-BASELINE-10] %s: honest work completes, old failures open no RED, and breaking an old test blocks',
    async (enforcement) => {
      run = await start({ contract: contractOf(enforcement) })
      put(run.workspace, PROJECT)
      await run.addTask({ id: 't' })
      token = await run.claim('a', await run.addAgent('a'), 't')
      await expect.poll(baselines, { timeout: 20_000 }).toMatchObject([{ data: { passed: 1, failed: 1, skipped: 1 } }])
      expect((await told('IMPL')).blockers).toContain('old is broken failed before the task too')
      await write('tests/add.test.mjs', ADD)
      expect((await told('IMPL')).blockers).toBe('')
      await write('src/add.mjs', 'export const add = (a, b) => a + b\n')
      await write('src/old.mjs', 'export const old = () => 3\n')
      expect((await told('DONE')).blockers).toContain('Passed before the task: old works')
      await write('src/old.mjs', PROJECT['src/old.mjs'] ?? '')
      expect(await told('DONE')).toMatchObject({ blockers: '', warnings: expect.stringContaining('old is broken') })
    },
    60_000,
  )
})
