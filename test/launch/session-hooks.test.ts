import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SessionHooks } from '../../src/cli/launch/session-hooks.js'
import { SessionServer } from '../../src/cli/launch/session-server.js'
import { SessionShim } from '../../src/cli/launch/session-shim.js'
import type { Json } from '../../src/core/json.js'
import { CLAUDE_CODE_ANSWERS } from '../../src/hooks/claude-code-answers.js'
import { type Running, start } from '../http/harness.js'

const CONTRACT = `
name: hooked
version: "1"
phases:
  - {id: PLAN, prompt: Plan it., allowed_tools: [read_files]}
  - {id: DONE, prompt: Over., allowed_tools: []}
enforcement: {confinement: off, reconcile: off, denial_budget: 50}
`
let run: Running
let shim: SessionShim
let hooks: SessionHooks
let makeHooks: (endsUndecided: boolean) => SessionHooks

beforeEach(async () => {
  run = await start({ contract: CONTRACT })
  const token = await run.addAgent('claude-00112233')
  const task = await run.addTask({ title: 'Sum up' })
  await run.claim('claude-00112233', token, task)
  makeHooks = (endsUndecided) =>
    new SessionHooks({
      ...{ server: new SessionServer({ url: run.url, token: run.operator }), token, workspace: run.workspace },
      ...{ path: '/hooks/claude-code', answers: CLAUDE_CODE_ANSWERS, endsUndecided, ready: async () => undefined },
    })
  hooks = makeHooks(false)
  shim = await SessionShim.open({
    '/hooks': {
      ...{ methods: ['POST'], takesText: true, answer: (body, signal) => hooks.answer(body, signal) },
      refuse: (status) => new Response(null, { status }),
    },
  })
})
afterEach(async () => {
  await shim.close()
  expect(run.faults).toEqual([])
  await run.stop()
})

async function send(body: unknown, secret = shim.secret): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${shim.url}/hooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}
const about = (tool_name: string, tool_use_id: string) => ({
  ...{ hook_event_name: 'PreToolUse', cwd: run.workspace, tool_name, tool_use_id, tool_input: { file_path: 'a' } },
})
const decisionOf = ({ body }: { body: Record<string, unknown> }) => body.hookSpecificOutput

describe('the hooks of a session', () => {
  it('[REQ-NATIVE-8] without the secret, or with an agent token in its place, nothing is decided', async () => {
    const token = await run.addAgent('other')
    for (const secret of ['', 'x', token, run.operator, `${shim.secret}x`])
      expect(await send(about('Read', 'u1'), secret)).toEqual({ status: 401, body: {} })
    expect(shim.refused).toBe(5)
  })

  it('[REQ-NATIVE-8] what cannot be read is refused in the words of the CLI, and recorded', async () => {
    for (const body of ['{"hook_event_name": "PreToolUse", "tool', 'hello', '[]', '7', { hook_event_name: 9 }])
      expect(decisionOf(await send(body)), String(body)).toMatchObject({ permissionDecision: 'deny' })
    expect((await send({ hook_event_name: 'Unheard', cwd: '/' })).body).toMatchObject({ decision: 'block' })
    const { body } = await run.call('GET', '/audit/query?type=request_refused&limit=100', run.operator)
    expect((body.events as unknown[]).length).toBeGreaterThan(0)
    expect(decisionOf(await send(about('Read', 'u1')))).toMatchObject({ permissionDecision: 'allow' })
  })

  it('[REQ-NATIVE-10] a call of an MCP tool that no hook was asked about is refused', async () => {
    const call = (id: Json | undefined) =>
      hooks.findProblem({ name: 'next', _meta: id === undefined ? {} : { 'claudecode/toolUseId': id } })
    for (const id of ['u2', undefined, 7, null]) expect(call(id)).toContain('[enforcement_not_live]')
    expect(hooks.findProblem({ name: 'next' })).toContain('[enforcement_not_live]')
    await send(about('mcp__phaselock__next', 'u2'))
    expect(call('u2')).toBeNull()
    expect(call('u3')).toContain('[enforcement_not_live]')
  })

  it('[REQ-NATIVE-10] where a failing hook lets a tool run, a call that no hook decided ends the session', async () => {
    let ended = 0
    hooks = makeHooks(true)
    hooks.onUndecided = () => {
      ended += 1
    }
    await send(about('Read', 'u1'))
    await send({ ...about('Read', 'u1'), hook_event_name: 'PostToolUse', tool_response: {} })
    expect(ended).toBe(0)
    await send({ ...about('Read', 'u2'), hook_event_name: 'PostToolUse', tool_response: {} })
    expect(ended).toBe(1)
    expect(decisionOf(await send(about('Read', 'u3')))).toMatchObject({ permissionDecision: 'deny' })
    expect(hooks.findProblem({ name: 'next', _meta: { callId: 'u1' } })).toContain('[enforcement_not_live]')
  })

  it('[REQ-NATIVE-9] the agent counts as one with a shell before its CLI is opened', async () => {
    await hooks.announce()
    expect(run.app.ledger.registry.access.boundByHooks.has('claude-00112233')).toBe(true)
  })

  it('[REQ-NATIVE-10] a dead agent is refused, and so is everything that another server answers', async () => {
    await run.call('POST', '/agents/claude-00112233/revoke', run.operator, { reason: 'over' })
    expect(decisionOf(await send(about('Read', 'u1')))).toMatchObject({ permissionDecision: 'deny' })
    await expect(hooks.announce()).rejects.toThrow(/do not reach Phaselock/)
  })
})
