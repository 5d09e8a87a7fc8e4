import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { AgentScript } from '../participants/command-script.js'
import { type Running, type StartOptions, start } from './harness.js'
import { agree, Ballot, Reviewer, VOTERS } from './voting.js'

let server: Running
let script: AgentScript | null = null
const here = () => server

async function begin(phase: string, more = '', options: StartOptions = {}): Promise<Ballot> {
  const contract = `
name: voted
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files]
    consensus: {agents: [${VOTERS.join(', ')}], question: Is this change ready?, quorum: 2}
${phase.replace(/^/gm, '    ')}
  - {id: DONE, allowed_tools: []}
${more}`
  server = await start({ contract, ...options })
  return Ballot.lay(here, 't')
}

afterEach(async () => {
  await server.stop()
  expect(server.faults).toEqual([])
  script?.remove()
  script = null
})

const REVIEWED = `required_artifacts: [{type: review_report, schema: schemas/review.json, description: what others say}]
gates:
  - id: reviewed
    type: validation
    blockers:
      - {check: no_blocking_issues, message: Issues}
      - {check: review_comments_addressed, message: Comments}
      - {check: expression, when: "size(artifacts.review_report.reviews) == 3", message: Three}
      - {check: command_succeeds, command: proof, message: The proof}`
const PROOF = 'commands: {proof: {run: "test -f a.txt"}}'
const OWN = {
  review_report: { reviews: { me: { status: 'approved', reviewer: 'me', comments: [] } }, blocking_issues: [] },
}

describe('the review report of a phase that reviewers vote on', () => {
  it('[REQ-CONSENSUS-10] is not what the agent sends, before the vote and after it', async () => {
    const ballot = await begin(REVIEWED, PROOF)
    expect((await ballot.blockers({ artifacts: OWN })).map(({ check }) => check)).toEqual(['command_succeeds'])
    await ballot.write('a.txt', 'a')
    const run = await ballot.pending({ artifacts: OWN })
    await agree(here, run, 'request_changes')
    const found = await ballot.blockers({ artifacts: OWN })
    expect(found.map(({ check }) => check)).toEqual(['no_blocking_issues', 'consensus'])
  })

  it('[REQ-CONSENSUS-10] is made from what the reviewers said, and opens its own checks', async () => {
    const ballot = await begin(REVIEWED, PROOF)
    await ballot.write('a.txt', 'a')
    const run = await ballot.pending({ artifacts: OWN })
    await agree(here, run)
    const left = await ballot.leave({ artifacts: OWN })
    expect(left.body, JSON.stringify(left.body)).toMatchObject({ allowed: true, status: 'completed' })
    const artifact = await server.call('GET', '/tasks/t/artifacts/review_report', server.operator)
    expect(artifact.body).toMatchObject({
      grade: 'observed',
      content: {
        blocking_issues: [],
        reviews: {
          reviewer_a: { status: 'approved', reviewer: 'reviewer_a', summary: 'The sum is right, and tested.' },
          reviewer_b: { status: 'approved', summary: 'It is right.' },
          reviewer_c: { status: 'approved' },
        },
      },
    })
  })
})

