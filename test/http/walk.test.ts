import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeRepository } from '../e2e/projects.js'
import { GREEN, PLAN, RED, type Running, start } from './harness.js'

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.js'

test('numbers are added', () => assert.equal(add(2, 3), 5))
`

describe('the five phases of the bundled contract', () => {
  let run: Running
  let agent: string
  let token: string
  let old: string
  const move = (with_: string, target: string, artifacts?: Record<string, unknown>) =>
    run.call('POST', '/tasks/transition', with_, {
      task_id: 'T1',
      target_phase: target,
      ...(artifacts === undefined ? {} : { artifacts }),
    })
  const use = (tool_name: string, args: Record<string, unknown>) =>
    run.call('POST', '/tools/execute', token, { task_id: 'T1', tool_name, args })
  const codes = (body: Record<string, unknown>) =>
    (body.blockers as { code: string; check: string | null; artifact: string | null }[]).map(
      (one) => `${one.code}:${one.check ?? one.artifact ?? ''}`,
    )

  beforeAll(async () => {
    run = await start()
    makeRepository(run.workspace, {
      'package.json': '{"name": "adder", "type": "module", "scripts": {"test": "node --test"}}\n',
    })
    await run.addTask({ id: 'T1', title: 'Add numbers' })
    await run.addTask({ id: 'T2', title: 'Then subtract', depends_on: ['T1'] })
    agent = await run.addAgent('coder')
  })
  afterAll(() => run.stop())

  it('[REQ-API-1] a task with an open dependency is not claimable, named or not', async () => {
    const named = await run.call('POST', '/tasks/claim', agent, { agent_id: 'coder', task_id: 'T2' })
    expect(named).toMatchObject({ status: 409, body: { code: 'conflict', detail: 'Task T2 waits for T1.' } })
    const claimed = await run.call('POST', '/tasks/claim', agent, { agent_id: 'coder' })
    expect(claimed).toMatchObject({
      status: 200,
      body: { phase: 'PLAN', task: { id: 'T1', status: 'active', epoch: 1 }, contract: { name: 'tdd' } },
    })
    expect(String(claimed.body.prompt)).toContain('Add numbers')
    token = String(claimed.body.phase_token)
  })

  it('[REQ-API-2] what an agent is given of phases that are not open is their ids and names', async () => {
    const again = await run.call('POST', '/tasks/claim', agent, { agent_id: 'coder' })
    token = String(again.body.phase_token)
    const phases = (again.body.contract as { phases: Record<string, unknown>[] }).phases
    expect(Object.keys(phases[0] ?? {})).toContain('required_artifacts')
    for (const phase of phases.slice(1)) expect(Object.keys(phase)).toEqual(['id', 'name'])
  })

  it('[REQ-API-3] skipping ahead is refused and names the legal step', async () => {
    for (const target of ['IMPL', 'constructor'])
      expect(await move(token, target), target).toMatchObject({
        status: 400,
        body: { code: 'no_transition', detail: `No transition from PLAN to ${target}. Legal: TDD` },
      })
  })

  it('[REQ-API-4] a blocked transition names every blocker at once, gives no token and leaves the phase', async () => {
    const blocked = await move(token, 'TDD')
    expect(blocked).toMatchObject({
      status: 200,
      body: { allowed: false, phase: 'PLAN', phase_token: null, retry: { attempt: 1, max: 3 } },
    })
    expect(codes(blocked.body)).toEqual([
      'missing_artifact:plan_document',
      'check_failed:plan_has_acceptance_criteria',
      'check_failed:scope_is_bounded',
    ])
    const wrong = await move(token, 'TDD', { plan_document: { ...PLAN, title: 'short', scope: { in_scope: [] } } })
    const messages = (wrong.body.blockers as { message: string }[]).map((one) => one.message)
    expect(messages.some((one) => one.startsWith('plan_document/title'))).toBe(true)
    expect(messages.some((one) => one.startsWith('plan_document/scope'))).toBe(true)
  })

  it('[REQ-API-5] the plan waits for a human: the agent cannot approve, the operator can, for exactly this content', async () => {
    const asked = await move(token, 'TDD', { plan_document: PLAN })
    expect(codes(asked.body)).toEqual(['approval_pending:'])
    const { id, digest } = asked.body.pending_approval as { id: string; digest: string }
    const decide = (by: string, given = digest) =>
      run.call('POST', `/approvals/${id}/decision`, by, { decision: 'approve', digest: given })
    expect(await decide(token)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await decide(agent)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await decide(run.operator, '0'.repeat(64))).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect((await move(token, 'TDD', { plan_document: PLAN })).body.allowed).toBe(false)
    expect(await decide(run.operator)).toMatchObject({ status: 200, body: { status: 'approved' } })
    const other = await move(token, 'TDD', { plan_document: { ...PLAN, title: 'Another plan altogether' } })
    expect(other.body).toMatchObject({
      allowed: false,
      pending_approval: { digest: expect.not.stringMatching(digest) },
    })
    const { body } = await run.call('GET', '/approvals', run.operator)
    expect(body.approvals).toMatchObject([{ status: 'pending', ...(other.body.pending_approval as object) }])
    expect(await run.call('GET', `/approvals/${id}`, run.operator)).toMatchObject({
      body: { status: 'approved', digest },
    })
  })

  it('[REQ-API-6] [REQ-APPROVAL-15] the approved plan opens the phase once, with a new token, and the old token is refused at once', async () => {
    const moved = await move(token, 'TDD', { plan_document: PLAN })
    expect(moved).toMatchObject({ status: 200, body: { allowed: true, phase: 'TDD' } })
    old = token
    token = String(moved.body.phase_token)
    for (const path of ['/tools/check', '/tools/execute'])
      expect(
        await run.call('POST', path, old, { task_id: 'T1', tool_name: 'read_files', args: { path: 'a' } }),
      ).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    expect(await move(old, 'IMPL')).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    expect(await run.call('GET', '/prompt', old)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    expect(await run.call('GET', '/prompt', token)).toMatchObject({ status: 200, body: { phase: 'TDD' } })
  })

  it('[REQ-API-7] a RED without a failing test, or with test files that are not there, opens nothing', async () => {
    const test_files = { test_files: [{ path: 'tests/add.test.js', covers: ['AC1'] }] }
    const invented = await move(token, 'IMPL', { test_files, test_run_result: RED })
    expect(invented.body.blockers).toMatchObject([
      {
        code: 'check_failed',
        check: 'tests_exist_for_acceptance_criteria',
        message: 'Every acceptance criterion needs a test: not in the work tree: tests/add.test.js',
      },
      { code: 'check_failed', check: 'tests_are_meaningful' },
      { code: 'check_failed', check: 'tests_are_failing' },
    ])
    await use('write_files', {
      path: 'tests/add.test.js',
      content: TEST.replace(/import .*add.js'\n/, '').replace('add(2, 3)', 'Math.max(5, 2)'),
    })
    expect(codes((await move(token, 'IMPL', { test_files, test_run_result: RED })).body)).toEqual([
      'check_failed:tests_are_failing',
    ])
    await use('write_files', { path: 'tests/add.test.js', content: TEST })
    const moved = await move(token, 'IMPL', { test_files })
    expect(moved.body).toMatchObject({ allowed: true, phase: 'IMPL' })
    token = String(moved.body.phase_token)
  })

  it('[REQ-API-8] GREEN with a failing, skipped or missing run, or with tests edited after RED, opens nothing', async () => {
    const implementation_files = { files_changed: [{ path: 'src/add.js', change_type: 'created' }], summary: 'adds' }
    expect(codes((await move(token, 'REVIEW', { test_run_result: GREEN })).body)).toContain(
      'missing_artifact:implementation_files',
    )
    const green = { implementation_files, test_run_result: GREEN }
    expect(codes((await move(token, 'REVIEW', green)).body)).toEqual(['check_failed:all_tests_pass'])
    await use('write_files', { path: 'src/add.js', content: 'export const add = () => 6\n' })
    const failing = await move(token, 'REVIEW', green)
    expect(failing.body.blockers).toMatchObject([
      { check: 'all_tests_pass', grade: 'observed', message: 'All tests must pass: 1 failed: numbers are added' },
    ])
    await use('write_files', { path: 'src/add.js', content: 'export const add = (a, b) => a + b\n' })
    writeFileSync(join(run.workspace, 'tests/add.test.js'), 'weakened')
    expect(codes((await move(token, 'REVIEW', green)).body)).toEqual([
      'unledgered_change:',
      'check_failed:tests_unchanged',
      'check_failed:all_tests_pass',
      'check_failed:no_skipped_tests',
    ])
    writeFileSync(join(run.workspace, 'tests/add.test.js'), TEST)
    const moved = await move(token, 'REVIEW')
    expect(moved.body).toMatchObject({ allowed: true, phase: 'REVIEW' })
    token = String(moved.body.phase_token)
  })

  it('[REQ-API-9] a finished-looking task with open work is not finished', async () => {
    expect(
      codes((await move(token, 'COMPLETE', { review_report: { reviews: {}, blocking_issues: ['leaks'] } })).body),
    ).toEqual(['check_failed:no_blocking_issues', 'check_failed:expression'])
    const entered = await move(token, 'COMPLETE', {
      review_report: { reviews: { peer: { status: 'done' } }, blocking_issues: [] },
    })
    expect(entered.body).toMatchObject({ allowed: true, phase: 'COMPLETE', status: 'active' })
    token = String(entered.body.phase_token)
    expect((await run.call('GET', '/tasks/T1', run.operator)).body.status).toBe('active')
    expect(codes((await move(token, 'COMPLETE')).body)).toContain('missing_artifact:completion_summary')
    expect(
      codes((await move(token, 'COMPLETE', { completion_summary: { summary: 'Done', files_changed: [] } })).body),
    ).toEqual(['check_failed:committed'])
  })

  it('[REQ-API-10] completion ends the task, its tokens, and unblocks the dependent one', async () => {
    expect((await use('git_commit', { message: 'Add numbers' })).status).toBe(200)
    const done = await move(token, 'COMPLETE', {
      completion_summary: { summary: 'Numbers are added', files_changed: ['src/add.js'] },
    })
    expect(done.body).toMatchObject({ allowed: true, status: 'completed', phase_token: null })
    expect(
      await run.call('POST', '/tools/check', token, { task_id: 'T1', tool_name: 'read_files', args: { path: 'a' } }),
    ).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
    expect((await run.call('POST', '/tasks/claim', agent, { agent_id: 'coder' })).body).toMatchObject({
      task: { id: 'T2' },
      phase: 'PLAN',
    })
  })

  it('[REQ-API-11] everything is in the ledger, the ledger verifies, and no fault was logged', async () => {
    const types = new Set(
      ((await run.call('GET', '/tasks/T1/timeline', run.operator)).body.events as { type: string }[]).map(
        (event) => event.type,
      ),
    )
    for (const type of [
      'task_created',
      'task_claimed',
      'transition_requested',
      'transition_refused',
      'gate_blocked',
      'gate_passed',
      'approval_requested',
      'approval_refused',
      'approval_decided',
      'phase_entered',
      'tests_pinned',
      'token_refused',
      'task_completed',
    ])
      expect([...types]).toContain(type)
    expect((await run.call('GET', '/audit/verify', run.operator)).body).toMatchObject({ ok: true, problems: [] })
    expect(run.faults).toEqual([])
  })
})
