import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskReport } from 'phaselock/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reportText } from '../../src/cli/report/report-text.js'
import { type Answer, type Running, start } from './harness.js'

const contract = `
name: decided
version: "1"
phases:
  - id: PLAN
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
    required_artifacts: [{type: plan}]
    gates:
      - id: plan_ok
        type: approval
        approvers: [human]
        blockers:
          - {check: file_exists, path: docs/plan, message: The plan is written}
          - {check: file_exists, path: docs/extra, message: There is an extra, severity: warning}
  - id: IMPL
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
    gates:
      - {id: work_ok, type: approval, approvers: [human]}
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block}
`

let run: Running
let token = ''
const at = (path: string) => join(run.workspace, path)
const ask = async (target_phase: string, artifacts = {}): Promise<Answer> => {
  const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, artifacts })
  if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
  return answer
}
const pendingOf = (answer: Answer): { readonly id: string; readonly digest: string } => {
  expect(answer.body).toMatchObject({ allowed: false, pending_approval: { id: expect.any(String) } })
  return answer.body.pending_approval as { readonly id: string; readonly digest: string }
}
const write = (path: string, content: string) =>
  run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'write_files', args: { path, content } })
const show = (id: string, who = run.operator) => run.call('GET', `/approvals/${id}`, who)
const decide = ({ id, digest }: { id: string; digest: string }, decision: string, comment = '') =>
  run.call('POST', `/approvals/${id}/decision`, run.operator, { decision, digest, comment })
const paths = (answer: Answer): readonly string[] =>
  ((answer.body.diff as { files: { path: string }[] }).files ?? []).map(({ path }) => path)

