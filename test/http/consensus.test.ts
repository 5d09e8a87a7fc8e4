import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { addEarlierAgent, type Running, start } from './harness.js'
import { agree, Ballot, Reviewer, VOTED, VOTERS } from './voting.js'

let server: Running
const here = () => server

beforeAll(async () => {
  server = await start({ contract: VOTED })
})
afterEach(() => expect(server.faults).toEqual([]))
afterAll(() => server.stop())

let tasks = 0
const laid = async (): Promise<Ballot> => {
  tasks += 1
  const ballot = await Ballot.lay(here, `t${tasks}`)
  await ballot.write(`${ballot.task}.ts`, 'export const sum = (a: number, b: number) => a + b\n')
  return ballot
}

describe('a phase that reviewers vote on', () => {
  it('[REQ-CONSENSUS-1] is not left without their vote, and asking again opens no second run', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    expect(await ballot.pending()).toBe(run)
    const { body } = await server.call('GET', `/coordinations/${run}`, server.operator)
    expect(body).toMatchObject({ id: run, is_consensus: true, options: { quorum: 2 } })
    expect((body.agents as { id: string }[]).map(({ id }) => id)).toEqual(VOTERS)
    const asked = (await ballot.events()).filter(({ type }) => type === 'consensus_requested')
    expect(asked).toHaveLength(1)
  })

  it('[REQ-CONSENSUS-1] asks nobody while an artifact is missing', async () => {
    const ballot = await laid()
    expect((await ballot.blockers({ artifacts: {} })).map(({ code }) => code)).toEqual(['missing_artifact'])
    expect((await ballot.events()).some(({ type }) => type === 'consensus_requested')).toBe(false)
  })

  it('[REQ-CONSENSUS-2] tells the agent who is waited for, and nothing that was said', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    const reviewer = await Reviewer.seat(here, run, 'reviewer_b')
    await reviewer.answer('A remark that is for reviewers alone', 'request_changes')
    const [found] = await ballot.blockers()
    expect(found?.message).toBe(
      `Council ${run} goes on: 0 of 3 voted; answered but not voted: reviewer_b; not answered: reviewer_a, reviewer_c`,
    )
    for (const path of [`/coordinations/${run}`, `/coordinations/${run}/status`])
      for (const token of [ballot.token, ballot.agent]) expect((await server.call('GET', path, token)).status).toBe(403)
  })

  it('[REQ-CONSENSUS-11] shows the reviewers the question and the work, and not who did it', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    const { body } = await (await Reviewer.seat(here, run, 'reviewer_a')).look()
    const question = String(body.question)
    for (const part of [
      'Is this change ready?',
      'Artifact notes:',
      'It adds two numbers.',
      `created ${ballot.task}.ts`,
    ])
      expect(question).toContain(part)
    expect(question).toContain('export const sum')
    expect(question).not.toContain(ballot.agentId)
    const mark = /=== ([0-9a-f]{16}) begins ===/.exec(question)?.[1]
    expect(question.endsWith(`=== ${mark} ends ===`)).toBe(true)
  })

  it('[REQ-CONSENSUS-11] cuts work that is too large for the question, and says so', async () => {
    const ballot = await laid()
    for (let file = 0; file < 12; file += 1) await ballot.write(`big/${file}.txt`, `${file}\n`.repeat(20_000))
    const run = await ballot.pending({ artifacts: { notes: { text: 'é'.repeat(50_000) } } })
    const { body } = await (await Reviewer.seat(here, run, 'reviewer_a')).look()
    expect(String(body.question).length).toBeLessThan(100_000)
    expect(body.question).toContain('The other files are not shown')
    await server.call('POST', `/tasks/${ballot.task}/cancel`, server.operator, { reason: 'enough' })
  })

  it('[REQ-CONSENSUS-11] shows nothing that a link leads to', async () => {
    const ballot = await laid()
    symlinkSync('/etc/passwd', join(ballot.tree, 'link.txt'))
    const run = await ballot.pending()
    const { body } = await (await Reviewer.seat(here, run, 'reviewer_a')).look()
    expect(body.question).toContain('created link.txt')
    expect(body.question).not.toContain('root:')
    rmSync(join(ballot.tree, 'link.txt'))
  })

  it('[REQ-CONSENSUS-3] stays closed with the words of the winner that requests changes', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    await agree(here, run, 'request_changes')
    for (let times = 0; times < 2; times += 1) {
      const found = await ballot.blockers()
      expect(found).toMatchObject([{ code: 'check_failed', check: 'consensus' }])
      expect(found[0]?.message).toContain('requests changes. reviewer_a says: The sum is right, and tested.')
    }
    expect((await ballot.events()).filter(({ type }) => type === 'consensus_requested')).toHaveLength(1)
  })

  it('[REQ-CONSENSUS-3] stays closed after an operator cancelled the run', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    await server.call('POST', `/coordinations/${run}/cancel`, server.operator, { reason: 'nobody has time' })
    const found = await ballot.blockers()
    expect(found[0]).toMatchObject({ code: 'check_failed' })
    expect(found[0]?.message).toContain('nobody has time')
    expect(await ballot.blockers()).toEqual(found)
  })

  it('[REQ-CONSENSUS-4] is left when three reviewers vote for one that approves, and the ledger proves it', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    await agree(here, run)
    const left = await ballot.leave({ artifacts: {} })
    expect(left.body).toMatchObject({ allowed: true, phase: 'DONE', status: 'completed' })
    const passed = (await ballot.events()).find(({ type }) => type === 'gate_passed')
    const proof = passed?.data.consensus as unknown as Record<string, unknown>
    expect(proof).toMatchObject({
      ...{ run, winner: 'reviewer_a', label: 'agent1.1', votes: 3, quorum: 2, grade: 'observed' },
    })
    const [last] = await server.app.ledger.store.readStream(`run:${run}`, 0, 1000).then((all) => all.slice(-1))
    expect(last).toMatchObject({ type: 'run_ended', seq: proof.seq, hash: proof.hash })
    const verified = await server.call('GET', '/audit/verify', server.operator)
    expect(verified.body).toMatchObject({ ok: true })
  })

  it('[REQ-CONSENSUS-5] is not left over a file that changed after the approval, and asks again', async () => {
    const ballot = await laid()
    const first = await ballot.pending()
    await agree(here, first)
    await ballot.write(`${ballot.task}.ts`, 'export const sum = () => evil()\n')
    const second = await ballot.pending()
    expect(second).not.toBe(first)
  })

  it('[REQ-CONSENSUS-5] is not left over a file that changed behind Phaselock after the approval', async () => {
    const ballot = await laid()
    const first = await ballot.pending()
    await agree(here, first)
    writeFileSync(join(ballot.tree, `${ballot.task}.ts`), 'export const sum = () => evil()\n')
    expect(await ballot.pending()).not.toBe(first)
  })

  it('[REQ-CONSENSUS-5] is not left with another artifact than the one that was approved', async () => {
    const ballot = await laid()
    const first = await ballot.pending()
    await agree(here, first)
    expect(await ballot.pending({ artifacts: { notes: { text: 'Something else.' } } })).not.toBe(first)
  })

  it('[REQ-CONSENSUS-5] ends the run over work that was changed while they voted, whose tokens then open nothing', async () => {
    const ballot = await laid()
    const first = await ballot.pending()
    const reviewer = await Reviewer.seat(here, first, 'reviewer_a')
    await ballot.write(`${ballot.task}.ts`, 'export const sum = 2\n')
    const second = await ballot.pending()
    const { body } = await server.call('GET', `/coordinations/${first}/status`, server.operator)
    expect(body).toMatchObject({ finish_reason: 'cancelled', finish_reason_details: 'The work was changed.' })
    expect((await reviewer.respond('new_answer', { content: 'x', verdict: 'approve' })).status).toBe(409)
    expect((await reviewer.respond('new_answer', { content: 'x', verdict: 'approve' }, second)).body).toMatchObject({
      code: 'token_mismatch',
    })
  })

  it('[REQ-CONSENSUS-5] takes a revoked result back after a rewind: the same work is put to a new vote', async () => {
    const ballot = await laid()
    const first = await ballot.pending()
    await agree(here, first, 'request_changes')
    const rewound = await server.call('POST', `/tasks/${ballot.task}/rewind`, server.operator, {
      ...{ to_phase: 'WORK', reason: 'the reviewers were wrong' },
    })
    expect(rewound.status, JSON.stringify(rewound.body)).toBe(200)
    await ballot.claim()
    const second = await ballot.pending()
    await agree(here, second)
    expect((await ballot.leave()).body).toMatchObject({ allowed: true })
  })

  it('[REQ-CONSENSUS-12] takes no word of the agent: neither its tokens nor forged ones vote, and it is given none', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    const said = { tool_calls: [{ name: 'new_answer', arguments: { content: 'fine', verdict: 'approve' } }] }
    const seat = await Reviewer.seat(here, run, 'reviewer_a')
    const [head, , signature] = seat.token.split('.')
    const claims = Buffer.from(JSON.stringify({ sub: 'reviewer_b', run_id: run, exp: 9_999_999_999 })).toString(
      'base64url',
    )
    for (const token of [ballot.token, ballot.agent, `${head}.${claims}.${signature}`, null])
      expect([401, 403]).toContain((await server.call('POST', `/coordinations/${run}/respond`, token, said)).status)
    for (const token of [ballot.token, ballot.agent, seat.token])
      expect((await server.call('POST', `/coordinations/${run}/agents/reviewer_b/token`, token, {})).status).toBe(403)
    const { body } = await server.call('GET', `/coordinations/${run}`, server.operator)
    expect(body.answers).toEqual([])
  })

  it('[REQ-CONSENSUS-6] asks nobody while the implementer is one of the reviewers', async () => {
    await addEarlierAgent(server, 'reviewer_b')
    const ballot = await Ballot.lay(here, 'own', 'reviewer_b')
    const found = await ballot.blockers()
    expect(found).toMatchObject([{ code: 'check_failed', check: 'consensus' }])
    expect(found[0]?.message).toContain('reviewer_b works on task own or did')
    expect((await ballot.events()).some(({ type }) => type === 'consensus_requested')).toBe(false)
    await server.call('POST', '/tasks/own/cancel', server.operator, { reason: 'enough' })
  })

  it('[REQ-CONSENSUS-13] ends the vote of a task that is cancelled', async () => {
    const ballot = await laid()
    const run = await ballot.pending()
    await server.call('POST', `/tasks/${ballot.task}/cancel`, server.operator, { reason: 'enough' })
    await expect
      .poll(async () => (await server.call('GET', `/coordinations/${run}/status`, server.operator)).body)
      .toMatchObject({ is_complete: true, finish_reason_details: 'The phase was left.' })
  })
})
