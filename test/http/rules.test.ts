import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const MINUTE = 60_000

/** A contract in the form of seed 003, with the rules of its CODE node. */
function nodes(rules: string): string {
  return `
mode: discovery
start_node: code
nodes:
  code:
    prompt: You are in the CODE phase of {{task.title}}
    rules: ${rules}
    transitions:
      - {when: code_complete, to: review}
      - {when: restart_cycle, to: code}
  review:
    prompt: You are in the REVIEW phase
    transitions:
      - {when: review_complete, to: done}
enforcement: {confinement: best_effort, reconcile: off}
`
}

let run: Running
let token: string
afterEach(() => run?.stop())

async function begin(contract: string): Promise<void> {
  run = await start({ contract })
  run.now = Date.UTC(2026, 0, 5, 4, 0, 0)
  await run.addTask({ id: 'T', title: 'Stop looping' })
  token = await run.claim('coder', await run.addAgent('coder'), 'T')
}
const call = (method: string, path: string, body?: unknown) => run.call(method, path, token, body)
const later = (ms: number): void => {
  run.now = (run.now ?? 0) + ms
}
const bash = (command: string) => call('POST', '/tools/execute', { task_id: 'T', tool_name: 'bash', args: { command } })
const next = async (claims: Record<string, boolean> = { code_complete: true }): Promise<Answer> => {
  const answer = await call('POST', '/prompt/next', { claims })
  if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
  return answer
}
const cont = () => call('POST', '/prompt/continue', {})
const kinds = async (): Promise<readonly string[]> =>
  ((await run.call('GET', '/tasks/T/timeline?limit=1000', run.operator)).body.events as { type: string }[]).map(
    (event) => event.type,
  )

