import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ERAS, type Era, McpAgent } from '../mcp/clients.js'
import { type Answer, type Running, start } from './harness.js'

const SERVER = join(import.meta.dirname, '../tools/upstream/fixtures/server.mjs')
const CONTRACT = (mode = 'strict') => `
name: bound
version: "1"
phases:
  - {id: PLAN, allowed_tools: [read_files]}
  - id: CODE
    allowed_tools: [read_files, write_files, git_commit, files.echo]
    rules: [{repeated_command: {pattern: "npm test", threshold: 2, window: 60}}]
  - {id: DONE, allowed_tools: []}
mcp_servers: {files: {command: node, args: [server.mjs]}}
enforcement: {mode: ${mode}, confinement: best_effort, reconcile: off, denial_budget: 5}
`
const PREFIXES = ['mcp__phaselock__', 'mcp__plugin_phaselock_phaselock__'] as const
const [LEGACY, MODERN] = ERAS as unknown as readonly [Era, Era]

let run: Running
let agent: string
let uses = 0

afterEach(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

async function begin(mode = 'strict'): Promise<void> {
  run = await start({ contract: CONTRACT(mode) })
  cpSync(SERVER, join(run.workspace, 'server.mjs'))
  await run.addTask({ id: 'T' })
  agent = await run.addAgent('coder')
}

const send = (event: string, tool_name: string, id: string, more: object = {}): Promise<Answer> =>
  run.call('POST', '/hooks/claude-code', agent, {
    ...{ hook_event_name: event, cwd: run.workspace, tool_name, tool_input: {}, tool_use_id: id, ...more },
  })
const nextId = (): string => {
  uses += 1
  return `toolu_${uses}`
}
const asked = (tool: string, id = nextId()) => send('PreToolUse', tool, id)
const over = (tool: string, id: string) => send('PostToolUse', tool, id)
const decisionOf = ({ status, body }: Answer) => {
  const output = body.hookSpecificOutput as Record<string, string> | undefined
  return { status, decision: output?.permissionDecision, reason: output?.permissionDecisionReason ?? '' }
}
const contextOf = ({ body }: Answer) =>
  (body.hookSpecificOutput as Record<string, string> | undefined)?.additionalContext ?? ''
const taskNow = async () => (await run.call('GET', '/tasks/T', run.operator)).body
const eventTypes = async () =>
  ((await run.call('GET', '/tasks/T/timeline?limit=1000', run.operator)).body.events as { type: string }[]).map(
    ({ type }) => type,
  )

const LOOKALIKES = [
  ...['mcp__phaselock2__next', 'mcp__phaselock_evil__next', 'mcp__plugin_phaselock_other__next'],
  ...['mcp__plugin_other_phaselock__next', 'mcp__Phaselock__next', 'mcp__phaselock__NEXT', 'MCP__phaselock__next'],
  ...['mcp__phaselock___next', 'mcp___phaselock__next', 'mcp__phaselock__next_', 'mcp__phaselock__evil__next'],
  ...['xmcp__phaselock__next', 'mcp__phaselock_next', 'mcp__phaselock__', 'phaselock.next', 'next'],
  ...['mcp__phaselock__Bash', 'mcp__phaselock__bash', 'mcp__phaselock__run_anything', 'mcp__phaselock__files.echo'],
]

describe('tools of Phaselock itself in a session with hooks', () => {
  it('[REQ-HOOK-12] a name that only looks like one is no such tool, before a claim and after it', async () => {
    await begin()
    for (const name of LOOKALIKES)
      expect(decisionOf(await asked(name)), name).toMatchObject({
        ...{ status: 200, decision: 'deny', reason: expect.stringContaining('[no_active_task]') },
      })
    await run.claim('coder', agent, 'T')
    for (const name of LOOKALIKES.slice(0, 4))
      expect(decisionOf(await asked(name)), name).toMatchObject({
        ...{ decision: 'deny', reason: expect.stringContaining('[unknown_tool]') },
      })
  })

  it('[REQ-HOOK-12] a token that is not good any more opens none of them', async () => {
    await begin()
    const stale = await run.claim('coder', agent, 'T')
    await run.claim('coder', agent, 'T')
    agent = stale
    expect(decisionOf(await asked('mcp__phaselock__next'))).toMatchObject({
      ...{ decision: 'deny', reason: expect.stringContaining('[token_stale]') },
    })
    agent = 'x.y.z'
    expect(decisionOf(await asked('mcp__phaselock__claim_task'))).toMatchObject({ decision: 'deny' })
  })

  it('[REQ-HOOK-12] they pass before a claim and after it, and neither that nor a missing claim counts', async () => {
    await begin()
    for (const _ of Array(20)) {
      const refused = decisionOf(await send('PreToolUse', 'Read', 'r', { tool_input: { file_path: 'a' } }))
      expect(refused).toMatchObject({ decision: 'deny', reason: expect.stringContaining('[no_active_task]') })
      expect(refused.reason).toContain('claim_task of the MCP server phaselock')
    }
    for (const prefix of PREFIXES)
      for (const tool of ['claim_task', 'get_workflow_state', 'next', 'continue', 'write_files', 'files_echo'])
        expect(decisionOf(await asked(`${prefix}${tool}`)), tool).toMatchObject({ status: 200, decision: 'allow' })
    await run.claim('coder', agent, 'T')
    const before = await eventTypes()
    for (const prefix of PREFIXES)
      for (const tool of ['request_transition', 'complete_phase', 'write_files', 'files_echo'])
        expect(decisionOf(await asked(`${prefix}${tool}`)), tool).toMatchObject({ status: 200, decision: 'allow' })
    expect(await eventTypes()).toEqual(before)
    expect(await taskNow()).toMatchObject({ refusals: 0, status: 'active' })
  })

  it.each(ERAS)(
    '[REQ-HOOK-13] a bound session leaves PLAN with them, and each call is recorded once ($name)',
    async (era) => {
      await begin()
      const client = await McpAgent.connect(run.url, agent, era)
      const use = async (tool: string, args: Record<string, unknown> = {}) => {
        const [name, id] = [`mcp__phaselock__${tool}`, nextId()]
        expect(decisionOf(await asked(name, id)).decision).toBe('allow')
        await client.client.callTool({ name: tool, arguments: args, _meta: { 'claudecode/toolUseId': id } })
        expect(await over(name, id)).toMatchObject({ status: 200, body: {} })
      }
      await use('get_workflow_state')
      await use('claim_task')
      await use('write_files', { path: 'a', content: 'x' })
      await use('request_transition', { target_phase: 'CODE' })
      await client.close()
      expect(await taskNow()).toMatchObject({ phase: 'CODE', refusals: 1, status: 'active' })
      const types = await eventTypes()
      expect(types.filter((type) => type === 'tool_denied')).toHaveLength(1)
      expect(types).not.toContain('fact_recorded')
      expect(types).not.toContain('tool_allowed')
    },
  )

  it('[REQ-HOOK-13] a client that does not say which call it is has made the call, too', async () => {
    await begin()
    await run.claim('coder', agent, 'T')
    const client = await McpAgent.connect(run.url, agent, LEGACY)
    await asked('mcp__phaselock__get_workflow_state', 'toolu_plain')
    await client.does('get_workflow_state')
    await client.close()
    expect((await over('mcp__phaselock__get_workflow_state', 'toolu_plain')).body).toEqual({})
    expect(await taskNow()).toMatchObject({ status: 'active' })
  })

  it('[REQ-HOOK-14] another server under the name of Phaselock parks the task with its first answer', async () => {
    await begin()
    await run.claim('coder', agent, 'T')
    const client = await McpAgent.connect(run.url, agent, MODERN)
    await asked('mcp__phaselock__write_files', 'toolu_fake')
    // A real call beside it does not stand in for the one that went elsewhere.
    await client.client.callTool({
      ...{ name: 'get_workflow_state', arguments: {}, _meta: { 'claudecode/toolUseId': 'toolu_real' } },
    })
    await client.close()
    const told = await over('mcp__phaselock__write_files', 'toolu_fake')
    expect(contextOf(told)).toContain('agent coder made no such call to Phaselock')
    expect(contextOf(told)).toContain('phaselock task resume T')
    expect(await taskNow()).toMatchObject({
      ...{ status: 'parked', parked_reason: expect.stringContaining('mcp__phaselock__write_files') },
    })
    expect(decisionOf(await send('PreToolUse', 'Read', 'r', { tool_input: { file_path: 'a' } })).decision).toBe('deny')
  })

  it('[REQ-HOOK-14] without a task, and in advisory mode, such an answer is told and recorded', async () => {
    await begin('advisory')
    const fake = async (): Promise<void> => {
      const id = nextId()
      await asked('mcp__phaselock__next', id)
      expect(contextOf(await over('mcp__phaselock__next', id))).toContain('another program')
    }
    await fake()
    await run.claim('coder', agent, 'T')
    await fake()
    expect(await taskNow()).toMatchObject({ status: 'active' })
    const { body } = await run.call('GET', '/audit/query?type=request_refused&limit=100', run.operator)
    const codes = (body.events as { data: { code: string } }[]).map(({ data }) => data.code)
    expect(codes.filter((code) => code === 'enforcement_not_live')).toHaveLength(2)
  })

  it('[REQ-HOOK-14] a call that failed on its way accuses nobody', async () => {
    await begin()
    await run.claim('coder', agent, 'T')
    await asked('mcp__phaselock__next', 'toolu_lost')
    expect(await send('PostToolUseFailure', 'mcp__phaselock__next', 'toolu_lost')).toMatchObject({
      status: 200,
      body: {},
    })
    expect(await taskNow()).toMatchObject({ status: 'active' })
  })

  it('[REQ-HOOK-15] an interrupt names the tool with which the session goes on', async () => {
    await begin()
    const token = await run.claim('coder', agent, 'T')
    await run.call('POST', '/tasks/transition', token, { task_id: 'T', target_phase: 'CODE' })
    const told = await Promise.all(
      ['one', 'two'].map((id) => send('PostToolUse', 'Bash', id, { tool_input: { command: 'npm test' } })),
    )
    const text = told.map(contextOf).join('')
    expect(text).toContain('- Call the tool continue of the MCP server phaselock')
    expect(text).not.toContain('Run: phaselock continue')
    expect(decisionOf(await asked('mcp__phaselock__continue')).decision).toBe('allow')
  })
})
