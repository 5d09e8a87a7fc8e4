import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ERAS, McpAgent } from '../mcp/clients.js'
import { type Running, start } from './harness.js'

const SECONDS = 4
const WITHIN_MS = 700
/** What an answer may take beyond the time it is given: the machine is shared. */
const SLACK_MS = 1800
const gateOf = (run: string, more = '') =>
  `[{id: done, type: validation, ${more}blockers: [{check: command_succeeds, run: "${run}", message: Slow}]}]`
const SLOW = `sleep ${SECONDS}`

const contractOf = (phases: string, rest = ''): string => `
name: long
version: "1"
phases:
${phases}
  - {id: DONE, allowed_tools: []}
${rest}`

describe('a gate that takes longer than clients wait', () => {
  let run: Running
  afterEach(() => run.stop())
  const taskOf = async () => (await run.call('GET', '/tasks/t', run.operator)).body
  const begin = async (contract: string) => {
    run = await start({ contract, answerWithinMs: WITHIN_MS })
    await run.addTask({ id: 't' })
    const agent = await run.addAgent('a')
    return { agent, token: await run.claim('a', agent, 't') }
  }
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const from = performance.now()
    const result = await work
    expect(performance.now() - from).toBeLessThan(WITHIN_MS + SLACK_MS)
    return result
  }

  it('[REQ-LONGGATE-4] an agent that comes back to a phase is decided again, not given the answer of before', async () => {
    const ways =
      'transitions: [{from: WORK, to: NEXT}, {from: NEXT, to: WORK, when: back}, {from: NEXT, to: DONE, when: done}]\n'
    const { agent } = await begin(
      contractOf(
        `  - {id: WORK, allowed_tools: [write_files], gates: ${gateOf(`${SLOW}; ! test -e closed`)}}
  - {id: NEXT, allowed_tools: [write_files]}`,
        ways,
      ),
    )
    const client = await McpAgent.connect(run.url, agent, ERAS[1] as (typeof ERAS)[number])
    const ask = () => client.call('request_transition', { target_phase: 'NEXT' })
    const asked = async () => {
      let answer = await ask()
      while (answer.structured.checking === true) answer = await ask()
      return answer
    }
    expect((await asked()).structured).toMatchObject({ allowed: true, phase: 'NEXT' })
    await client.does('write_files', { path: 'closed', content: 'x' })
    await client.does('request_transition', { target_phase: 'WORK', claims: { back: true } })
    expect((await asked()).structured).toMatchObject({ allowed: false, phase: 'WORK' })
    expect(await taskOf()).toMatchObject({ phase: 'WORK' })
    await client.close()
  })

  it('[REQ-LONGGATE-7] an agent CLI is told to wait before it changes files by itself, and it counts as nothing', async () => {
    const { agent, token } = await begin(
      contractOf(`  - {id: WORK, allowed_tools: [write_files, read_files, bash], gates: ${gateOf(SLOW)}}`),
    )
    const hook = async (tool_name: string, tool_input: object) => {
      const body = { session_id: 's', cwd: run.workspace, hook_event_name: 'PreToolUse', tool_use_id: 'toolu_1' }
      const answer = await run.call('POST', '/hooks/claude-code', agent, { ...body, tool_name, tool_input })
      return answer.body.hookSpecificOutput
    }
    const write = { file_path: join(run.workspace, 'a.txt'), content: 'a' }
    const ask = () => run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })
    expect((await ask()).body).toMatchObject({ checking: true })
    expect(await timed(hook('Write', write))).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('being checked'),
    })
    expect(await timed(hook('Read', { file_path: join(run.workspace, 'b.txt') }))).toMatchObject({
      permissionDecision: 'allow',
    })
    expect(await taskOf()).toMatchObject({ refusals: 0 })
    let answer = await ask()
    while (answer.body.checking === true) answer = await ask()
    expect(answer.body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-LONGGATE-5] the lease of an agent that waits for it does not end', async () => {
    const { token } = await begin(
      contractOf(`  - {id: WORK, allowed_tools: [], gates: ${gateOf(SLOW)}}`, 'enforcement: {lease_seconds: 2}\n'),
    )
    const ask = () => run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })
    let answer = await ask()
    expect(answer.body).toMatchObject({ checking: true })
    while (answer.body.checking === true) answer = await ask()
    expect(answer.body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-LONGGATE-6] a reviewer whose report opens it has the answer at once', async () => {
    const { token } = await begin(
      contractOf(`  - id: REVIEW
    allowed_tools: []
    auto_spawn: [{agent_type: peer, wait_for_completion: true}]
    gates: ${gateOf(SLOW, 'auto_advance: true, ')}`),
    )
    expect(token).not.toBe('')
    const added = await run.call('POST', '/tasks/t/reviewers', run.operator, { name: 'peer' })
    const report = { report: { status: 'completed' } }
    const sent = await timed(run.call('POST', '/tasks/t/reviews', String(added.body.review_token), report))
    expect(sent).toMatchObject({ status: 201, body: { finished: true } })
    await expect.poll(taskOf).toMatchObject({ status: 'completed' })
    expect(run.faults).toEqual([])
  })

  it('[REQ-LONGGATE-6] a tool call after which the task advances has one time limit for both', async () => {
    const { token } = await begin(
      contractOf(`  - {id: WORK, allowed_tools: [bash, write_files], gates: ${gateOf(SLOW, 'auto_advance: true, ')}}`),
    )
    writeFileSync(join(run.workspace, 'a.txt'), 'a\n')
    const args = { command: 'sleep 2; echo b > b.txt' }
    const call = { task_id: 't', tool_name: 'bash', args }
    const from = performance.now()
    const answer = await run.call('POST', '/tools/execute', token, call)
    const { duration_ms } = answer.body as { duration_ms: number }
    expect(answer.body).toMatchObject({ advancing: true })
    expect(performance.now() - from - duration_ms).toBeLessThan(WITHIN_MS)
    await expect.poll(taskOf).toMatchObject({ status: 'completed' })
  })
})
