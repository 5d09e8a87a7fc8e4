import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = (rules: string, mode = 'strict') => `
name: hooked
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files, grep, glob]
  - id: CODE
    allowed_tools: [read_files, write_files, edit_files, bash, web_search]
    tool_constraints:
      write_files: {allowed_patterns: ["src/**"]}
      bash: {forbidden_commands: [curl]}
    rules: ${rules}
  - {id: DONE, allowed_tools: []}
transitions: [{from: PLAN, to: CODE}, {from: CODE, to: PLAN, when: again}, {from: CODE, to: DONE}]
enforcement: {mode: ${mode}, confinement: best_effort, reconcile: off, denial_budget: 50}
`
const LOOP = '[{repeated_command: {pattern: "npm test", threshold: 3, window: 60}}]'

let run: Running
let agent: string
let home: string
let uses = 0

afterEach(async () => {
  await run?.stop()
  rmSync(home, { recursive: true, force: true })
})

async function begin(rules = '[]', phase = 'CODE', mode = 'strict'): Promise<void> {
  home = mkdtempSync(join(tmpdir(), 'phaselock-hooks-'))
  mkdirSync(join(home, '.claude/projects/-tree'), { recursive: true })
  run = await start({ contract: CONTRACT(rules, mode), environment: { HOME: home } })
  run.now = Date.UTC(2026, 0, 5, 4, 0, 0)
  await run.addTask({ id: 'T' })
  agent = await run.addAgent('coder')
  const token = await run.claim('coder', agent, 'T')
  if (phase === 'CODE') await run.call('POST', '/tasks/transition', token, { task_id: 'T', target_phase: 'CODE' })
}

const bodyOf = (event: string, tool_name: unknown, tool_input: unknown, more: object = {}) => {
  uses += 1
  return {
    ...{ session_id: 's', cwd: run.workspace, permission_mode: 'default', hook_event_name: event },
    ...{ tool_name, tool_input, tool_use_id: `toolu_${uses}`, ...more },
  }
}
const hook = (body: unknown, token: string | null = agent): Promise<Answer> =>
  run.call('POST', '/hooks/claude-code', token, body)
const asked = (tool: unknown, input: unknown, more: object = {}, token: string | null = agent) =>
  hook(bodyOf('PreToolUse', tool, input, more), token)
const did = (tool: unknown, input: unknown, more: object = {}) => hook(bodyOf('PostToolUse', tool, input, more))
const bash = (command: string, more: object = {}) => did('Bash', { command }, more)

type Output = { readonly permissionDecision?: string; readonly permissionDecisionReason?: string }
const decisionOf = ({ status, body }: Answer) => {
  const output = body.hookSpecificOutput as Output | undefined
  return { status, decision: output?.permissionDecision, reason: output?.permissionDecisionReason }
}
const denied = (answer: Answer, code: string): void =>
  expect(decisionOf(answer)).toEqual({
    status: 200,
    decision: 'deny',
    reason: expect.stringContaining(`[${code}]`),
  })
const allowed = (answer: Answer): void =>
  expect(decisionOf(answer)).toMatchObject({ status: 200, decision: 'allow', reason: expect.stringMatching(/./) })
const interruptIn = ({ body }: Answer) =>
  (body.hookSpecificOutput as { additionalContext?: string } | undefined)?.additionalContext
const events = async (type: string) =>
  (
    (await run.call('GET', '/tasks/T/timeline?limit=1000', run.operator)).body.events as {
      type: string
      data: Record<string, unknown>
    }[]
  ).filter((event) => event.type === type)

