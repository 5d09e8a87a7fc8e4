import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sample } from '../depth.js'
import { PLAN, type Running, start } from '../http/harness.js'
import { ERAS, McpAgent, until } from './clients.js'

let server: Running
let token: string
let task: string

beforeEach(async () => {
  server = await start()
  token = await server.addAgent('ada')
  task = await server.addTask({ title: 'Sum up', description: 'Prices of a cart' })
})
afterEach(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

async function approve(id: unknown, digest: unknown): Promise<void> {
  const decided = await server.call('POST', `/approvals/${String(id)}/decision`, server.operator, {
    decision: 'approve',
    digest,
  })
  expect(decided.status, JSON.stringify(decided.body)).toBe(200)
}

/** From PLAN to TDD, with the operator's approval. */
async function plan(agent: McpAgent): Promise<Record<string, unknown>> {
  const asked = await agent.refused('request_transition', { target_phase: 'TDD', artifacts: { plan_document: PLAN } })
  expect(asked.structured).toMatchObject({ allowed: false, code: 'approval_pending' })
  const { id, digest } = asked.structured.pending_approval as { id: string; digest: string }
  await approve(id, digest)
  return agent.does('request_transition', { target_phase: 'TDD', artifacts: { plan_document: PLAN } })
}

describe.each(sample(ERAS, 1))('a client of $name', (era) => {
  it('[REQ-MCP-6] goes through the first phases of the tdd workflow with one token that never changes', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    const claimed = await agent.does('claim_task', { task_id: task })
    expect(claimed).toMatchObject({ phase: 'PLAN', prompt: expect.stringContaining('Sum up') })
    const tooEarly = await agent.refused('write_files', { path: 'tests/sum.test.js', content: 'x' })
    expect(tooEarly.structured).toMatchObject({
      code: 'forbidden_tool',
      detail: expect.stringContaining('not allowed in PLAN'),
      allowed_tools: expect.arrayContaining(['read_files']),
      next_step: expect.stringContaining('request TDD'),
    })
    expect(tooEarly.text).toMatch(
      /^Refused: write_files \[forbidden_tool\]\nRetry \(1\/3\): Called write_files \(not allowed in PLAN\)\. Allowed: /,
    )
    expect(tooEarly.text).toMatch(/\[forbidden_tool\]$/)
    expect(existsSync(join(server.workspace, 'tests'))).toBe(false)

    const blocked = await agent.refused('request_transition', { target_phase: 'TDD' })
    expect(blocked.structured).toMatchObject({ code: 'gate_blocked', allowed: false, phase: 'PLAN' })
    expect(blocked.text).toContain('[missing_artifact]')

    expect(await plan(agent)).toMatchObject({ allowed: true, phase: 'TDD', prompt: expect.stringContaining('failing') })
    await agent.does('write_files', { path: 'tests/sum.test.js', content: 'x' })
    expect(existsSync(join(server.workspace, 'tests/sum.test.js'))).toBe(true)
    expect((await agent.refused('write_files', { path: 'src/sum.js', content: 'x' })).structured.code).toBe(
      'constraint_violation',
    )
    expect(await agent.does('get_workflow_state')).toMatchObject({
      session_id: task,
      workflow_type: 'tdd',
      current_phase: 'TDD',
      completed_phases: ['PLAN'],
      checkpoints: { PLAN: 'passed', TDD: 'pending' },
      phase_artifacts: { PLAN: { plan_document: PLAN } },
    })
    await agent.close()
  })

  it('[REQ-MCP-7] is told on every transition that the list has changed, and nobody else is', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    const other = await McpAgent.connect(server.url, await server.addAgent('bob'), era)
    await agent.does('claim_task')
    await until(() => agent.changes === 1)
    await plan(agent)
    await until(() => agent.changes === 2)
    await server.call('POST', `/tasks/${task}/rewind`, server.operator, { to_phase: 'PLAN', reason: 'again' })
    await until(() => agent.changes === 3)
    expect(other.changes).toBe(0)
    await agent.close()
    await other.close()
  })

  it('[REQ-MCP-8] finds every tool of every phase in one list that does not change with the phase', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    const before = (await agent.client.listTools()).tools
    await agent.does('claim_task')
    const inPlan = (await agent.client.listTools(undefined, { cacheMode: 'bypass' } as never)).tools
    await plan(agent)
    const inTdd = (await agent.client.listTools(undefined, { cacheMode: 'bypass' } as never)).tools
    expect(inPlan).toEqual(before)
    expect(inTdd).toEqual(before)
    const names = before.map((tool) => tool.name)
    expect(names).toEqual(expect.arrayContaining(['request_transition', 'get_workflow_state', 'next', 'continue']))
    expect(names).toEqual(expect.arrayContaining(['read_files', 'bash', 'git_commit', 'ask_user_question']))
    expect(names).not.toContain('vote')
    expect(names).not.toContain('new_answer')
    expect(before.find((tool) => tool.name === 'git_commit')?.description).toBe(
      'Commit what this task changed, and nothing else. paths limits it to some of these files. Works in: COMPLETE.',
    )
    expect(before.find((tool) => tool.name === 'write_files')?.inputSchema).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { mode: { enum: ['w', 'a'] } },
    })
    await agent.close()
  })

  it('[REQ-MCP-9] reads its prompt, its contract and its status as resources, and is told when they change', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    await expect(agent.client.readResource({ uri: 'phaselock://task/prompt' })).rejects.toThrow('[no_active_task]')
    await agent.does('claim_task')
    const uris = (await agent.client.listResources()).resources.map((one) => one.uri)
    expect(uris).toEqual(['phaselock://task/prompt', 'phaselock://task/contract', 'phaselock://task/status'])
    const texts = await Promise.all(uris.map((uri) => textOf(agent, uri)))
    expect(texts[0]).toContain('Task: Sum up')
    expect(JSON.parse(texts[1] ?? '')).toMatchObject({ name: 'tdd', phases: expect.any(Array) })
    expect(JSON.parse(texts[2] ?? '')).toMatchObject({ current_phase: 'PLAN', task: { id: task } })
    await expect(agent.client.readResource({ uri: 'phaselock://task/secret' })).rejects.toThrow()
    await expect(agent.client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow()
    await agent.close()
  })

  it('[REQ-MCP-10] has a prompt for each phase that is open, the ones that are done included', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    expect((await agent.client.listPrompts()).prompts).toEqual([])
    await agent.does('claim_task')
    await plan(agent)
    const { prompts } = await agent.client.listPrompts(undefined, { cacheMode: 'bypass' } as never)
    expect(prompts.map((one) => one.name)).toEqual(['PLAN', 'TDD'])
    const text = async (name: string) => JSON.stringify(await agent.client.getPrompt({ name }))
    expect(await text('PLAN')).toContain('propose a plan')
    expect(await text('TDD')).toContain('see them fail')
    await expect(text('IMPL')).rejects.toThrow('There is no prompt "IMPL" now. Open phases: PLAN, TDD.')
    await agent.close()
  })

  it('[REQ-MCP-11] two clients of one agent work on the same task, each in its newest phase', async () => {
    const one = await McpAgent.connect(server.url, token, era)
    const two = await McpAgent.connect(server.url, token, era)
    await one.does('claim_task')
    expect((await two.does('claim_task')).task).toMatchObject({ id: task })
    await plan(one)
    await two.does('write_files', { path: 'tests/two.test.js', content: 'x' })
    await one.does('write_files', { path: 'tests/one.test.js', content: 'x' })
    await one.close()
    await two.close()
  })

  it('[REQ-MCP-11] a phase token works while its phase lasts, and answers to it carry the next one', async () => {
    const phaseToken = await server.claim('ada', token, task)
    const agent = await McpAgent.connect(server.url, phaseToken, era)
    expect((await agent.refused('claim_task')).structured.code).toBe('not_permitted')
    const moved = await plan(agent)
    expect(moved.phase_token).toBeTypeOf('string')
    const stale = await agent.refused('read_files', { path: 'a' })
    expect(stale.structured.code).toBe('token_stale')
    const next = await McpAgent.connect(server.url, String(moved.phase_token), era)
    await next.does('glob', { pattern: '**' })
    // Claimed elsewhere: the token was superseded.
    await server.claim('ada', token, task)
    expect((await next.refused('glob', { pattern: '**' })).structured.code).toBe('token_stale')
    await agent.close()
    await next.close()
  })

  it('[REQ-MCP-11] a client with the agent token is never given a phase token', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    const claimed = await agent.call('claim_task')
    const moved = await plan(agent)
    for (const answer of [claimed.structured, moved]) {
      expect(answer).not.toHaveProperty('phase_token')
      expect(answer.allowed_tools).toEqual(expect.arrayContaining(['read_files']))
    }
    expect(claimed.text).not.toContain('eyJ')
    await agent.close()
  })

  it('[REQ-MCP-12] an interrupt says which tool continues, wherever it is shown', async () => {
    const looping = await start({
      contract: `
name: looping
version: "1"
enforcement: { confinement: off, reconcile: off }
phases:
  - id: ONLY
    name: Only
    prompt: Do it.
    allowed_tools: [write_files]
    rules: [{ repeated_file_edit: { threshold: 2, window: 60 } }]
    required_artifacts: [{ type: note }]
`,
    })
    try {
      await looping.addTask()
      const agent = await McpAgent.connect(looping.url, await looping.addAgent('ada'), era)
      await agent.does('claim_task')
      const write = (content: string) => agent.does('write_files', { path: 'a.txt', content })
      await write('1')
      const second = await write('2')
      const shown = [
        JSON.stringify(second.interrupt),
        JSON.stringify(await agent.does('next')),
        await textOf(agent, 'phaselock://task/prompt'),
        JSON.stringify(await agent.client.getPrompt({ name: 'ONLY' })),
      ]
      for (const text of shown) {
        expect(text).toContain('Call the tool continue')
        expect(text).not.toContain('/api/v1')
      }
      expect(await agent.does('continue')).toMatchObject({ kind: 'prompt', text: 'Do it.' })
      await agent.close()
    } finally {
      await looping.stop()
    }
  })

  it('[REQ-MCP-12] a tool that fails, and one that the machine refuses, are results with their codes', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    await agent.does('claim_task')
    expect((await agent.refused('read_files', { path: 'nowhere.txt' })).structured).toMatchObject({
      code: 'tool_failed',
    })
    expect((await agent.refused('read_files', { path: '../../etc/passwd' })).structured.code).toBe(
      'constraint_violation',
    )
    expect((await agent.refused('grep', { pattern: '(' })).structured.code).toBe('invalid_regex')
    expect((await agent.refused('read_files', { path: 1 })).structured.code).toBe('invalid_request')
    writeFileSync(join(server.workspace, 'here.txt'), 'words\n')
    expect(await agent.does('read_files', { path: 'here.txt' })).toMatchObject({
      decision: 'allowed',
      result: { content: 'words\n' },
    })
    await agent.close()
  })
})

async function textOf(agent: McpAgent, uri: string): Promise<string> {
  const { contents } = await agent.client.readResource({ uri })
  const [first] = contents
  return first !== undefined && 'text' in first ? String(first.text) : ''
}