describe('a loop', () => {
  const RULES = '[{repeated_command: {pattern: "echo (build|test)", threshold: 3, window: 60}}]'

  it('[REQ-INTERRUPT-1] seed 003, case 10: a loop is interrupted by the call that made it one, and at next', async () => {
    await begin(nodes(RULES))
    for (const command of ['echo build', 'echo test']) expect((await bash(command)).body.interrupt).toBeUndefined()
    await bash('echo other')
    later(1000)
    const third = await bash('echo build')
    expect(third).toMatchObject({ status: 200, body: { interrupt: { kind: 'interrupt', phase: 'code' } } })
    expect((await bash('echo build')).body.interrupt, 'once for each violation').toBeUndefined()
    const asked = await next()
    expect(asked).toMatchObject({
      status: 200,
      body: {
        kind: 'interrupt',
        phase: 'code',
        violation: {
          rule_type: 'repeated_command',
          diagnostic: 'echo build, echo test executed 4 times in 1 minute',
          suggestion: expect.stringContaining("You're stuck in a build loop."),
          metrics_snapshot: { count: 4, threshold: 3 },
        },
      },
    })
    const text = String(asked.body.text)
    expect(text).toMatch(/^🚨 WORKFLOW INTERRUPT: Repeated Command Detected\n/)
    expect(text).toContain('Pattern: echo (build|test)\nRecent executions:\n  - 04:00:00: echo build\n')
    expect(text).toContain('REFLECT AND DECIDE:')
    expect(text).toContain('  - Run: POST /api/v1/prompt/continue\n')
    expect(text, 'the prompt of the phase is not in it').not.toContain('You are in the CODE phase')
    expect((await call('GET', '/prompt')).body).toMatchObject({ kind: 'interrupt', text })
    expect((await run.call('GET', '/tasks/T', run.operator)).body.phase).toBe('code')
  })

  it('[REQ-INTERRUPT-2] a loop that starts 30 minutes into a phase is caught', async () => {
    await begin(nodes(RULES))
    await bash('echo build')
    later(30 * MINUTE)
    for (const _ of [1, 2]) expect((await bash('echo build')).body.interrupt).toBeUndefined()
    later(30_000)
    expect((await bash('echo test')).body.interrupt).toMatchObject({ kind: 'interrupt' })
  })

  it('[REQ-INTERRUPT-3] what is older than the window does not count', async () => {
    await begin(nodes(RULES))
    for (const _ of [1, 2, 3, 4, 5]) {
      expect((await bash('echo build')).body.interrupt).toBeUndefined()
      later(31_000)
    }
    expect((await next()).body).toMatchObject({ kind: 'prompt', phase: 'review' })
  })

  it('[REQ-INTERRUPT-4] continue works once: the claim is then tried, and a claim that leads nowhere is judged again', async () => {
    await begin(nodes(RULES))
    for (const _ of [1, 2, 3]) await bash('echo build')
    expect((await next({ wrong: true })).body.kind).toBe('interrupt')
    expect((await cont()).body).toEqual({
      kind: 'prompt',
      text: 'You are in the CODE phase of Stop looping',
      phase: 'code',
    })
    expect((await call('GET', '/prompt')).body.kind).toBe('prompt')
    expect((await next({ wrong: true })).body.kind, 'still violated').toBe('interrupt')
    expect((await cont()).body.kind).toBe('prompt')
    expect((await next()).body).toMatchObject({ kind: 'prompt', phase: 'review', allowed: true })
  })

  it('[REQ-INTERRUPT-5] the third continue for one rule in a visit parks the task for a human', async () => {
    await begin(nodes(RULES))
    for (const _ of [1, 2, 3]) await bash('echo build')
    for (const _ of [1, 2]) {
      expect((await next({ wrong: true })).body.kind).toBe('interrupt')
      expect((await cont()).status).toBe(200)
    }
    await next({ wrong: true })
    expect(await cont()).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
    expect((await run.call('GET', '/tasks/T', run.operator)).body).toMatchObject({ status: 'parked' })
    expect(await bash('echo x')).toMatchObject({ status: 409 })
  })

  it('[REQ-INTERRUPT-6] a loop that goes on after continue is interrupted again', async () => {
    await begin(nodes(RULES))
    for (const _ of [1, 2, 3]) await bash('echo build')
    await cont()
    for (const _ of [1, 2]) {
      later(100)
      expect((await bash('echo build')).body.interrupt).toBeUndefined()
    }
    later(100)
    expect((await bash('echo build')).body.interrupt).toMatchObject({ kind: 'interrupt' })
  })

  it('[REQ-INTERRUPT-7] a direct transition is held back as well, and is recorded as a refusal', async () => {
    await begin(nodes(RULES))
    for (const _ of [1, 2, 3]) await bash('echo build')
    const moved = await call('POST', '/tasks/transition', {
      task_id: 'T',
      target_phase: 'review',
      claims: { code_complete: true },
    })
    expect(moved).toMatchObject({
      status: 200,
      body: {
        allowed: false,
        phase_token: null,
        blockers: [{ code: 'rule_interrupt', message: 'echo build executed 3 times in 1 minute' }],
        interrupt: { kind: 'interrupt' },
      },
    })
    const refused = await run.call('GET', '/audit/query?task_id=T&code=rule_interrupt', run.operator)
    expect((refused.body.events as unknown[]).length).toBeGreaterThan(1)
    await cont()
    expect((await next()).body).toMatchObject({ phase: 'review' })
    expect(run.faults).toEqual([])
  })

  it('[REQ-INTERRUPT-8] violations do not outlive the visit, and a second visit is judged by its own metrics', async () => {
    await begin(nodes(RULES))
    for (const _ of [1, 2, 3]) await bash('echo build')
    await cont()
    expect((await next({ restart_cycle: true })).body).toMatchObject({ kind: 'prompt', phase: 'code' })
    expect((await call('GET', '/prompt')).body.kind).toBe('prompt')
    for (const _ of [1, 2]) expect((await bash('echo build')).body.interrupt).toBeUndefined()
    expect((await next()).body).toMatchObject({ kind: 'prompt', phase: 'review' })
  })

  it('[REQ-INTERRUPT-9] everything is as it was after a restart', async () => {
    await begin(nodes(RULES))
    for (const _ of [1, 2, 3]) await bash('echo build')
    const now = run.now
    run = await run.restart()
    run.now = now
    expect((await call('GET', '/prompt')).body.kind).toBe('interrupt')
    await cont()
    expect((await kinds()).filter((type) => type === 'rule_violated')).toHaveLength(1)
    expect((await next()).body).toMatchObject({ phase: 'review' })
  })

  it('[REQ-INTERRUPT-10] a pattern of (a+)+$ with a command of 50,000 characters is decided at once', async () => {
    await begin(nodes('[{repeated_command: {pattern: "(a+)+$", threshold: 2, window: 60}}]'))
    const command = `: ${'a'.repeat(50_000)}!`
    const started = performance.now()
    for (const _ of [1, 2, 3]) expect((await bash(command)).body.interrupt).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(20_000)
  })
})