describe('before a call', () => {
  it('[REQ-HOOK-2] whatever cannot be read is denied with 200 and a reason', async () => {
    await begin()
    denied(await asked('Bash', 'ls'), 'invalid_request')
    denied(await asked({ x: 1 }, {}), 'invalid_request')
    denied(await asked('Bash', { command: 'ls' }, { cwd: 7 }), 'invalid_request')
    denied(await asked('Write', { file_path: 'a\0b', content: '' }), 'invalid_request')
    denied(await hook('{"hook_event_name": "PreToolUse"'), 'invalid_request')
    denied(await hook('[]'), 'invalid_request')
    denied(await hook('"x"'), 'invalid_request')
    denied(await hook({}), 'invalid_request')
    denied(await hook({ hook_event_name: 7 }), 'invalid_request')
    denied(await hook({ ...bodyOf('PreToolUse', 'Bash', {}), idempotency_key: 7 }), 'invalid_request')
    denied(
      await hook(`{"hook_event_name": "PreToolUse", "tool_input": ${'['.repeat(70)}${']'.repeat(70)}}`),
      'invalid_request',
    )
    denied(await asked('Bash', { command: 'x'.repeat(11 * 1024 * 1024) }), 'payload_too_large')
    denied(
      await run.call('POST', '/hooks/claude-code', agent, 'x', { 'content-type': 'text/plain' }),
      'unsupported_media_type',
    )
    denied(await run.call('POST', '/hooks/claude-code?x=1', agent, bodyOf('PreToolUse', 'Bash', {})), 'invalid_request')
  })

  it('[REQ-HOOK-2] without a token that is alive every call is denied, bookkeeping too', async () => {
    await begin()
    const other = await run.addAgent('other')
    const stale = await run.claim('coder', agent, 'T')
    await run.claim('coder', agent, 'T')
    for (const tool of ['Read', 'TodoWrite']) {
      denied(await asked(tool, { file_path: 'a' }, {}, null), 'token_missing')
      denied(await asked(tool, { file_path: 'a' }, {}, 'x.y.z'), 'token_invalid')
      denied(await asked(tool, { file_path: 'a' }, {}, run.operator), 'not_permitted')
      denied(await asked(tool, { file_path: 'a' }, {}, other), 'no_active_task')
      denied(await asked(tool, { file_path: 'a' }, {}, stale), 'token_stale')
    }
    allowed(await asked('Read', { file_path: join(run.workspace, 'a') }))
    await run.call('POST', '/pause', run.operator, { reason: 'lunch' })
    denied(await asked('Read', { file_path: 'a' }), 'agents_paused')
    await run.call('POST', '/unpause', run.operator, {})
    await run.call('POST', '/tasks/T/cancel', run.operator, { reason: 'over' })
    denied(await asked('Read', { file_path: 'a' }), 'no_active_task')
  })

  it('[REQ-HOOK-2] a host that is not allowed and a server that stops deny as well', async () => {
    await begin()
    const { request } = await import('node:http')
    const answer = await new Promise<string>((resolve, reject) => {
      const body = JSON.stringify(bodyOf('PreToolUse', 'Bash', { command: 'ls' }))
      const headers = { host: 'evil.test', authorization: `Bearer ${agent}`, 'content-type': 'application/json' }
      const sent = request(`${run.url}/api/v1/hooks/claude-code`, { method: 'POST', headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve(`${response.statusCode} ${text}`))
      })
      sent.on('error', reject)
      sent.end(body)
    })
    expect(answer).toMatch(/^200 .*"deny".*host_not_allowed/)
  })

  it('[REQ-HOOK-4] the contract decides as it does for its own tools', async () => {
    await begin('[]', 'PLAN')
    const tree = run.workspace
    denied(await asked('Bash', { command: 'ls' }), 'forbidden_tool')
    denied(await asked('Write', { file_path: join(tree, 'src/a'), content: 'x' }), 'forbidden_tool')
    allowed(await asked('Read', { file_path: join(tree, 'src/a') }))
    allowed(await asked('Grep', { pattern: 'x', output_mode: 'content' }))
    denied(await asked('Read', { file_path: '/etc/passwd' }), 'constraint_violation')
    denied(await asked('Read', { file_path: `${tree}/../state/operator.token` }), 'constraint_violation')
    denied(await asked('Grep', { pattern: 'x', path: '/' }), 'constraint_violation')
    expect(await events('tool_denied')).toHaveLength(5)
    expect(await events('tool_allowed')).toHaveLength(2)
  })

  it('[REQ-HOOK-4] constraints hold for paths and commands of the agent CLI', async () => {
    await begin()
    const tree = run.workspace
    const edit = (path: string) => asked('Edit', { file_path: path, old_string: 'a', new_string: 'b' })
    denied(await edit(join(tree, 'README.md')), 'constraint_violation')
    denied(await edit(`${tree}/src/../README.md`), 'constraint_violation')
    allowed(await edit(join(tree, 'src/main.ts')))
    denied(await asked('Bash', { command: 'curl http://x' }), 'constraint_violation')
    denied(await asked('Bash', { command: 'ls', run_in_background: true }), 'invalid_request')
    denied(await asked('Bash', { command: 'ls' }, { cwd: '/etc' }), 'constraint_violation')
    allowed(await asked('Bash', { command: 'ls', description: 'List', timeout: 1000 }))
    const patch = '*** Begin Patch\n*** Update File: src/a\n*** Add File: b\n*** End Patch'
    denied(await asked('apply_patch', { command: patch }), 'constraint_violation')
  })

  it('[REQ-HOOK-3] a path through a link is denied', async () => {
    await begin()
    mkdirSync(join(run.workspace, 'src'))
    mkdirSync(join(run.workspace, 'secret'))
    symlinkSync('../secret', join(run.workspace, 'src/link'))
    symlinkSync('../secret/x', join(run.workspace, 'src/file'))
    const write = (path: string) => asked('Write', { file_path: join(run.workspace, path), content: 'x' })
    denied(await write('src/link/a'), 'constraint_violation')
    denied(await write('src/file'), 'constraint_violation')
    allowed(await write('src/new/a'))
  })

  it('[REQ-HOOK-4] a name that maps to nothing is an unknown tool, also one that a contract knows', async () => {
    await begin()
    for (const name of ['Monitor', 'CronCreate', 'Skill', 'bash', 'write_files', 'mcp__db__query', 'web_search'])
      denied(await asked(name, { command: 'ls' }), 'unknown_tool')
    denied(await asked('Agent', { prompt: 'x' }), 'forbidden_tool')
    allowed(await asked('WebSearch', { query: 'x' }))
    for (const name of ['TodoWrite', 'ToolSearch', 'ExitPlanMode']) allowed(await asked(name, {}))
  })

  it('[REQ-HOOK-4] what a mode lets through is allowed and said', async () => {
    await begin('[]', 'PLAN', 'permissive')
    const answer = await asked('Bash', { command: 'ls' })
    allowed(answer)
    expect(decisionOf(answer).reason).toContain('not allowed in PLAN')
  })

  it('[REQ-HOOK-7] a rule that denies refuses what goes on with the loop, with the interrupt, until it is acknowledged', async () => {
    await begin('[{repeated_command: {pattern: "npm", threshold: 2, window: 60, on_violation: deny}}]')
    for (const _ of [1, 2, 3, 4]) allowed(await asked('Bash', { command: 'npm test' }))
    expect((await bash('npm test')).body).toEqual({})
    expect(interruptIn(await bash('npm test'))).toContain('WORKFLOW INTERRUPT')
    const answer = await asked('Bash', { command: 'npm test' })
    denied(answer, 'rule_interrupt')
    expect(decisionOf(answer).reason).toContain('REFLECT AND DECIDE')
    allowed(await asked('Bash', { command: 'ls' }))
    await run.call('POST', '/prompt/continue', agent, {})
    allowed(await asked('Bash', { command: 'npm test' }))
  })
})

