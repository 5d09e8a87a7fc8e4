import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentClient } from '../../sdk/typescript/src/index.js'
import type { Served } from '../e2e/process.js'
import { makeRepository } from '../e2e/projects.js'
import { implementation, testFiles, Walker } from '../e2e/walker.js'
import { ERAS, McpAgent } from '../mcp/clients.js'
import { type Answer, type Running, start } from './harness.js'

const SECONDS = 3
const WITHIN_MS = 700
/** What an answer may take beyond the time it is given: the machine is shared. */
const SLACK_MS = 1800
const PYTHON = join(import.meta.dirname, '../../python/src')
const CONTRACT = `
name: long
version: "1"
commands: {tests: {run: "sleep ${SECONDS}; cat said"}}
phases:
  - {id: WORK, allowed_tools: [read_files, write_files, run_tests]}
  - {id: DONE, allowed_tools: []}
enforcement: {lease_seconds: 2}
`

describe('tests that an agent runs and that take longer than clients wait', () => {
  let run: Running
  let agent = ''
  let token = ''
  beforeEach(async () => {
    run = await start({ contract: CONTRACT, answerWithinMs: WITHIN_MS })
    await run.addTask({ id: 't' })
    agent = await run.addAgent('a')
    token = await run.claim('a', agent, 't')
    await use('write_files', { path: 'said', content: 'first\n' })
  })
  afterEach(() => run.stop())

  async function use(tool_name: string, args: object = {}, more: object = {}): Promise<Answer> {
    const from = performance.now()
    const answer = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args, ...more })
    expect(performance.now() - from).toBeLessThan(WITHIN_MS + SLACK_MS)
    return answer
  }
  async function finished(ask: () => Promise<Answer>): Promise<{ body: Answer['body']; asked: number }> {
    for (let asked = 1; ; asked += 1) {
      const { status, body } = await ask()
      expect(status, JSON.stringify(body)).toBe(200)
      if (body.checking !== true) return { body, asked }
    }
  }
  const count = async (type: string): Promise<number> => {
    const { events } = (await run.call('GET', '/tasks/t/timeline', run.operator)).body as {
      events: { type: string }[]
    }
    return events.filter((event) => event.type === type && JSON.stringify(event).includes('"run_tests"')).length
  }

  it('[REQ-LONGTOOL-1] run_tests answers checking, and the same call joins the run and counts as nothing', async () => {
    expect((await use('run_tests')).body).toMatchObject({
      checking: true,
      decision: 'allowed',
      result: null,
      phase: 'WORK',
      next_step: expect.stringContaining('Call run_tests again with the same arguments'),
    })
    const { body, asked } = await finished(() => use('run_tests'))
    expect(asked).toBeGreaterThan(1)
    expect(body).toMatchObject({ decision: 'allowed', result: { last_lines: ['first'] } })
    expect([await count('tool_allowed'), await count('tool_finished')]).toEqual([1, 1])
    // Once the answer was had, the same call is a new one.
    expect((await use('run_tests')).body).toMatchObject({ checking: true })
    expect(await count('tool_allowed')).toBe(2)
  })

  it('[REQ-LONGTOOL-1] the answer is about the tree as it is: after a change the tests run again', async () => {
    expect((await use('run_tests')).body).toMatchObject({ checking: true })
    await use('write_files', { path: 'said', content: 'second\n' })
    const { body } = await finished(() => use('run_tests'))
    expect(body).toMatchObject({ result: { last_lines: ['second'] } })
    expect(await count('tool_allowed')).toBe(2)
  })

  it('[REQ-LONGTOOL-1] an answer that was lost is given again under its key, and the lease does not end meanwhile', async () => {
    const keyed = () => use('run_tests', {}, { idempotency_key: 'one' })
    const { body, asked } = await finished(keyed)
    expect(asked).toBeGreaterThan(1)
    expect((await keyed()).body).toMatchObject({ result: body.result as object })
    expect(await count('tool_allowed')).toBe(1)
    expect((await run.call('GET', '/tasks/t', run.operator)).body).toMatchObject({ status: 'active', agent_id: 'a' })
  })

  it('[REQ-LONGTOOL-2] over MCP no client breaks, and batches end with the call that still runs', async () => {
    const client = await McpAgent.connect(run.url, agent, ERAS[1] as (typeof ERAS)[number])
    let answer = await client.does('run_tests', {})
    expect(answer).toMatchObject({ checking: true })
    while (answer.checking === true) answer = await client.does('run_tests', {})
    expect(answer).toMatchObject({ result: { last_lines: ['first'] } })
    await client.close()
    const calls = ['read_files', 'run_tests', 'read_files'].map((tool_name) => ({
      tool_name,
      args: tool_name === 'run_tests' ? {} : { paths: ['said'] },
    }))
    const batch = await run.call('POST', '/tools/batch', token, { task_id: 't', calls })
    expect(batch.body.results).toMatchObject([{ tool_name: 'read_files' }, { tool_name: 'run_tests', checking: true }])
    expect(batch.body.results).toHaveLength(2)
  })

  it('[REQ-LONGTOOL-3] the clients wait for it by themselves', async () => {
    const client = new AgentClient({ url: run.url, token: agent })
    await client.claimTask({ taskId: 't' })
    expect(await client.useTool('run_tests')).toMatchObject({ result: { last_lines: ['first'] } })
    const { results } = await client.batch([
      { tool_name: 'run_tests', args: {} },
      { tool_name: 'read_files', args: { paths: ['said'] } },
    ])
    expect(results).toMatchObject([{ result: { last_lines: ['first'] } }, { result: {} }])
    client.close()
    const program = `
import sys
sys.path.insert(0, ${JSON.stringify(PYTHON)})
from orchestrator_agent_sdk import AgentClient
client = AgentClient(${JSON.stringify(run.url)}, ${JSON.stringify(agent)})
client.claim_task(task_id="t")
print("first" in client.use_tool("run_tests")["result"]["last_lines"])
both = client.batch([{"tool_name": "run_tests", "args": {}}, {"tool_name": "read_files", "args": {"paths": ["said"]}}])
print(["checking" in one for one in both["results"]])
`
    const { stdout } = await promisify(execFile)('python3', ['-c', program])
    expect(stdout).toBe('True\n[False, False]\n')
    expect(await count('tool_allowed')).toBe(4)
  })
})

