import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import { type Running, start } from '../http/harness.js'
import { logIn, logInFirst } from './browser-session.js'
import { APPROVED_CONTRACT, approve, askForApproval, callHook, PASSPHRASE, refusal } from './confirming.js'

let run: Running
const open = (confirm: 'never' | 'native' | 'always') => async () => {
  run = await start({ contract: APPROVED_CONTRACT, confirm })
}
const close = () => run.stop()
afterEach(() => {
  expect(run.faults).toEqual([])
  run.now = null
})

const setPassphrase = (body: object, token = run.operator) => run.call('POST', '/passphrase', token, body)
const readEvents = async (type: string) =>
  (await run.call('GET', `/audit/query?type=${type}`, run.operator)).body.events as {
    actor: string
    data: Record<string, unknown>
  }[]

describe('with --confirm native', () => {
  beforeAll(open('native'))
  afterAll(close)

  it('[REQ-CONFIRM-1] an agent that connects with REST needs no confirmed decisions', async () => {
    const asked = await askForApproval(run)
    expect(await approve(run, asked)).toMatchObject({ status: 200, body: { status: 'approved' } })
    expect((await readEvents('approval_decided'))[0]?.data).not.toHaveProperty('confirmation')
  })

  it('[REQ-CONFIRM-3] the token alone cannot set a first passphrase once an agent bound by hooks was here', async () => {
    expect(await setPassphrase({ passphrase: 'too short' })).toMatchObject(refusal(400, 'invalid_request'))
    expect(await setPassphrase({ passphrase: PASSPHRASE })).toMatchObject({ body: { has_passphrase: true } })
    const added = await run.call('POST', '/operators', run.operator, { name: 'nora' })
    const nora = String(added.body.operator_token)
    await callHook(run, await run.addAgent('claude'))
    expect(await readEvents('agent_bound_by_hooks')).toMatchObject([{ data: { agent_id: 'claude' } }])
    const refused = await setPassphrase({ passphrase: 'nora has another one' }, nora)
    expect(refused).toMatchObject(refusal(403, 'not_permitted'))
    expect(refused.body.remedy).toContain('--first-code')
  })

  it('[REQ-CONFIRM-1] a task that an agent bound by hooks ever held opens its gates only when confirmed', async () => {
    const asked = await askForApproval(run, true)
    const refused = await approve(run, asked)
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'confirmation_required', confirm: { act: 'decideApproval', methods: ['passphrase'] } },
    })
    expect(refused.body.remedy).toContain('--passphrase-file')
    expect((await run.call('GET', `/approvals/${asked.id}`, run.operator)).body.status).toBe('pending')
    for (const [path, body] of [
      [`/tasks/${asked.taskId}/rewind`, { to_phase: 'WORK', reason: 'x' }],
      [`/tasks/${asked.taskId}/reviewers`, { name: 'rita' }],
      [`/tasks/${asked.taskId}/tree/accept`, { reason: 'x' }],
      ['/operators', { name: 'mallory' }],
      ['/contracts', { source: APPROVED_CONTRACT }],
      ['/tasks', { title: 'x', mode: 'advisory' }],
    ] as const)
      expect(await run.call('POST', path, run.operator, body), path).toMatchObject(
        refusal(403, 'confirmation_required'),
      )
    // Giving the task back and claiming it under another name changes nothing.
    await run.call('POST', '/tasks/release', asked.agentToken, { task_id: asked.taskId })
    await run.claim('ghost', await run.addAgent('ghost'), asked.taskId)
    expect(await approve(run, asked)).toMatchObject(refusal(403, 'confirmation_required'))
    expect(await run.call('POST', '/tasks', run.operator, { title: 'An ordinary task' })).toMatchObject({ status: 201 })
    expect(await run.call('POST', `/tasks/${asked.taskId}/cancel`, run.operator, { reason: 'x' })).toMatchObject({
      status: 200,
    })
  })

  it('[REQ-CONFIRM-1] while such an agent may run, tasks of other agents need a confirmation too', async () => {
    // With the token of the operator it could make a task under another name and approve that.
    const asked = await askForApproval(run)
    expect(await approve(run, asked)).toMatchObject(refusal(403, 'confirmation_required'))
    // Revoking it ends no process, and takes no more than the token.
    const bound = (await readEvents('agent_bound_by_hooks')).map(({ data }) => String(data.agent_id))
    for (const id of bound) await run.call('POST', `/agents/${id}/revoke`, run.operator, { reason: 'over' })
    expect(await approve(run, asked)).toMatchObject(refusal(403, 'confirmation_required'))
    run.now = Date.now() + 13 * 60 * 60 * 1000
    expect(await approve(run, await askForApproval(run)), 'not seen for hours').toMatchObject({ status: 200 })
  })

  it('[REQ-CONFIRM-3] the right passphrase confirms, and stays out of the ledger and of every file', async () => {
    const asked = await askForApproval(run, true)
    for (const passphrase of ['a wrong passphrase', `${PASSPHRASE} `])
      expect(await approve(run, asked, { passphrase })).toMatchObject(refusal(403, 'confirmation_invalid'))
    for (const confirmation of [{}, { passphrase: '' }, { passphrase: PASSPHRASE, id: 'x' }, 'yes', { id: 'x' }])
      expect(await approve(run, asked, confirmation), JSON.stringify(confirmation)).toMatchObject(
        refusal(400, 'invalid_request'),
      )
    const key = { 'idempotency-key': 'one-approval' }
    const body = { decision: 'approve', digest: asked.digest, confirmation: { passphrase: PASSPHRASE } }
    const path = `/approvals/${asked.id}/decision`
    expect(await run.call('POST', path, run.operator, body, key)).toMatchObject({ body: { status: 'approved' } })
    // A client that lost the answer gets it again, without the confirmation.
    const { confirmation: _, ...again } = body
    expect(await run.call('POST', path, run.operator, again, key)).toMatchObject({ body: { status: 'approved' } })
    const decided = (await readEvents('approval_decided')).find(({ data }) => data.approval_id === asked.id)
    expect(decided?.data.confirmation).toEqual({
      ...{ method: 'passphrase', act: 'decideApproval', subject: asked.id, digest: asked.digest },
      ...{ decision: 'approve', operator: 'admin' },
    })
    for (const file of ['ledger.db', 'operator.passphrases.json'])
      expect(readFileSync(join(run.stateDir, file)).includes(PASSPHRASE), file).toBe(false)
  })

  it.runIf(isFullDepth())(
    '[REQ-CONFIRM-3] replacing the passphrase needs the one before, or another confirmation',
    async () => {
      const passphrase = 'another four words 8'
      expect(await setPassphrase({ passphrase })).toMatchObject(refusal(403, 'confirmation_required'))
      expect(await setPassphrase({ passphrase, confirmation: { passphrase: 'not the right one' } })).toMatchObject(
        refusal(403, 'confirmation_invalid'),
      )
      expect(await setPassphrase({ passphrase, confirmation: { passphrase: PASSPHRASE } })).toMatchObject({
        status: 200,
      })
      const asked = await askForApproval(run, true)
      expect(await approve(run, asked, { passphrase: PASSPHRASE })).toMatchObject(refusal(403, 'confirmation_invalid'))
      run = await run.restart()
      expect(await approve(run, asked, { passphrase })).toMatchObject({ body: { status: 'approved' } })
    },
  )

  it.runIf(isFullDepth())('[REQ-CONFIRM-3] after five wrong passphrases the next ones wait', async () => {
    const asked = await askForApproval(run, true)
    for (let tries = 0; tries < 5; tries += 1)
      expect(await approve(run, asked, { passphrase: 'guess' })).toMatchObject(refusal(403, 'confirmation_invalid'))
    expect(await approve(run, asked, { passphrase: 'another four words 8' })).toMatchObject(
      refusal(429, 'rate_limited'),
    )
    run.now = Date.now() + 61_000
    expect(await approve(run, asked, { passphrase: 'another four words 8' })).toMatchObject({ status: 200 })
  })
})