describe('after a call', () => {
  it('[REQ-HOOK-1] other events and wrong bodies are refused and count nothing', async () => {
    await begin(LOOP)
    const blocked = (answer: Answer, reason: string): void =>
      expect(answer).toMatchObject({
        ...{ status: 200, body: { decision: 'block', reason: expect.stringContaining(reason) } },
      })
    for (const event of ['Notification', 'PermissionRequest', 'x'.repeat(500)])
      blocked(await hook(bodyOf(event, 'Bash', { command: 'npm test' })), 'this version does not handle')
    blocked(await did('Bash', []), '[invalid_request]')
    blocked(await bash('npm test', { tool_use_id: 7 }), '[invalid_request]')
    blocked(await bash('npm test', { duration_ms: -1 }), '[invalid_request]')
    blocked(await hook(bodyOf('PostToolUse', 'Bash', {}), 'x.y.z'), '[token_invalid]')
    expect(await events('fact_recorded')).toEqual([])
    expect(run.faults).toEqual([])
  })

  it('[REQ-HOOK-6] the third build is interrupted once, in the words of the agent CLI', async () => {
    await begin(LOOP)
    for (const _ of [1, 2]) {
      allowed(await asked('Bash', { command: 'npm test' }))
      expect(await bash('npm test')).toMatchObject({ status: 200, body: {} })
    }
    const third = await bash('npm test', { hook_event_name: 'PostToolUseFailure', error: 'Exit code 1' })
    expect(third.body).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUseFailure',
        additionalContext: expect.stringContaining('Diagnostic: npm test executed 3 times in 1 minute'),
      },
    })
    expect((await bash('npm test')).body, 'once for each violation').toEqual({})
    expect((await run.call('GET', '/prompt', agent)).body.kind).toBe('interrupt')
    const facts = await events('fact_recorded')
    expect(facts.map(({ data }) => [data.command, data.success])).toEqual([
      ['npm test', true],
      ['npm test', true],
      ['npm test', false],
      ['npm test', true],
    ])
  })

  it('[REQ-HOOK-5] one call counts once, and an id with another command is another call', async () => {
    await begin(LOOP)
    const body = bodyOf('PostToolUse', 'Bash', { command: 'npm test' })
    for (const _ of [1, 2, 3, 4]) expect((await hook(body)).body).toEqual({})
    await hook({ ...body, hook_event_name: 'PostToolUseFailure' })
    expect(await events('fact_recorded')).toHaveLength(1)
    await hook({ ...body, tool_input: { command: 'npm test -- a' } })
    expect(interruptIn(await hook({ ...body, tool_input: { command: 'npm test -- b' } }))).toContain('3 times')
  })

  it('[REQ-HOOK-5] a time that the agent CLI gives is not believed', async () => {
    await begin(LOOP)
    for (const timestamp of ['2099-01-01T00:00:00Z', 4e15, -1])
      await bash('npm test', { timestamp, occurred_at: timestamp })
    const told = await run.call('GET', '/prompt', agent)
    expect(String(told.body.text)).toContain('  - 04:00:00: npm test')
  })

  it('[REQ-HOOK-5] edits of all tools count by their path in the work tree', async () => {
    await begin('[{repeated_file_edit: {threshold: 4, window: 60}}]')
    const file_path = join(run.workspace, 'src/main.ts')
    await did('Edit', { file_path })
    await did('Write', { file_path: `${run.workspace}/src/../src/main.ts` })
    await did('Read', { file_path })
    await did('NotebookEdit', { notebook_path: file_path })
    const response = { bashEditDiff: { changedFiles: [file_path] } }
    const last = await bash('sed -i s/a/b/ src/main.ts', { tool_response: response })
    expect(interruptIn(last)).toContain('src/main.ts edited 4 times in 1 minute')
  })

  it('[REQ-HOOK-5] a command of any length is recorded and nothing breaks', async () => {
    await begin(LOOP)
    expect(await bash('x'.repeat(1_000_000))).toMatchObject({ status: 200 })
    expect(await did('Write', { file_path: `/${'y'.repeat(100_000)}`, content: '' })).toMatchObject({ status: 200 })
    expect(run.faults).toEqual([])
  })

  it('[REQ-HOOK-6] a rule that parks ends the calls of the agent CLI', async () => {
    await begin('[{repeated_command: {threshold: 2, window: 60, on_violation: park}}]')
    await bash('ls')
    expect(interruptIn(await bash('ls'))).toContain('WORKFLOW INTERRUPT')
    denied(await asked('Read', { file_path: join(run.workspace, 'a') }), 'task_not_active')
    expect(await bash('ls')).toMatchObject({ status: 200, body: { decision: 'block' } })
  })
})