const TEST_TEXT = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

await new Promise((resolve) => setTimeout(resolve, ${SECONDS * 1000}))
test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`
const PACKAGE = JSON.stringify({ name: 'carts', type: 'module', scripts: { test: 'node --test' } }, null, 2)

describe('RED under a new test setup that takes longer than clients wait', () => {
  it('[REQ-LONGTOOL-4] request_setup_change answers checking, and the same call joins the run', async () => {
    const contract = readFileSync(new URL('../../contracts/tdd.yaml', import.meta.url), 'utf8')
    const run = await start({ contract, answerWithinMs: WITHIN_MS })
    try {
      makeRepository(run.workspace, {
        'package.json': PACKAGE,
        'src/price.js': 'export const cents = (e) => e * 100\n',
      })
      const agent = await Walker.claim(run as unknown as Served, 't')
      await agent.plan()
      await agent.does('write_files', { path: 'tests/sum.test.js', content: TEST_TEXT })
      await agent.enters('IMPL', testFiles('tests/sum.test.js'))
      const changed = PACKAGE.replace('node --test', 'node --test --test-concurrency=1')
      await agent.does('write_files', { path: 'package.json', content: changed })
      const ask = () => agent.use('request_setup_change', { paths: ['package.json'], reason: 'one at a time' })
      const { approval_id: id, digest } = (await ask()).body.result as Record<string, string>
      const decision = { decision: 'approve', digest, comment: 'looked at it' }
      expect(await run.call('POST', `/approvals/${id}/decision`, run.operator, decision)).toMatchObject({ status: 200 })
      let answer = await ask()
      expect(answer.body).toMatchObject({ checking: true, result: null })
      while (answer.body.checking === true) answer = await ask()
      expect(answer.body).toMatchObject({ result: { status: 'accepted', paths: ['package.json'] } })
      await agent.does('write_files', {
        path: 'src/sum.js',
        content: 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n',
      })
      expect(await agent.move('REVIEW', implementation('src/sum.js'))).toMatchObject({ allowed: true })
    } finally {
      await run.stop()
    }
  })
})