beforeEach(async () => {
  run = await start({ contract })
  for (const folder of ['src', 'docs']) mkdirSync(at(folder))
  await run.addTask({ id: 't', title: 'Add it' })
  token = await run.claim('a', await run.addAgent('a'), 't')
})
afterEach(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

const askForPlan = async (text: string): Promise<{ readonly id: string; readonly digest: string }> => {
  await write('docs/plan', text)
  return pendingOf(await ask('IMPL', { plan: { text } }))
}

describe('what an approver sees', () => {
  it('[REQ-DECIDE-3] an agent sees its artifacts and nothing more, and unknown ids are not found', async () => {
    const pending = await askForPlan('one\n')
    const seen = await show(pending.id, token)
    expect(seen).toMatchObject({ status: 200, body: { contents: { plan: { text: 'one\n' } } } })
    for (const name of ['diff', 'checks', 'refusals', 'covers', 'since_last', 'outdated'])
      expect(seen.body).not.toHaveProperty(name)
    expect(await show('apr-99-t')).toMatchObject({ status: 404 })
    expect(await show('nothing')).toMatchObject({ status: 404 })
  })

  it('[REQ-DECIDE-3] a reviewer sees it without what is hidden from agents', async () => {
    writeFileSync(at('agent_workflow.yaml'), 'name: mine\n')
    await run.call('POST', '/tasks/t/tree/accept', run.operator, { reason: 'by me' })
    const pending = await askForPlan('one\n')
    const added = await run.call('POST', '/tasks/t/reviewers', run.operator, { name: 'rita' })
    const reviewer = await show(pending.id, String(added.body.review_token))
    expect(reviewer.status).toBe(200)
    expect(paths(reviewer)).toEqual(['docs/plan'])
    expect(paths(await show(pending.id))).toEqual(['agent_workflow.yaml', 'docs/plan'])
  })

  it('[REQ-RUNREPORT-11] the report names what operators accepted, and nothing where they did nothing', async () => {
    const report = async () => (await run.call('GET', '/runs/t/report', run.operator)).body as unknown as TaskReport
    await askForPlan('one\n')
    expect((await report()).interventions).toEqual([])
    expect(reportText(await report())).not.toContain('INTERVENED')
    writeFileSync(at('src-by-hand'), 'mine\n')
    await run.call('POST', '/tasks/t/tree/accept', run.operator, { reason: 'by me' })
    expect((await report()).interventions).toMatchObject([
      { type: 'tree_accepted', by: 'admin', reason: 'by me', paths: ['src-by-hand'] },
    ])
    expect(reportText(await report())).toMatch(/INTERVENED .*\naccepted changes +\w+ +admin +src-by-hand/)
  })

  it('[REQ-DECIDE-1] shows the diff, every check, the refusals on the way and what the digest covers', async () => {
    await write('src/too-early', 'no\n')
    const pending = await askForPlan('one\n')
    const { status, body } = await show(pending.id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ id: pending.id, status: 'pending', outdated: false, since_last: null, waiting_seconds: expect.any(Number) },
      covers: {
        artifacts: [{ type: 'plan', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
        tree_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      diff: {
        ...{ available: true, from: { kind: 'start' }, totals: { files: 1, additions: 1, deletions: 0 } },
        files: [{ path: 'docs/plan', status: 'added', hunks: [{ lines: ['+one'] }] }],
      },
      checks: [
        { gate: 'plan_ok', check: 'file_exists', status: 'passed', grade: 'artifact', severity: 'blocking' },
        { gate: 'plan_ok', check: 'file_exists', status: 'warning', grade: 'artifact', severity: 'warning' },
      ],
      refusals: [{ phase: 'PLAN', code: 'constraint_violation', seq: expect.any(Number) }],
    })
  })

  it('[REQ-DECIDE-1] after a rejection it shows what changed since, and after an approval what is new', async () => {
    const first = await askForPlan('one\n')
    await decide(first, 'reject', 'too short')
    const second = await askForPlan('one\ntwo\n')
    expect(await show(second.id)).toMatchObject({
      body: {
        since_last: {
          ...{ approval_id: first.id, decision: 'reject', comment: 'too short', by: 'admin' },
          ...{ changed_artifacts: ['plan'], changed_paths: ['docs/plan'] },
        },
        refusals: [],
        diff: { from: { kind: 'start' }, files: [{ hunks: [{ lines: ['+one', '+two'] }] }] },
      },
    })
    await decide(second, 'approve')
    expect((await ask('IMPL', { plan: { text: 'one\ntwo\n' } })).body).toMatchObject({ allowed: true })
    await write('src/new', 'new\n')
    const third = pendingOf(await ask('DONE'))
    const seen = await show(third.id)
    expect(seen).toMatchObject({
      body: { since_last: null, diff: { from: { kind: 'approval', approval_id: second.id, phase: 'PLAN' } } },
    })
    expect(paths(seen)).toEqual(['src/new'])
    run = await run.restart()
    expect(paths(await show(first.id))).toEqual(['docs/plan'])
    expect(paths(await show(third.id))).toEqual(['src/new'])
  })

  it('[REQ-DECIDE-2] a tree that changed since the request is said to have, and what was asked about is still shown', async () => {
    const pending = await askForPlan('one\n')
    await write('docs/plan', 'something else\n')
    writeFileSync(at('src/by-hand'), 'by hand\n')
    expect(await show(pending.id)).toMatchObject({
      body: { outdated: true, diff: { files: [{ path: 'docs/plan', hunks: [{ lines: ['+one'] }] }] } },
    })
    await write('docs/plan', 'one\n')
    rmSync(at('src/by-hand'))
    expect(await show(pending.id)).toMatchObject({ body: { outdated: false } })
  })

  it('[REQ-DECIDE-4] lists what waits, what was decided, or both, in pages', async () => {
    const first = await askForPlan('one\n')
    await decide(first, 'reject', 'no')
    const second = await askForPlan('two\n')
    const list = async (query: string) => {
      const { status, body } = await run.call('GET', `/approvals${query}`, run.operator)
      expect(status).toBe(200)
      return { ids: (body.approvals as { id: string }[]).map(({ id }) => id), next: body.next_cursor }
    }
    expect(await list('')).toMatchObject({ ids: [second.id] })
    expect(await list('?status=pending')).toMatchObject({ ids: [second.id] })
    expect(await list('?status=decided')).toMatchObject({ ids: [first.id], next: null })
    expect(await list('?status=all')).toMatchObject({ ids: [second.id, first.id], next: null })
    const { ids, next } = await list('?status=all&limit=1')
    expect(ids).toEqual([second.id])
    expect(await list(`?status=all&limit=1&cursor=${String(next)}`)).toMatchObject({ ids: [first.id] })
    expect(await run.call('GET', '/approvals?status=other', run.operator)).toMatchObject({ status: 400 })
    expect(await run.call('GET', '/approvals?status=all&cursor=nonsense', run.operator)).toMatchObject({ status: 400 })
  })
})