describe('transcripts', () => {
  const BUDGET = '[{token_budget: {max_tokens: 1000}}]'
  const file = () => join(home, '.claude/projects/-tree/s.jsonl')
  const line = (id: string, tokens: number, at = run.now ?? 0) =>
    `${JSON.stringify({
      type: 'assistant',
      timestamp: new Date(at).toISOString(),
      message: { id, usage: { input_tokens: tokens, output_tokens: 0 } },
    })}\n`
  const read = async (path = file(), more: object = {}) => {
    const answer = await did('Read', { file_path: 'a' }, { transcript_path: path, ...more })
    await run.app.transcripts.waitUntilSettled()
    return answer
  }
  const used = async () => (await events('usage_recorded')).map(({ data }) => [data.usage_id, data.input, data.grade])

  it('[REQ-HOOK-8] a path outside the folders is never opened, and its user is told once', async () => {
    await begin(BUDGET)
    const outside = join(home, 'elsewhere.jsonl')
    writeFileSync(outside, line('m1', 5000))
    symlinkSync(outside, join(home, '.claude/projects/-tree/link.jsonl'))
    writeFileSync(join(home, '.claude/projects/-tree/notes.txt'), line('m2', 5000))
    const first = await read(outside)
    expect(first).toMatchObject({ status: 200, body: { systemMessage: expect.stringContaining('does not read') } })
    expect((await read(outside)).body).toEqual({})
    for (const path of [
      '/etc/passwd',
      `${home}/.claude/projects/../../elsewhere.jsonl`,
      join(home, '.claude/projects/-tree/link.jsonl'),
      join(home, '.claude/projects/-tree/notes.txt'),
      'x'.repeat(100_000),
      `${file()}\0`,
    ])
      expect(await read(path)).toMatchObject({ status: 200 })
    expect(await used()).toEqual([])
    expect(run.faults).toEqual([])
  })

  it('[REQ-HOOK-9] usage is read on after each call, observed, and each answer counts once', async () => {
    await begin(BUDGET)
    appendFileSync(file(), line('m0', 900, (run.now ?? 0) - 3_600_000) + line('m1', 300) + line('m1', 300))
    await read()
    appendFileSync(file(), `${line('m1', 400) + line('m2', 500)}{"type": "assis`)
    await read()
    await read()
    expect(await used()).toEqual([
      ['m1', 300, 'observed'],
      ['m1', 400, 'observed'],
      ['m2', 500, 'observed'],
    ])
    const told = await run.call('POST', '/usage', agent, { input_tokens: 0, output_tokens: 0 })
    expect(told.body).toMatchObject({ tokens: { input: 900 }, usage: 'reported' })
  })

  it('[REQ-HOOK-9] a budget that a transcript passes is told with the next answer, once', async () => {
    await begin(BUDGET)
    appendFileSync(file(), line('m1', 1001))
    expect((await read()).body).toEqual({})
    const next = await read()
    expect(interruptIn(next)).toContain('Token budget exceeded: 1,001 / 1,000')
    expect((await read()).body).toEqual({})
    expect((await run.call('GET', '/prompt', agent)).body.kind).toBe('interrupt')
  })

  it('[REQ-HOOK-10] a lost, broken or forged cursor counts nothing twice', async () => {
    await begin(BUDGET)
    appendFileSync(file(), line('m1', 400) + line('m2', 500))
    await read()
    const cursors = join(run.stateDir, 'transcripts')
    expect(readdirSync(cursors)).toEqual(['T.json'])
    for (const content of [null, '{', 'null', '{"files": 7}', '{"files": {}}']) {
      rmSync(join(cursors, 'T.json'))
      if (content !== null) writeFileSync(join(cursors, 'T.json'), content)
      expect((await read()).body).toEqual({})
    }
    const { body } = await run.call('POST', '/usage', agent, { input_tokens: 0, output_tokens: 0 })
    expect(body).toMatchObject({ tokens: { input: 900 } })
    expect(run.faults).toEqual([])
  })

  it('[REQ-HOOK-10] the cursor survives a restart, and goes with the task', async () => {
    await begin(BUDGET)
    appendFileSync(file(), line('m1', 400))
    await read()
    const now = run.now
    run = await run.restart()
    run.now = now
    appendFileSync(file(), line('m2', 500))
    await read()
    expect(await used()).toHaveLength(2)
    await run.call('POST', '/tasks/T/cancel', run.operator, { reason: 'over' })
    await expect.poll(() => readdirSync(join(run.stateDir, 'transcripts'))).toEqual([])
  })

  it('[REQ-HOOK-9] a time in the future is now, and no time is now', async () => {
    await begin(BUDGET)
    writeFileSync(
      file(),
      line('m1', 600, Date.UTC(2099, 0, 1)) +
        `${JSON.stringify({ type: 'assistant', message: { id: 'm2', usage: { input_tokens: 600, output_tokens: 0 } } })}\n`,
    )
    await read()
    const times = (await events('usage_recorded')).map(({ data }) => data.occurred_at)
    expect(times).toEqual([run.now, run.now])
    expect(interruptIn(await read())).toContain('1,200 / 1,000')
  })

  it('[REQ-HOOK-9] usage of an earlier visit is recorded and does not count in this one', async () => {
    await begin(BUDGET)
    const earlier = run.now ?? 0
    run.now = earlier + 60_000
    for (const [target_phase, claims] of [
      ['PLAN', { again: true }],
      ['CODE', {}],
    ] as const)
      expect(
        (await run.call('POST', '/tasks/transition', agent, { task_id: 'T', target_phase, claims })).body.allowed,
      ).toBe(true)
    appendFileSync(file(), line('m1', 5000, earlier + 30_000) + line('m2', 900))
    await read()
    expect(await used()).toHaveLength(2)
    expect((await run.call('GET', '/prompt', agent)).body.kind).toBe('prompt')
  })

  it('[REQ-HOOK-9] agents inside the agent CLI count too', async () => {
    await begin(BUDGET)
    mkdirSync(join(home, '.claude/projects/-tree/s/subagents'), { recursive: true })
    appendFileSync(file(), line('m1', 600))
    appendFileSync(join(home, '.claude/projects/-tree/s/subagents/agent-a1.jsonl'), line('m2', 600))
    await read(file(), { agent_id: 'a1' })
    expect(await used()).toHaveLength(2)
  })

  it('[REQ-HOOK-9] many calls at once are read by one reader', async () => {
    await begin(BUDGET)
    for (let i = 0; i < 200; i += 1) appendFileSync(file(), line(`m${i}`, 1))
    await Promise.all(Array.from({ length: 40 }, () => did('Read', { file_path: 'a' }, { transcript_path: file() })))
    await run.app.transcripts.waitUntilSettled()
    expect(await used()).toHaveLength(200)
    expect(run.faults).toEqual([])
  })
})
