import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const contract = `
name: counted
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files]
  - id: CODE
    allowed_tools: [write_files, bash, git_commit]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
    rules: [{type: repeated_command, threshold: 3, window: 600}]
  - id: DONE
    allowed_tools: []
transitions: [{from: PLAN, to: CODE}, {from: CODE, to: PLAN, when: replan}, {from: CODE, to: DONE}]
enforcement: {reconcile: "off"}
`
const T0 = Date.parse('2026-03-01T10:00:00Z')

interface Visit {
  readonly phase: string
  readonly visit: number
  readonly tokens: Record<string, unknown>
  readonly turns: number
}

describe('what a task took', () => {
  let run: Running
  let token = ''
  let agent = ''
  const execute = (tool_name: string, args: object) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  const use = (message_id: string | undefined, input_tokens: number, output_tokens = 0) =>
    run.call('POST', '/usage', token, {
      input_tokens,
      output_tokens,
      ...(message_id === undefined ? {} : { message_id }),
    })
  const move = async (target_phase: string, claims: object = {}) => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, claims })
    expect(answer.body).toMatchObject({ allowed: true })
    token = String(answer.body.phase_token)
  }
  const metrics = async (who = run.operator, id = 't') => run.call('GET', `/tasks/${id}/metrics`, who)
  const visits = async (): Promise<readonly Visit[]> => (await metrics()).body.visits as readonly Visit[]

  beforeEach(async () => {
    run = await start({ contract })
    mkdirSync(join(run.workspace, 'src'))
    execFileSync('git', ['init', '-q'], { cwd: run.workspace })
    run.now = T0
    await run.addTask({ id: 't', title: 'Counted' })
    await run.addTask({ id: 'other' })
    agent = await run.addAgent('a')
    token = await run.claim('a', agent, 't')
  })
  afterEach(() => run.stop())

  it('[REQ-METRICS-1] an unknown task, another agent’s task and a missing token are refused', async () => {
    expect(await metrics(run.operator, 'nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const stranger = await run.addAgent('b')
    const others = await run.claim('b', stranger, 'other')
    expect(await metrics(others)).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    expect(await metrics(others, 'nobody')).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    expect(await metrics('')).toMatchObject({ status: 403 })
    expect(await run.call('GET', '/tasks/t/metrics', null)).toMatchObject({ status: 401 })
    expect(await metrics(token)).toMatchObject({ status: 200, body: { task: { id: 't', title: 'Counted' } } })
    expect(await metrics(agent)).toMatchObject({ status: 200 })
  })

  it('[REQ-METRICS-2] a task that nobody began took nothing', async () => {
    expect((await metrics(run.operator, 'other')).body).toMatchObject({
      ...{ visits: [], phases: [], truncated: false, agent_id: null },
      totals: { visits: 0, duration_seconds: 0, tokens: { input: 0, grade: 'none' }, tool_calls: 0 },
    })
  })

  it('[REQ-METRICS-3] every visit has its own time, calls, commands, edits, refusals and interrupts', async () => {
    run.now = T0 + 60_000
    await execute('read_files', { path: 'none' })
    await execute('write_files', { path: 'src/a', content: '1' })
    run.now = T0 + 65_000
    await move('CODE')
    await execute('write_files', { path: 'src/a', content: '1' })
    await execute('write_files', {
      files: [
        { path: 'src/a', content: '2' },
        { path: 'src/b', content: '2' },
      ],
    })
    await execute('write_files', { path: 'out', content: '1' })
    for (const command of ['echo b', 'echo a', 'echo a', 'echo a']) await execute('bash', { command })
    await run.call('POST', '/tools/check', token, { task_id: 't', tool_name: 'bash', args: { command: 'echo c' } })
    run.now = T0 + 70_000
    await run.call('POST', '/prompt/continue', token, {})
    await move('PLAN', { replan: true })
    run.now = T0 + 80_000
    const { body } = await metrics()
    expect(body.visits).toMatchObject([
      {
        ...{ phase: 'PLAN', visit: 1, entered_by: 'start', duration_seconds: 65, tool_calls: 1, interrupts: 0 },
        entered_at: '2026-03-01T10:00:00.000Z',
        left_at: '2026-03-01T10:01:05.000Z',
        refusals: { count: 1, by_code: { forbidden_tool: 1 } },
        commands: { count: 0, by_command: [] },
      },
      {
        ...{ phase: 'CODE', visit: 2, entered_by: 'transition', duration_seconds: 5, tool_calls: 6, interrupts: 1 },
        commands: {
          count: 4,
          by_command: [
            { command: 'echo a', count: 3 },
            { command: 'echo b', count: 1 },
          ],
        },
        edits: {
          count: 3,
          by_path: [
            { path: 'src/a', count: 2 },
            { path: 'src/b', count: 1 },
          ],
        },
        refusals: { count: 2, by_code: { constraint_violation: 1, rule_interrupt: 1 } },
      },
      { phase: 'PLAN', visit: 3, entered_by: 'back', left_at: null, duration_seconds: 10, tool_calls: 0 },
    ])
    expect(body.phases).toMatchObject([
      { phase: 'PLAN', visits: 2, duration_seconds: 75, tool_calls: 1 },
      { phase: 'CODE', visits: 1, duration_seconds: 5, tool_calls: 6, commands: { count: 4 } },
    ])
    expect(body.totals).toMatchObject({ visits: 3, duration_seconds: 80, tool_calls: 7, refusals: { count: 3 } })
  })

  it('[REQ-METRICS-4] usage belongs to the visit in which its message began, and a message counts once with its most', async () => {
    run.now = T0 + 1000
    await use('m1', 100, 10)
    run.now = T0 + 5000
    await move('CODE')
    await use('m1', 80, 30)
    await use('m2', 7)
    await use(undefined, 1)
    await use(undefined, 1)
    const [plan, code] = await visits()
    expect(plan).toMatchObject({ turns: 1, tokens: { input: 100, output: 30, grade: 'reported' } })
    expect(code).toMatchObject({ turns: 3, tokens: { input: 9, output: 0, grade: 'reported' } })
    // Asked again nothing is counted twice.
    expect(await visits()).toEqual([plan, code])
    expect((await metrics()).body).toMatchObject({ totals: { turns: 4, tokens: { input: 109, output: 30 } } })
  })

  it('[REQ-METRICS-4] what happened in the moment a phase was left belongs to the next', async () => {
    run.now = T0 + 5000
    await move('CODE')
    const usage = (usageId: string, occurredAt: number) => ({
      ...{ type: 'record_usage' as const, input: 1, output: 0, cacheRead: 5, cacheWrite: 6, model: null },
      ...{ usageId, grade: 'observed' as const, occurredAt },
    })
    const told = { taskId: 't', contract: run.app.contractOf }
    const context = { now: T0 + 6000, actor: 'agent:a', matchesGlob: () => false, matches: () => false }
    for (const [id, at] of [
      ['late', T0 + 4999],
      ['edge', T0 + 5000],
      ['before', T0 - 1],
    ] as const)
      await run.app.ledger.apply(told, usage(id, at), context)
    const { body } = await metrics()
    expect(body.visits).toMatchObject([
      { phase: 'PLAN', tokens: { input: 1, cache_read: 5, cache_write: 6, grade: 'observed' } },
      { phase: 'CODE', tokens: { input: 1, grade: 'observed' } },
    ])
    expect(body).toMatchObject({ outside: { turns: 1, tokens: { input: 1 } }, totals: { tokens: { input: 3 } } })
  })

  it('[REQ-METRICS-5] a commit is a git_commit that succeeded, and a rewind begins a visit', async () => {
    await move('CODE')
    await execute('git_commit', { message: 'nothing there' })
    await execute('write_files', { path: 'src/a', content: '1' })
    expect((await execute('git_commit', { message: 'first' })).body).toMatchObject({
      result: { commit: expect.any(String) },
    })
    await run.call('POST', '/tasks/t/rewind', run.operator, { to_phase: 'PLAN', reason: 'again' })
    expect((await metrics()).body).toMatchObject({
      visits: [{ commits: 0 }, { commits: 1 }, { phase: 'PLAN', visit: 3, entered_by: 'rewind', commits: 0 }],
      totals: { commits: 1 },
    })
  })

  it('[REQ-METRICS-6] the same is counted after a restart, and a completed task takes no more time', async () => {
    await use('m1', 5)
    await move('CODE')
    run.now = T0 + 9000
    await move('DONE')
    run.now = T0 + 99_000
    const before = (await metrics()).body
    expect(before).toMatchObject({ task: { status: 'completed' }, totals: { duration_seconds: 9 } })
    run = await run.restart()
    run.now = T0 + 99_000
    expect((await metrics()).body).toEqual(before)
  })

  it('[REQ-METRICS-7] texts and lists in the answer are bounded', async () => {
    await move('CODE')
    for (let at = 0; at < 15; at += 1)
      await execute('write_files', { path: `src/${'x'.repeat(210)}${at}`, content: '' })
    const [, code] = (await metrics()).body.visits as { edits: { count: number; by_path: { path: string }[] } }[]
    expect(code?.edits.count).toBe(15)
    expect(code?.edits.by_path.length).toBeLessThanOrEqual(10)
    expect(Math.max(...(code?.edits.by_path ?? []).map(({ path }) => path.length))).toBe(200)
  })
})
