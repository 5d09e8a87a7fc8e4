import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'

const CONTRACT = `
name: approved
version: "1"
phases:
  - id: PLAN
    allowed_tools: [bash, write_files]
    gates: [{id: human, type: approval, approvers: [human]}]
  - {id: DONE, allowed_tools: []}
`

const PROGRAM = resolve('bin/phaselock')

/** An agent that wants its own plan approved, whatever it takes. */
describe('an agent cannot approve itself', () => {
  let run: Running
  let agentToken: string
  let phaseToken: string
  let approval: { id: string; digest: string }

  beforeAll(async () => {
    run = await start({ contract: CONTRACT, environment: { PHASELOCK_OPERATOR_TOKEN: 'plop_of_somebody_else' } })
    await run.addTask({ id: 'plan', title: 'Plan it' })
    agentToken = await run.addAgent('mallory')
    phaseToken = await run.claim('mallory', agentToken, 'plan')
    const asked = await run.call('POST', '/tasks/transition', phaseToken, { task_id: 'plan', target_phase: 'DONE' })
    approval = asked.body.pending_approval as typeof approval
    expect(approval.digest).toMatch(/^[0-9a-f]{64}$/)
  })
  afterAll(() => run.stop())

  async function isStillPending(): Promise<boolean> {
    const { body } = await run.call('GET', `/approvals/${approval.id}`, run.operator)
    const again = await run.call('POST', '/tasks/transition', phaseToken, { task_id: 'plan', target_phase: 'DONE' })
    return body.status === 'pending' && again.body.allowed === false
  }

  /** What the ledger says this agent was refused. */
  async function refusals(): Promise<readonly string[]> {
    // Refusals of strangers to tasks are written together, a moment later.
    await run.app.refusals.flush()
    const events = await run.app.ledger.store.readAll(0, 10_000)
    return events
      .filter(({ actor, data }) => actor === 'agent:mallory' && typeof data.code === 'string')
      .map(({ data }) => String(data.code))
  }

  async function bash(command: string): Promise<Record<string, unknown>> {
    const ran = await run.call('POST', '/tools/execute', phaseToken, {
      task_id: 'plan',
      tool_name: 'bash',
      args: { command },
    })
    expect(ran.status, JSON.stringify(ran.body)).toBe(200)
    return ran.body.result as Record<string, unknown>
  }

  it('[REQ-SELF-1] with its tokens', async () => {
    for (const token of [agentToken, phaseToken]) {
      const before = (await refusals()).length
      const tried = await run.call('POST', `/approvals/${approval.id}/decision`, token, {
        decision: 'approve',
        digest: approval.digest,
      })
      expect(tried).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
      expect((await refusals()).slice(before)).toEqual(['not_permitted'])
    }
    expect(await isStillPending()).toBe(true)
  })

  it('[REQ-SELF-1] by making itself an operator, a reviewer or another agent', async () => {
    for (const [path, body] of [
      ['/operators', { name: 'mallory2' }],
      ['/tasks/plan/reviewers', { name: 'mallory2' }],
      ['/agents', { agent_id: 'mallory2' }],
      ['/secret/rotate', { reason: 'mine' }],
    ] as const) {
      const before = (await refusals()).length
      const tried = await run.call('POST', path, phaseToken, body)
      expect(tried, path).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
      expect((await refusals()).slice(before), path).toEqual(['not_permitted'])
    }
    expect(await isStillPending()).toBe(true)
  })

  it('[REQ-SELF-1] by guessing the ids of approvals, which reveals nothing', async () => {
    const before = (await refusals()).length
    const guesses = [`${approval.id}x`, 'plan', 'apr-1', '0', `${'a'.repeat(60)}`]
    for (const id of guesses) {
      const tried = await run.call('POST', `/approvals/${id}/decision`, phaseToken, {
        decision: 'approve',
        digest: approval.digest,
      })
      expect(tried, id).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    }
    expect((await refusals()).slice(before)).toEqual(guesses.map(() => 'not_permitted'))
    expect(await isStillPending()).toBe(true)
  })

  it('[REQ-SELF-2] from its sandbox: neither the environment nor the disk has a token of an operator', async () => {
    expect(existsSync(join(run.stateDir, 'operator.token'))).toBe(true)
    const shown = JSON.stringify(
      await bash(
        `env; cat ${run.stateDir}/operator.token; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; find / -xdev -name operator.token -exec cat {} + 2>/dev/null; true`,
      ),
    )
    expect(shown).toContain('PATH=')
    expect(shown).not.toContain('plop_')
    expect(shown).not.toContain(run.operator)
  })

  it('[REQ-SELF-2] by the program itself inside its sandbox', async () => {
    const tried = await bash(
      `${PROGRAM} approve ${approval.id} --url ${run.url} --state-dir ${run.stateDir} 2>&1; echo "exit $?"; curl -s -m 5 ${run.url}/api/v1/approvals; echo "curl $?"`,
    )
    const said = JSON.stringify(tried)
    expect(said).toMatch(/exit [1-9]/)
    expect(said).toMatch(/curl [1-9]/)
    expect(await isStillPending()).toBe(true)
  })

  it('[REQ-SELF-1] while an operator can', async () => {
    const decided = await run.call('POST', `/approvals/${approval.id}/decision`, run.operator, {
      decision: 'approve',
      digest: approval.digest,
    })
    expect(decided).toMatchObject({ status: 200, body: { status: 'approved' } })
    const moved = await run.call('POST', '/tasks/transition', phaseToken, { task_id: 'plan', target_phase: 'DONE' })
    expect(moved.body).toMatchObject({ allowed: true })
  })
})