describe('with --confirm always', () => {
  beforeAll(open('always'))
  afterAll(close)

  it('[REQ-CONFIRM-2] a stolen operator token alone approves nothing, and cannot make itself able to', async () => {
    const asked = await askForApproval(run)
    const refused = await approve(run, asked)
    expect(refused).toMatchObject(refusal(403, 'confirmation_required'))
    expect(refused.body.remedy).toContain('phaselock operator passphrase')
    expect(await setPassphrase({ passphrase: PASSPHRASE })).toMatchObject(refusal(403, 'not_permitted'))
    expect(await run.call('POST', '/operators', run.operator, { name: 'mallory' })).toMatchObject(
      refusal(403, 'confirmation_required'),
    )
    for (const body of [
      { operator_token: run.operator },
      { code: String((await run.call('POST', '/login/codes', run.operator, {})).body.code) },
    ]) {
      const session = await logIn(run, body)
      expect(await session.call('POST', '/passphrase', { passphrase: PASSPHRASE })).toMatchObject(
        refusal(403, 'not_permitted'),
      )
      expect(await session.call('POST', '/passkeys/options')).toMatchObject(refusal(403, 'not_permitted'))
      expect(
        await session.call('POST', `/approvals/${asked.id}/decision`, { decision: 'approve', digest: asked.digest }),
      ).toMatchObject(refusal(403, 'confirmation_required'))
    }
    const { body } = await run.call('GET', '/audit/query?type=request_refused', run.operator)
    expect(JSON.stringify(body)).toContain('confirmation_required')
    const first = await logInFirst(run)
    expect(await first.call('POST', '/passphrase', { passphrase: PASSPHRASE })).toMatchObject({ status: 200 })
    expect(await approve(run, asked, { passphrase: PASSPHRASE })).toMatchObject({ body: { status: 'approved' } })
  })

  it('[REQ-CONFIRM-2] to reject, to stop and to read need no confirmation', async () => {
    const { id, digest, taskId } = await askForApproval(run)
    const rejected = await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'reject', digest })
    expect(rejected).toMatchObject({ body: { status: 'rejected' } })
    expect((await run.call('GET', `/tasks/${taskId}`, run.operator)).status).toBe(200)
    expect((await run.call('POST', '/pause', run.operator, {})).status).toBe(200)
    expect(await run.call('POST', '/unpause', run.operator, {})).toMatchObject(refusal(403, 'confirmation_required'))
    const confirmation = { passphrase: PASSPHRASE }
    expect((await run.call('POST', '/unpause', run.operator, { confirmation })).status).toBe(200)
  })

  it('[REQ-CONFIRM-5] agents and operators with the role ci do what they may do, and confirm nothing', async () => {
    const confirmation = { passphrase: PASSPHRASE }
    const added = await run.call('POST', '/operators', run.operator, { name: 'robot', role: 'ci', confirmation })
    const robot = String(added.body.operator_token)
    const asked = await askForApproval(run)
    expect(await approve(run, asked, confirmation, asked.agentToken)).toMatchObject(refusal(403, 'not_permitted'))
    for (const token of [robot, asked.agentToken])
      for (const [path, body] of [
        ['/passphrase', { passphrase: PASSPHRASE }],
        ['/passkeys/options', {}],
        ['/confirmations', { act: 'decideApproval' }],
      ] as const)
        expect(await run.call('POST', path, token, body), path).toMatchObject(refusal(403, 'not_permitted'))
    expect(await approve(run, asked, undefined, robot)).toMatchObject({ body: { status: 'approved' } })
  })

  it('[REQ-CONFIRM-3] a replaced file of passphrases counts for nothing', async () => {
    const file = join(run.stateDir, 'operator.passphrases.json')
    const kept = readFileSync(file, 'utf8')
    const other = await start({ contract: APPROVED_CONTRACT })
    await other.call('POST', '/passphrase', other.operator, { passphrase: 'the agent chose this' })
    const { writeFileSync } = await import('node:fs')
    writeFileSync(file, readFileSync(join(other.stateDir, 'operator.passphrases.json')))
    await other.stop()
    const asked = await askForApproval(run)
    expect(await approve(run, asked, { passphrase: 'the agent chose this' })).toMatchObject(
      refusal(403, 'confirmation_invalid'),
    )
    writeFileSync(file, kept)
    expect(await approve(run, asked, { passphrase: PASSPHRASE })).toMatchObject({ status: 200 })
  })
})

describe('with --confirm never', () => {
  beforeAll(open('never'))
  afterAll(close)

  it('[REQ-CONFIRM-2] nothing is asked, and a confirmation that is given has to hold', async () => {
    const asked = await askForApproval(run, true)
    expect(await approve(run, asked, { passphrase: 'there is none' })).toMatchObject(
      refusal(403, 'confirmation_invalid'),
    )
    expect(await approve(run, asked)).toMatchObject({ body: { status: 'approved' } })
  })
})
