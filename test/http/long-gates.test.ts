import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentClient } from '../../sdk/typescript/src/index.js'
import { isFullDepth } from '../depth.js'
import { ERAS, McpAgent } from '../mcp/clients.js'
import { type Answer, type Running, start } from './harness.js'

const SECONDS = 4
const WITHIN_MS = 700
const gate = (run: string) =>
  `[{id: done, type: validation, blockers: [{check: command_succeeds, run: "${run}", message: Slow}]}]`
const CONTRACT = `
name: long
version: "1"
commands: {tests: {run: "sleep 2; echo done"}}
phases:
  - {id: WORK, allowed_tools: [read_files, run_tests], gates: ${gate(`sleep ${SECONDS}`)}}
  - {id: NEXT, allowed_tools: [read_files], gates: ${gate(`sleep ${SECONDS}; false`)}}
  - {id: DONE, allowed_tools: []}
transitions: [{from: WORK, to: NEXT, when: work_complete}, {from: NEXT, to: DONE, when: next_complete}]
enforcement: {denial_budget: 5}
`

describe('a gate that takes longer than clients wait', () => {
  let run: Running
  let agent = ''
  let token = ''
  beforeEach(async () => {
    run = await start({ contract: CONTRACT, answerWithinMs: WITHIN_MS })
    await run.addTask({ id: 't' })
    agent = await run.addAgent('a')
    token = await run.claim('a', agent, 't')
  })
  afterEach(() => run.stop())
  const claims = (phase: string) => ({ claims: { [`${phase}_complete`]: true } })
  const move = (target_phase: string, phase: string): Promise<Answer> =>
    run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, ...claims(phase) })
  const counts = async (): Promise<Record<string, number>> => {
    const { events } = (await run.call('GET', '/tasks/t/timeline', run.operator)).body as { events: { type: string }[] }
    const count = (type: string) => events.filter((event) => event.type === type).length
    return Object.fromEntries(
      ['transition_requested', 'gate_blocked', 'gate_passed'].map((type) => [type, count(type)]),
    )
  }
  const again = async (ask: () => Promise<Answer>): Promise<{ answer: Answer; asked: number }> => {
    for (let asked = 1; ; asked += 1) {
      const answer = await ask()
      if (answer.body.checking !== true) return { answer, asked }
      expect(answer).toMatchObject({ status: 200, body: { phase: expect.any(String) } })
    }
  }

  it('[REQ-LONGGATE-1] over REST it answers checking, and asking again joins the run and counts as nothing', async () => {
    const passed = await again(() => move('NEXT', 'work'))
    expect(passed.asked).toBeGreaterThan(1)
    expect(passed.answer.body).toMatchObject({ allowed: true, phase: 'NEXT' })
    // The answer can be had again with the old token: the new one may have been lost.
    expect((await move('NEXT', 'work')).body).toMatchObject({ allowed: true, phase_token: expect.any(String) })
    expect(await counts()).toMatchObject({ transition_requested: 1, gate_passed: 1, gate_blocked: 0 })
    token = String(passed.answer.body.phase_token)
    const blocked = await again(() => move('DONE', 'next'))
    expect(blocked.answer.body).toMatchObject({ allowed: false, retry: { attempt: 1 } })
    expect(await counts()).toMatchObject({ transition_requested: 2, gate_passed: 1, gate_blocked: 1 })
  })

  it.runIf(isFullDepth())(
    '[REQ-LONGGATE-1] another request meanwhile is a conflict, one that hands in nothing joins',
    async () => {
      expect((await move('NEXT', 'work')).body).toMatchObject({ allowed: false, checking: true })
      const other = { task_id: 't', target_phase: 'NEXT', artifacts: { plan_document: {} }, ...claims('work') }
      expect(await run.call('POST', '/tasks/transition', token, other)).toMatchObject({ status: 409 })
      const bare = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'NEXT' })
      expect(bare.body).toMatchObject({ allowed: false, checking: true })
      expect((await again(() => move('NEXT', 'work'))).answer.body).toMatchObject({ allowed: true })
    },
  )

  it.runIf(isFullDepth())('[REQ-LONGGATE-2] so do /prompt/next and completing a phase', async () => {
    const next = () => run.call('POST', '/prompt/next', token, { task_id: 't', ...claims('work') })
    const passed = await again(next)
    expect(passed.asked).toBeGreaterThan(1)
    expect(passed.answer.body).toMatchObject({ kind: 'prompt', phase: 'NEXT' })
    token = String(passed.answer.body.phase_token)
    const complete = () => run.call('POST', '/phases/NEXT/complete', token, { task_id: 't', evidence: {} })
    const blocked = await again(complete)
    expect(blocked.asked).toBeGreaterThan(1)
    expect(blocked.answer.body).toMatchObject({ blockers: [{ check: 'command_succeeds' }] })
    expect(await counts()).toMatchObject({ gate_passed: 1, gate_blocked: 1 })
  })

  it('[REQ-LONGGATE-2] over MCP no client breaks', async () => {
    const client = await McpAgent.connect(run.url, agent, ERAS[1] as (typeof ERAS)[number])
    const ask = { target_phase: 'NEXT', ...claims('work') }
    expect(await client.does('request_transition', ask)).toMatchObject({ checking: true })
    let answer = await client.does('request_transition', ask)
    while (answer.checking === true) answer = await client.does('request_transition', ask)
    expect(answer).toMatchObject({ allowed: true, phase: 'NEXT' })
    expect(await counts()).toMatchObject({ transition_requested: 1 })
    await client.close()
  })

  it.runIf(isFullDepth())(
    '[REQ-LONGTOOL-1] so does run_tests, and asking again joins the run and counts as nothing',
    async () => {
      const ask = () => run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'run_tests', args: {} })
      const { answer, asked } = await again(ask)
      expect(asked).toBeGreaterThan(1)
      expect(answer.body).toMatchObject({ result: { last_lines: ['done'] } })
      const { events } = (await run.call('GET', '/tasks/t/timeline', run.operator)).body as {
        events: { type: string }[]
      }
      expect(events.filter(({ type }) => type === 'tool_allowed')).toHaveLength(1)
    },
  )

  it.runIf(isFullDepth())('[REQ-LONGGATE-3] the clients wait for it by themselves', async () => {
    const client = new AgentClient({ url: run.url, token: agent })
    await client.claimTask({ taskId: 't' })
    expect(await client.requestTransition('NEXT', {}, claims('work'))).toMatchObject({ phase: 'NEXT' })
    client.close()
    expect(await counts()).toMatchObject({ transition_requested: 1, gate_passed: 1 })
    const python = `
import sys
sys.path.insert(0, ${JSON.stringify(join(import.meta.dirname, '../../python/src'))})
from orchestrator_agent_sdk import AgentClient, TransitionBlocked
client = AgentClient(${JSON.stringify(run.url)}, ${JSON.stringify(agent)})
client.claim_task(task_id="t")
try:
    client.request_transition("DONE", claims={"next_complete": True})
except TransitionBlocked as blocked:
    print("blocked", len(blocked.blockers))
`
    expect(await output('python3', ['-c', python])).toBe('blocked 1\n')
    expect(await counts()).toMatchObject({ transition_requested: 2, gate_blocked: 1 })
  })
})

function output(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.stderr.on('data', (chunk) => (text += chunk))
    child.once('error', reject)
    child.once('close', () => resolve(text))
  })
}