describe('other rules', () => {
  it('[REQ-INTERRUPT-11] seed 003, case 12: a token budget interrupts in CODE, and REVIEW starts clean', async () => {
    await begin(nodes('[{token_budget: {max_tokens: 1000}}]'))
    const usage = (body: object) => call('POST', '/usage', body)
    expect((await usage({ input_tokens: 500, output_tokens: 500, message_id: 'm1' })).body).toEqual({
      tokens: { input: 500, output: 500, cache_read: 0, cache_write: 0 },
      usage: 'reported',
    })
    expect((await usage({ input_tokens: 400, output_tokens: 500, message_id: 'm1' })).body.tokens).toMatchObject({
      input: 500,
      output: 500,
    })
    const over = await usage({ input_tokens: 300, output_tokens: 200, cache_read_tokens: 9000 })
    expect(over.body.interrupt).toMatchObject({
      violation: { diagnostic: 'Token budget exceeded: 1,500 / 1,000' },
    })
    expect(String((await next()).body.text)).toContain('Suggestion: Consider simplifying scope or splitting work')
    await cont()
    expect((await next()).body).toMatchObject({ kind: 'prompt', phase: 'review' })
    expect((await call('GET', '/prompt')).body).toEqual({
      kind: 'prompt',
      text: 'You are in the REVIEW phase',
      phase: 'review',
    })
    expect((await next({ review_complete: true })).body).toMatchObject({ completed: true })
    expect(await cont()).toMatchObject({ status: 403, body: { code: 'token_stale' } })
  })

  it('[REQ-INTERRUPT-12] a phase that takes too long is interrupted; a clock that goes back does nothing', async () => {
    await begin(nodes('[{phase_timeout: {max_duration: 300}}]'))
    later(300_000)
    expect((await call('GET', '/prompt')).body.kind).toBe('prompt')
    later(-3_600_000)
    expect((await call('GET', '/prompt')).body.kind).toBe('prompt')
    later(3_600_000 + 100_000)
    const text = String((await call('GET', '/prompt')).body.text)
    expect(text).toContain(
      'Diagnostic: Phase running for 6m 40s (limit: 5m)\nPhase start: 04:00:00\nCurrent time: 04:06:40\nDuration: 400 seconds\n',
    )
  })

  it('[REQ-INTERRUPT-13] edits of one file are counted over all tools that edit', async () => {
    await begin(nodes('[{repeated_file_edit: {path_pattern: "src/.*\\\\.rs", threshold: 3, window: 180}}]'))
    const write = (path: string) =>
      call('POST', '/tools/execute', { task_id: 'T', tool_name: 'write_files', args: { path, content: 'x' } })
    await write('src/main.rs')
    await write('README.md')
    await call('POST', '/tools/execute', {
      task_id: 'T',
      tool_name: 'edit_files',
      args: { path: 'src/main.rs', edits: [{ old: 'x', new: 'y' }] },
    })
    const third = await write('src/lib.rs')
    expect(third.body.interrupt).toMatchObject({
      violation: { diagnostic: 'src/main.rs, src/lib.rs edited 3 times in 3 minutes' },
    })
    expect(String((await next()).body.text)).toContain('Recent edits:\n  - 04:00:00: Edit (src/main.rs)\n')
  })

  it('[REQ-INTERRUPT-14] deny refuses what goes on with the loop, and nothing else, until it is acknowledged', async () => {
    await begin(nodes('[{repeated_command: {pattern: "^echo", threshold: 2, window: 60, on_violation: deny}}]'))
    await bash('echo a')
    expect((await bash('echo b')).body.interrupt).toMatchObject({ kind: 'interrupt' })
    expect(await bash('echo c')).toMatchObject({ status: 409, body: { code: 'rule_interrupt' } })
    expect(await bash('true')).toMatchObject({ status: 200 })
    await cont()
    expect(await bash('echo c')).toMatchObject({ status: 200 })
  })

  it('[REQ-INTERRUPT-15] park parks, shadow only records', async () => {
    await begin(
      nodes(
        '[{repeated_command: {threshold: 2, window: 60, shadow: true}}, {repeated_command: {threshold: 4, window: 60, on_violation: park}}]',
      ),
    )
    for (const _ of [1, 2, 3]) expect((await bash('true')).body.interrupt).toBeUndefined()
    expect((await next({ wrong: true })).body.kind).toBe('prompt')
    const recorded = await run.call('GET', '/audit/query?task_id=T&code=rule_interrupt', run.operator)
    expect(recorded.body.events).toMatchObject([{ data: { shadow: true, rule: 'code[0]' } }])
    await bash('true')
    expect((await run.call('GET', '/tasks/T', run.operator)).body).toMatchObject({ status: 'parked' })
  })

  it('[REQ-INTERRUPT-16] unless_progress counts only while the tree and the failing tests stay the same', async () => {
    await begin(nodes('[{repeated_command: {threshold: 3, window: 600, unless_progress: true}}]'))
    for (const turn of [1, 2, 3, 4, 5]) {
      expect((await bash('true')).body.interrupt).toBeUndefined()
      await bash(`echo ${turn} > notes.txt`)
    }
    for (const _ of [1, 2]) expect((await bash('true')).body.interrupt).toBeUndefined()
    expect((await bash('true')).body.interrupt).toMatchObject({ kind: 'interrupt' })
  })

  it('[REQ-INTERRUPT-17] seed 003, case 11: without rules there is the prompt, and next goes on', async () => {
    await begin(nodes('[]'))
    for (const _ of [1, 2, 3, 4, 5, 6]) expect((await bash('true')).body.interrupt).toBeUndefined()
    expect((await next({ wrong: true })).body).toMatchObject({
      kind: 'prompt',
      text: 'You are in the CODE phase of Stop looping',
    })
    expect((await next()).body).toMatchObject({ kind: 'prompt', text: 'You are in the REVIEW phase', phase: 'review' })
  })

  it('[REQ-INTERRUPT-18] without a task there is nothing to continue', async () => {
    await begin(nodes('[]'))
    const idle = await run.addAgent('idle')
    for (const [path, body] of [
      ['/prompt/continue', {}],
      ['/prompt/next', { claims: {} }],
      ['/usage', { input_tokens: 1, output_tokens: 1 }],
    ] as const)
      expect(await run.call('POST', path, idle, body), path).toMatchObject({
        status: 409,
        body: { code: 'no_active_task' },
      })
    expect(await call('POST', '/usage', { input_tokens: -1, output_tokens: 1 })).toMatchObject({ status: 400 })
  })
})