describe('a phase that reviewers vote on', () => {
  it('[REQ-CONSENSUS-7] is left by Phaselock itself as soon as they agree, where its gates advance by themselves', async () => {
    const gates =
      'gates: [{id: g, type: validation, auto_advance: true, blockers: [{check: file_exists, path: a.txt}]}]'
    const ballot = await begin(gates)
    await ballot.write('a.txt', 'a')
    const task = async () => (await server.call('GET', '/tasks/t', server.operator)).body
    expect(await task()).toMatchObject({ phase: 'WORK' })
    expect((await ballot.events()).some(({ type }) => type === 'consensus_requested')).toBe(false)
    await agree(here, await ballot.pending({ artifacts: {} }))
    await expect.poll(task).toMatchObject({ phase: 'DONE', status: 'completed' })
    const passed = (await ballot.events()).find(({ type }) => type === 'gate_passed')
    expect(passed?.data.consensus).toMatchObject({ winner: 'reviewer_a', votes: 3 })
  })

  it('[REQ-CONSENSUS-7] asks for an approval once they agree, which is bound to the same work', async () => {
    const ballot = await begin('gates: [{id: g, type: approval, approvers: [human]}]')
    const run = await ballot.pending({ artifacts: {} })
    expect((await server.call('GET', '/approvals', server.operator)).body.approvals).toEqual([])
    await agree(here, run)
    const asked = await ballot.leave({ artifacts: {} })
    const approval = asked.body.pending_approval as { id: string; digest: string }
    await server.call('POST', `/approvals/${approval.id}/decision`, server.operator, {
      ...{ decision: 'approve', digest: approval.digest, comment: 'yes' },
    })
    expect((await ballot.leave({ artifacts: {} })).body).toMatchObject({ allowed: true })
  })

  it('[REQ-CONSENSUS-5] asks nobody about work that was changed while the gates were checked', async () => {
    const gate =
      'gates: [{id: g, type: validation, blockers: [{check: command_succeeds, command: slow, message: Slow}]}]'
    const ballot = await begin(gate, 'commands: {slow: {run: "sleep 2"}}')
    await ballot.write('a.txt', 'a')
    const asked = ballot.blockers({ artifacts: {} })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    writeFileSync(join(ballot.tree, 'a.txt'), 'other')
    expect((await asked).map(({ code }) => code)).toContain('check_error')
    expect((await ballot.events()).some(({ type }) => type === 'consensus_requested')).toBe(false)
  })

  it.each(['permissive', 'advisory'])('[REQ-CONSENSUS-3] stays closed in the mode %s', async (mode) => {
    const ballot = await begin('', `enforcement: {mode: ${mode}}`)
    const run = await ballot.pending({ artifacts: {} })
    await agree(here, run, 'request_changes')
    expect(await ballot.blockers({ artifacts: {} })).toMatchObject([{ check: 'consensus' }])
  })

  it('[REQ-CONSENSUS-3] stays closed when time was up before enough had voted', async () => {
    const ballot = await begin('')
    const run = await ballot.pending({ artifacts: {} })
    const reviewer = await Reviewer.seat(here, run, 'reviewer_a')
    await reviewer.answer('Fine.', 'approve')
    await reviewer.vote('agent1')
    server.now = Date.now() + 1_801_000
    await server.call('POST', '/tasks/t/reassign', server.operator, { agent_id: 'agent-t', reason: 'time passed' })
    ballot.agent = await server.addAgent('agent-t')
    await ballot.claim()
    await expect
      .poll(async () => (await ballot.blockers({ artifacts: {} }))[0]?.message)
      .toContain('consensus failed: 1 vote for reviewer_a, at least 2 needed.')
  })

  it('[REQ-CONSENSUS-14] is voted on by a program of the contract beside those with tokens', async () => {
    script = new AgentScript()
    const vote = { call: 'vote', with: { agent_id: 'agent1', reason: 'right' } }
    const said = { call: 'new_answer', with: { content: 'I agree with none of it.', verdict: 'request_changes' } }
    const { command, args } = script.does(said, vote)
    const agents = `agents: {reviewer_c: ${JSON.stringify({ harness: 'command', command, args })}}`
    const ballot = await begin('', agents, { environment: { PATH: process.env.PATH } })
    server.app.coordinations.setServerUrl(server.url)
    const run = await ballot.pending({ artifacts: {} })
    const token = await server.call('POST', `/coordinations/${run}/agents/reviewer_c/token`, server.operator, {})
    expect(token.body).toMatchObject({ code: 'conflict' })
    const answers = async () => (await server.call('GET', `/coordinations/${run}`, server.operator)).body.answers
    await expect.poll(answers).toMatchObject([{ agent_id: 'reviewer_c', verdict: 'request_changes' }])
  })
})

describe('a last phase that reviewers vote on', () => {
  it('[REQ-CONSENSUS-8] is completed by a request for itself, and not before they agree', async () => {
    const contract = `
name: last
version: "1"
phases:
  - {id: WORK, allowed_tools: [write_files]}
  - {id: END, allowed_tools: [], consensus: {agents: [${VOTERS.join(', ')}], question: All done?, quorum: 3}}
`
    server = await start({ contract })
    const ballot = await Ballot.lay(here, 't')
    const entered = await ballot.leave({ target_phase: 'END', artifacts: {} })
    expect(entered.body).toMatchObject({ allowed: true, status: 'active' })
    const completed = await server.call('POST', '/phases/END/complete', ballot.token, { evidence: {} })
    expect(completed.body.blockers).toMatchObject([{ code: 'consensus_pending' }])
    const run = await ballot.pending({ target_phase: 'END', artifacts: {} })
    await agree(here, run)
    const done = await server.call('POST', '/phases/END/complete', ballot.token, { evidence: {} })
    expect(done.body, JSON.stringify(done.body)).toMatchObject({ workflow_complete: true })
  })
})
