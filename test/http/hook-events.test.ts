import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: hooked
version: "1"
phases:
  - id: PLAN
    prompt: ${'Plan it well. '.repeat(1000)}
    allowed_tools: [read_files, ask_user_question]
  - id: CODE
    prompt: Write tests.
    allowed_tools: [read_files, write_files, edit_files, bash, spawn_agent]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
  - {id: DONE, prompt: Over., allowed_tools: []}
transitions: [{from: PLAN, to: CODE}, {from: CODE, to: DONE}]
enforcement: {confinement: best_effort, denial_budget: 4}
`

let run: Running
let agent: string
let uses = 0
afterEach(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

async function begin(phase: 'PLAN' | 'CODE' = 'CODE'): Promise<void> {
  run = await start({ contract: CONTRACT })
  mkdirSync(join(run.workspace, 'src'))
  writeFileSync(join(run.workspace, 'src/main.js'), 'old\n')
  await run.addTask({ id: 'T', title: 'Sum up' })
  agent = await run.addAgent('coder')
  const token = await run.claim('coder', agent, 'T')
  if (phase === 'CODE') await run.call('POST', '/tasks/transition', token, { task_id: 'T', target_phase: 'CODE' })
}

const send = (event: string, more: object = {}, token: string | null = agent): Promise<Answer> =>
  run.call('POST', '/hooks/claude-code', token, {
    ...{ hook_event_name: event, session_id: 's1', cwd: run.workspace, ...more },
  })
const contextOf = ({ body }: Answer): string =>
  String((body.hookSpecificOutput as Record<string, unknown> | undefined)?.additionalContext ?? '')
const decisionOf = ({ body }: Answer) => body.hookSpecificOutput as Record<string, string> | undefined
const ask = (tool_name: string, tool_input: object, more: object = {}) => {
  uses += 1
  return send('PreToolUse', { tool_name, tool_input, tool_use_id: `u${uses}`, ...more })
}
/** A call of Claude Code's own tool: asked about, made, reported. */
async function make(tool_name: string, tool_input: object, work: () => void): Promise<Answer> {
  expect(decisionOf(await ask(tool_name, tool_input))?.permissionDecision).toBe('allow')
  const tool_use_id = `u${uses}`
  work()
  return send('PostToolUse', { tool_name, tool_input, tool_use_id })
}
const put = (path: string, text: string) => (): void => {
  mkdirSync(join(run.workspace, path, '..'), { recursive: true })
  writeFileSync(join(run.workspace, path), text)
}
const timeline = async (type: string) =>
  (
    (await run.call('GET', '/tasks/T/timeline?limit=1000', run.operator)).body.events as {
      type: string
      data: Record<string, unknown>
    }[]
  ).filter((event) => event.type === type)
const taskNow = async () => (await run.call('GET', '/tasks/T', run.operator)).body
const leave = () => run.call('POST', '/tasks/transition', agent, { task_id: 'T', target_phase: 'DONE' })

describe('changes of native calls', () => {
  it('[REQ-NATIVE-2] a command that writes where the phase does not allow it is named at once, and the gate stays closed', async () => {
    await begin()
    const command = 'echo x > src/main.js'
    const told = contextOf(await make('Bash', { command }, put('src/main.js', 'x\n')))
    expect(told).toContain(command)
    expect(told).toContain('src/main.js')
    expect(told).toContain('[unledgered_change]')
    const [found, ...more] = await timeline('unledgered_change_found')
    expect(found?.data).toMatchObject({ paths: ['src/main.js'], by: expect.stringContaining(command), counted: true })
    expect(more).toEqual([])
    // It is told once, not with every later call.
    expect(contextOf(await make('Bash', { command: 'true' }, () => undefined))).toBe('')
    expect(JSON.stringify((await leave()).body)).toContain('Changed without an allowed call: src/main.js')
    await make('Bash', { command: 'git checkout src/main.js' }, put('src/main.js', 'old\n'))
    expect((await leave()).body).toMatchObject({ allowed: true })
  })

  it('[REQ-NATIVE-2] commands that go on doing so park the task', async () => {
    await begin()
    for (let count = 1; count <= 4; count += 1)
      await make('Bash', { command: `echo ${count} > src/main.js` }, put('src/main.js', `${count}\n`))
    expect(await taskNow()).toMatchObject({ status: 'parked' })
    expect(decisionOf(await ask('Read', { file_path: 'src/main.js' }))?.permissionDecision).toBe('deny')
  })

  it('[REQ-NATIVE-3] what the phase allows is explained by the call that made it', async () => {
    await begin()
    await make('Bash', { command: 'echo 1 > tests/a.js' }, put('tests/a.js', '1\n'))
    await make('Write', { file_path: join(run.workspace, 'tests/b.js'), content: '2\n' }, put('tests/b.js', '2\n'))
    const facts = (await timeline('fact_recorded')).map(({ data }) => data.changes)
    expect(facts).toMatchObject([[{ path: 'tests/a.js', kind: 'created' }], [{ path: 'tests/b.js', kind: 'created' }]])
    expect(await timeline('unledgered_change_found')).toEqual([])
  })

  it('[REQ-NATIVE-3] a report explains nothing that the phase does not allow, and no other file', async () => {
    await begin()
    put('src/main.js', 'sneaked\n')()
    await send('PostToolUse', {
      ...{ tool_name: 'Write', tool_use_id: 'forged', tool_input: { file_path: 'src/main.js', content: 'sneaked\n' } },
    })
    expect((await timeline('fact_recorded')).map(({ data }) => data.changes)).toEqual([undefined])
    expect((await leave()).body).toMatchObject({ allowed: false })
  })

  it('[REQ-NATIVE-2] a change between two calls is found with the next, and not laid at its door', async () => {
    await begin()
    put('src/main.js', 'later\n')()
    await make('Bash', { command: 'true' }, () => undefined)
    const [found] = await timeline('unledgered_change_found')
    expect(found?.data.by).not.toContain('true')
    expect(found?.data).toMatchObject({ by: expect.stringContaining('between two calls'), counted: false })
  })
})

describe('the life of a session', () => {
  it('[REQ-NATIVE-4] a session, a prompt and a subagent are told the task in at most 2,000 tokens', async () => {
    await begin('PLAN')
    for (const [event, more] of [
      ['SessionStart', { source: 'startup' }],
      ['SessionStart', { source: 'compact' }],
      ['SessionStart', { source: 'clear', session_id: 's2' }],
      ['UserPromptSubmit', { prompt: 'go on' }],
      ['SubagentStart', { agent_id: 'a1', agent_type: 'Explore' }],
    ] as const) {
      const answer = await send(event, more)
      const text = contextOf(answer)
      expect(answer.body.hookSpecificOutput).toMatchObject({ hookEventName: event })
      for (const part of ['task T', 'Sum up', 'phase PLAN', 'read_files', 'Next legal step: ', 'Plan it well.'])
        expect(text).toContain(part)
      expect(text.length).toBeLessThanOrEqual(6000)
    }
    expect(contextOf(await send('SubagentStart', { agent_id: 'a1' }))).toContain('You are a subagent')
  })

  it('[REQ-NATIVE-4] without a task the model is told how to get one, and a dead token is refused', async () => {
    await begin('PLAN')
    const other = await run.addAgent('other')
    expect(contextOf(await send('SessionStart', {}, other))).toContain('claim_task')
    expect((await send('UserPromptSubmit', {}, 'x.y.z')).body).toMatchObject({ decision: 'block' })
    expect((await send('Stop', {}, 'x.y.z')).body).toMatchObject({ continue: true })
  })

  it('[REQ-NATIVE-5] an unfinished task keeps its agent from ending twice, then it is parked', async () => {
    await begin()
    for (const _ of [1, 2]) {
      const { body } = await send('Stop', { stop_hook_active: false })
      expect(body).toMatchObject({ decision: 'block', reason: expect.stringContaining('Task T is not finished') })
    }
    expect((await send('Stop', { stop_hook_active: true })).body).toMatchObject({ continue: true })
    expect(await taskNow()).toMatchObject({ status: 'parked' })
    expect((await send('Stop')).body).toEqual({ continue: true })
  })

  it('[REQ-NATIVE-5] an agent that waits for a person may end, and a new prompt counts from the start', async () => {
    await begin('PLAN')
    await send('Stop')
    await send('Stop')
    await send('UserPromptSubmit', { prompt: 'hello' })
    expect((await send('Stop')).body).toMatchObject({ decision: 'block' })
    await run.call('POST', '/tools/execute', agent, {
      ...{ task_id: 'T', tool_name: 'ask_user_question', args: { question: 'Which currency?' } },
    })
    for (const _ of [1, 2, 3]) expect((await send('Stop')).body).toEqual({ continue: true })
    expect(await taskNow()).toMatchObject({ status: 'active' })
  })

  it('[REQ-NATIVE-5] a subagent ends freely, unless it leaves changes behind', async () => {
    await begin()
    expect((await send('SubagentStop', { agent_id: 'a1' })).body).toEqual({ continue: true })
    put('src/main.js', 'by a subagent\n')()
    expect((await send('SubagentStop', { agent_id: 'a1' })).body).toMatchObject({
      ...{ decision: 'block', reason: expect.stringContaining('src/main.js') },
    })
    expect((await send('SubagentStop', { agent_id: 'a1' })).body).toEqual({ continue: true })
  })

  it('[REQ-NATIVE-6] the end of a session interrupts its task, which goes on with the next call', async () => {
    await begin()
    expect((await send('SessionEnd', { reason: 'clear' })).body).toEqual({ continue: true })
    expect(await taskNow()).toMatchObject({ status: 'active' })
    expect((await send('SessionEnd', { reason: 'prompt_input_exit' })).body).toEqual({ continue: true })
    expect(await taskNow()).toMatchObject({ status: 'interrupted' })
    expect((await timeline('agent_dropped'))[0]?.data.reason).toContain('prompt_input_exit')
    expect(decisionOf(await ask('Read', { file_path: 'src/main.js' }))?.permissionDecision).toBe('allow')
    expect(await taskNow()).toMatchObject({ status: 'active' })
  })

  it('[REQ-NATIVE-6] changed settings are refused and recorded, and compaction goes on', async () => {
    await begin()
    for (const source of ['user_settings', 'project_settings', 'local_settings', 'x'.repeat(5000), ''])
      expect((await send('ConfigChange', { source, file_path: '/home/a/.claude/settings.json' })).body).toMatchObject({
        ...{ decision: 'block', reason: expect.stringContaining('could remove its hooks') },
      })
    const { body } = await run.call('GET', '/audit/query?type=request_refused&limit=100', run.operator)
    const details = (body.events as { data: { detail: string } }[]).map(({ data }) => data.detail)
    expect(details.filter((detail) => detail.includes('user_settings'))).toHaveLength(1)
    expect((await send('PreCompact', { trigger: 'auto' })).body).toEqual({ continue: true })
  })

  it('[REQ-NATIVE-7] a subagent works, and leaves no phase', async () => {
    await begin()
    const inside = { agent_id: 'a1', agent_type: 'general' }
    expect(decisionOf(await ask('Agent', { prompt: 'look' }))?.permissionDecision).toBe('allow')
    expect(decisionOf(await ask('Read', { file_path: 'src/main.js' }, inside))?.permissionDecision).toBe('allow')
    expect(decisionOf(await ask('Write', { file_path: 'src/main.js', content: '' }, inside))?.permissionDecision).toBe(
      'deny',
    )
    for (const prefix of ['mcp__phaselock__', 'mcp__plugin_phaselock_phaselock__']) {
      for (const tool of ['request_transition', 'complete_phase', 'next', 'claim_task'])
        expect(decisionOf(await ask(`${prefix}${tool}`, {}, inside))?.permissionDecision, tool).toBe('deny')
      expect(decisionOf(await ask(`${prefix}get_workflow_state`, {}, inside))?.permissionDecision).toBe('allow')
      expect(decisionOf(await ask(`${prefix}request_transition`, {}))?.permissionDecision).toBe('allow')
    }
  })

  it('[REQ-NATIVE-8] calls of another session are refused; a new conversation of the same one is not', async () => {
    await begin()
    const read = (session_id: string) => ask('Read', { file_path: 'src/main.js' }, { session_id })
    await send('SessionStart', { source: 'startup' })
    expect(decisionOf(await read('s1'))?.permissionDecision).toBe('allow')
    expect(decisionOf(await read('elsewhere'))).toMatchObject({
      ...{ permissionDecision: 'deny', permissionDecisionReason: expect.stringContaining('[token_mismatch]') },
    })
    await send('SessionStart', { source: 'clear', session_id: 's2' })
    expect(decisionOf(await read('s2'))?.permissionDecision).toBe('allow')
    rmSync(join(run.workspace, 'src'), { recursive: true })
  })
})