describe('the denial budget', () => {
  const DENY = '[{repeated_command: {pattern: "^echo", threshold: 2, window: 600, on_violation: deny}}]'
  const budgeted = (rules: string, budget: number): string =>
    nodes(rules).replace('reconcile: off', `reconcile: off, denial_budget: ${budget}`)
  const status = async () => (await run.call('GET', '/tasks/T', run.operator)).body.status
  const leave = () =>
    call('POST', '/tasks/transition', { task_id: 'T', target_phase: 'review', claims: { code_complete: true } })
  const tool = (tool_name: string) => call('POST', '/tools/execute', { task_id: 'T', tool_name, args: {} })
  const loop = async (): Promise<void> => {
    for (const command of ['echo a', 'echo b']) await bash(command)
  }

  it('[REQ-INTERRUPT-19] other refusals park the task after the budget, however many repeats lie between them', async () => {
    await begin(budgeted(DENY, 3))
    await loop()
    for (const refused of [() => tool('nope'), () => tool('bash')]) {
      await bash('echo c')
      await leave()
      expect((await refused()).status).toBeGreaterThanOrEqual(400)
      expect(await status()).toBe('active')
    }
    await tool('no_such_tool')
    expect(await status()).toBe('parked')
  })

  it('[REQ-INTERRUPT-19] the third continue parks the task, however many repeats lie between', async () => {
    await begin(budgeted(DENY, 2))
    for (const turn of [1, 2, 3]) {
      later(1000)
      await loop()
      for (const _ of [1, 2, 3]) expect((await bash('echo c')).body.code).toBe('rule_interrupt')
      expect(await status(), `turn ${turn}`).toBe('active')
      await cont()
    }
    expect(await status()).toBe('parked')
  })

  it('[REQ-INTERRUPT-19] repeats of a violation that was reported do not count, and are still refused and numbered', async () => {
    await begin(budgeted(DENY, 2))
    await loop()
    for (const _ of [1, 2, 3, 4]) {
      expect(await bash('echo c')).toMatchObject({ status: 409, body: { code: 'rule_interrupt' } })
      expect((await leave()).body).toMatchObject({ allowed: false, blockers: [{ code: 'rule_interrupt' }] })
    }
    expect((await bash('echo c')).body.retry).toMatchObject({ attempt: 3, max: 3 })
    expect(await status()).toBe('active')
    const refused = await run.call('GET', '/audit/query?task_id=T&code=rule_interrupt&limit=100', run.operator)
    const events = refused.body.events as { type: string; data: { counted?: boolean } }[]
    expect(events.filter(({ type }) => type === 'tool_denied' || type === 'gate_blocked')).toHaveLength(9)
    expect(events.some(({ data }) => data.counted === true)).toBe(false)
    const report = await run.call('GET', '/runs/T/report', run.operator)
    expect(JSON.stringify(report.body.refusals)).toContain('rule_interrupt')
  })

  it('[REQ-INTERRUPT-19] a refusal that reports a violation for the first time counts once', async () => {
    await begin(budgeted('[{phase_timeout: {max_duration: 300}}]', 2))
    later(301_000)
    for (const _ of [1, 2, 3]) expect((await leave()).body).toMatchObject({ blockers: [{ code: 'rule_interrupt' }] })
    expect(await status()).toBe('active')
    await tool('nope')
    expect(await status()).toBe('parked')
  })

  it('[REQ-INTERRUPT-19] two violations that take turns are each reported once', async () => {
    const TIMEOUT = '{phase_timeout: {max_duration: 300}}'
    await begin(budgeted(DENY.replace('[', `[${TIMEOUT}, `), 3))
    later(301_000)
    await leave()
    await loop()
    for (const _ of [1, 2, 3, 4]) {
      expect((await bash('echo c')).body.code).toBe('rule_interrupt')
      expect((await leave()).body).toMatchObject({ blockers: [{ message: expect.stringContaining('running for') }] })
    }
    expect(await status()).toBe('active')
  })
})
