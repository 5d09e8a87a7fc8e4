import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/json.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: shaped
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files]
    writable: ["**"]
    required_artifacts: [{type: test_files, schema: schemas/tests.json}]
    gates:
      - id: done
        type: validation
        blockers:
          - {check: tests_are_meaningful, message: Meaning}
          - {check: all_tests_pass, message: Run}
  - id: DONE
    allowed_tools: []
    required_artifacts: [{type: review_report, schema: schemas/review.json}]
    gates: [{id: end, type: validation, blockers: [{check: no_blocking_issues, message: Issues}]}]
tests: {patterns: ["**/*.test.mjs"]}
commands: {tests: {run: node --test}}
`
const TEST =
  "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nconst add = (a, b) => a + b\ntest('adds', () => assert.equal(add(2, 3), 5))\n"
const FILES = [{ path: 'a.test.mjs', covers: ['AC1'] }]

describe('an artifact of another type than its schema asks for', () => {
  let run: Running
  let token = ''
  const move = async (target_phase: string, artifacts: unknown): Promise<JsonObject> =>
    (await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, artifacts })).body as JsonObject

  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
    const args = { path: 'a.test.mjs', content: TEST }
    await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'write_files', args })
  })
  afterAll(() => run.stop())

  it('[REQ-READS-5] is refused with the whole of what is sent instead, without blockers that follow from it', async () => {
    for (const wrong of ['a.test.mjs', 7, null]) {
      const { allowed, blockers } = await move('DONE', { test_files: wrong })
      expect(allowed).toBe(false)
      expect(blockers).toMatchObject([
        {
          code: 'invalid_artifact',
          remedy:
            'Send "artifacts": {"test_files": {"test_files": […]}} with the transition request: test_files is an object with these keys.',
        },
      ])
    }
    // What is wrong further down is still named there, with what the checks found.
    const { blockers } = await move('DONE', { test_files: [{ path: 7, covers: ['AC1'] }] })
    expect(JSON.stringify(blockers)).toContain('Correct test_files at /test_files/0/path and send it again.')
    expect(JSON.stringify(blockers)).toContain('Run: the tests were not run yet')
  })

  it('[REQ-READS-5] a bare list counts as the only key that its schema asks for, and is kept so', async () => {
    const moved = await move('DONE', { test_files: FILES })
    expect(moved, JSON.stringify(moved)).toMatchObject({ allowed: true })
    token = String(moved.phase_token)
    const kept = await run.call('GET', '/tasks/t/artifacts/test_files', run.operator)
    expect(kept.body).toMatchObject({ content: { test_files: FILES } })
  })

  it('[REQ-READS-5] a list is not taken for one of several keys', async () => {
    const { allowed, blockers } = await move('DONE', { review_report: [] })
    expect(allowed).toBe(false)
    expect(JSON.stringify(blockers)).toContain(
      JSON.stringify('Send "artifacts": {"review_report": {"reviews": {…}, "blocking_issues": […]}}').slice(1, -1),
    )
  })
})
