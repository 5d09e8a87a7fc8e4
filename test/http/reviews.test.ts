import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addEarlierAgent, type Running, start } from './harness.js'
import { Desk, messagesOf, REVIEWED } from './reviewing.js'

const LIE = { reviews: { security: { status: 'completed' }, quality: { status: 'completed' } }, blocking_issues: [] }

let run: Running
let count = 0
const fresh = () => {
  count += 1
  return `t${count}`
}
const inReview = () => Desk.inReview(() => run, fresh())
const newest = async (code: string) => {
  const found = await run.call('GET', `/audit/query?code=${code}&limit=1`, run.operator)
  return (found.body.events as { seq: number; type: string; actor: string }[])[0]
}

beforeAll(async () => {
  // The tests change the tree by themselves.
  run = await start({ contract: `${REVIEWED}enforcement: {reconcile: "off"}\n`, agentPerSecond: 1_000_000 })
  const git = (...words: string[]) => execFileSync('git', words, { cwd: run.workspace })
  mkdirSync(join(run.workspace, 'src'))
  writeFileSync(join(run.workspace, 'src/a.ts'), 'export const answer = 42\n')
  git('init', '-q')
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'add', '.')
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'first')
})
afterAll(async () => {
  expect(run.faults).toEqual([])
  expect((await run.call('GET', '/audit/verify', run.operator)).body).toMatchObject({ ok: true })
  await run.stop()
})

describe('the review by the agent itself', () => {
  it('[REQ-REVIEW-6] an invented review_report opens nothing', async () => {
    const desk = await inReview()
    const answer = await desk.move('DONE', { artifacts: { review_report: LIE, review_results: LIE } })
    expect(answer.body).toMatchObject({ allowed: false, phase: 'REVIEW' })
    expect(messagesOf(answer)).toEqual([
      'Missing review_report: no reviewer has reported (asked for: security, quality)',
      'Both must review: no report of security; no report of quality',
      'Issues: there is no review_report',
    ])
    expect(answer.body.next_step).toContain('the review security, the review quality')
  })

  it('[REQ-REVIEW-6] an invented one beside real reports changes nothing, and is not what is kept', async () => {
    const desk = await inReview()
    await desk.report(await desk.reviewer('security'), { status: 'completed', blocking_issues: ['a hole'] })
    await desk.report(await desk.reviewer('quality'))
    const answer = await desk.move('DONE', { artifacts: { review_report: LIE } })
    expect(messagesOf(answer)).toEqual(['Issues: 1 blocking issue: a hole'])
    const kept = await run.call('GET', `/tasks/${desk.task}/artifacts/review_report`, run.operator)
    expect(kept.body).toMatchObject({
      grade: 'observed',
      content: {
        reviews: { security: { status: 'completed', reviewer: 'security' }, quality: { status: 'completed' } },
        blocking_issues: [{ reviewer: 'security', text: 'a hole' }],
      },
    })
  })

  it('[REQ-REVIEW-5] the agent gets no review token and sends no report, with either of its tokens, and the attempt is recorded', async () => {
    const desk = await inReview()
    for (const token of [desk.token, desk.agent]) {
      const before = await newest('not_permitted')
      expect(await desk.report(token)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
      const event = await newest('not_permitted')
      expect(event?.seq).toBeGreaterThan(before?.seq ?? 0)
      expect(event?.actor).toBe(`agent:agent-${desk.task}`)
      expect(await run.call('POST', `/tasks/${desk.task}/reviewers`, token, { name: 'security' })).toMatchObject({
        status: 403,
        body: { code: 'not_permitted' },
      })
    }
    expect(await desk.report(run.operator)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
  })

  it('[REQ-REVIEW-5] an operator cannot make the agent its own reviewer, now or after somebody else took over', async () => {
    const task = fresh()
    await addEarlierAgent(run, 'security')
    const desk = await Desk.lay(() => run, task, 'security')
    await desk.move('REVIEW')
    expect(await desk.mint('security')).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    await run.call('POST', `/tasks/${task}/reassign`, run.operator, { reason: 'r' })
    await run.claim('second', await run.addAgent('second'), task)
    expect(await desk.mint('security')).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await desk.mint('quality')).toMatchObject({ status: 201 })
  })
})

describe('reviews of others', () => {
  it('[REQ-REVIEW-6] open the gate when every one that is asked for is finished and nothing blocks', async () => {
    const desk = await inReview()
    const security = await desk.reviewer('security')
    expect(await desk.report(security, { status: 'approved', summary: 'Fine.' })).toMatchObject({
      status: 201,
      body: { task_id: desk.task, reviewer: 'security', status: 'approved', finished: true },
    })
    expect(messagesOf(await desk.move('DONE'))).toEqual(['Both must review: no report of quality'])
    const quality = await desk.reviewer('quality')
    await desk.report(quality, {
      status: 'changes_requested',
      comments: [{ text: 'Rename', path: 'src/a.ts', line: 1 }],
    })
    expect(messagesOf(await desk.move('DONE'))).toEqual(['Both must review: the review quality asks for changes'])
    await desk.report(quality, { status: 'completed', comments: [{ text: 'Rename', resolved: false }] })
    const done = await desk.move('DONE')
    expect(done.body).toMatchObject({
      allowed: true,
      status: 'completed',
      artifacts: [{ type: 'review_report', grade: 'observed' }],
    })
    expect(messagesOf(done, 'warnings')).toEqual(['Comments: 1 comment is open'])
    const types = (await desk.events())
      .filter((event) => event.actor.startsWith('reviewer:'))
      .map((event) => event.type)
    expect(types).toEqual(['review_submitted', 'review_submitted', 'review_submitted'])
  })

  it('[REQ-REVIEW-7] a change of the tree after a review makes it outdated, and what it objects to stays', async () => {
    const desk = await inReview()
    await desk.report(await desk.reviewer('security'))
    await desk.report(await desk.reviewer('quality'), { status: 'completed', blocking_issues: [{ text: 'slow' }] })
    expect(
      await desk.use(desk.token, 'write_files', { path: `${desk.task}.txt`, content: 'after the review' }),
    ).toMatchObject({
      status: 200,
    })
    const after = 'is about an earlier state of the work: review it again'
    expect(messagesOf(await desk.move('DONE'))).toEqual([
      `Both must review: the review security ${after}; the review quality ${after}`,
      'Issues: 1 blocking issue: slow',
    ])
    await desk.report(await desk.reviewer('security'))
    await desk.report(await desk.reviewer('quality'))
    expect((await desk.move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-REVIEW-7] a report that names what it looked at is refused when that has changed', async () => {
    const desk = await inReview()
    const security = await desk.reviewer('security')
    const { body } = await run.call('GET', '/state/snapshot', security)
    writeFileSync(join(desk.tree, 'moved.txt'), desk.task)
    const subject = String(body.subject)
    expect(await desk.report(security, { status: 'completed' }, { subject })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    const now = String((await run.call('GET', '/state/snapshot', security)).body.subject)
    expect(now).not.toBe(subject)
    expect(await desk.report(security, { status: 'completed' }, { subject: now })).toMatchObject({ status: 201 })
  })

  it('[REQ-REVIEW-4] reports of an earlier visit do not count', async () => {
    const desk = await inReview()
    await desk.report(await desk.reviewer('security'))
    await desk.report(await desk.reviewer('quality'))
    await desk.back()
    await desk.move('REVIEW')
    expect(messagesOf(await desk.move('DONE'))).toContain(
      'Both must review: no report of security; no report of quality',
    )
  })

  it('[REQ-REVIEW-4] a revoked reviewer’s report no longer counts', async () => {
    const desk = await inReview()
    await desk.report(await desk.reviewer('security'))
    await desk.report(await desk.reviewer('quality'))
    const path = `/tasks/${desk.task}/reviewers/quality/revoke`
    expect(await run.call('POST', path, run.operator, { reason: 'wrong hands' })).toMatchObject({ status: 200 })
    expect(await run.call('POST', path, run.operator, { reason: 'again' })).toMatchObject({ status: 404 })
    expect(messagesOf(await desk.move('DONE'))).toEqual(['Both must review: no report of quality'])
  })

  it('[REQ-REVIEW-10] are read by operators and by the agent of the task, and by no other agent', async () => {
    const desk = await inReview()
    const issue = { text: 'a hole', path: 'src/a.ts', line: 1 }
    await desk.report(await desk.reviewer('security'), { status: 'changes_requested', blocking_issues: [issue] })
    await desk.reviewer('quality')
    for (const token of [run.operator, desk.token, desk.agent])
      expect(await desk.reviews(token)).toMatchObject({
        status: 200,
        body: {
          phase: 'REVIEW',
          required_reviews: ['security', 'quality'],
          reviews: [
            { reviewer: 'security', status: 'changes_requested', blocking_issues: [issue], token_status: 'open' },
            { reviewer: 'quality', status: null, token_status: 'open' },
          ],
        },
      })
    const other = await Desk.lay(() => run, fresh())
    expect(await desk.reviews(other.token)).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    expect(await run.call('GET', '/tasks/nope/reviews', run.operator)).toMatchObject({ status: 404 })
  })

  it('[REQ-REVIEW-4] words of reviewers carry neither control characters nor secrets', async () => {
    const desk = await inReview()
    const text = `\u001B[31mred\u0000 token: ${run.operator} and password=hunter2hunter2`
    await desk.report(await desk.reviewer('security'), { status: 'in_progress', summary: text, comments: [{ text }] })
    const shown = JSON.stringify((await desk.reviews()).body)
    expect(shown).not.toContain(run.operator)
    expect(shown).not.toMatch(/\\u001b|\\u0000/)
  })

  it('[REQ-REVIEW-11] a report or a minting sent twice under one key acts once, and the token is minted again', async () => {
    const desk = await inReview()
    const key = { 'idempotency-key': `k-${desk.task}` }
    const path = `/tasks/${desk.task}/reviewers`
    const minted = await run.call('POST', path, run.operator, { name: 'security' }, key)
    const again = await run.call('POST', path, run.operator, { name: 'security' }, key)
    expect([minted.status, again.status]).toEqual([201, 201])
    const body = { report: { status: 'completed' } }
    const [first, second] = [String(minted.body.review_token), String(again.body.review_token)]
    expect(await run.call('POST', `/tasks/${desk.task}/reviews`, first, body, key)).toMatchObject({ status: 201 })
    expect(await run.call('POST', `/tasks/${desk.task}/reviews`, second, body, key)).toMatchObject({
      status: 201,
      body: { finished: true },
    })
    expect(await desk.report(second)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    const types = (await desk.events()).map((event) => event.type)
    expect(types.filter((type) => type === 'reviewer_added' || type === 'review_submitted')).toEqual([
      'reviewer_added',
      'review_submitted',
    ])
  })

  it('[REQ-REVIEW-11] reviewers of the same name on two tasks are two callers: a key of the one is free for the other', async () => {
    const key = { 'idempotency-key': fresh() }
    for (const desk of [await inReview(), await inReview()]) {
      const body = { report: { status: 'completed' } }
      const token = await desk.reviewer('security')
      expect(await run.call('POST', `/tasks/${desk.task}/reviews`, token, body, key)).toMatchObject({ status: 201 })
    }
  })

  it('[REQ-REVIEW-8] an agent that asks again and again while it waits for reviews is not parked', async () => {
    const desk = await inReview()
    await desk.reviewer('security')
    for (let at = 0; at < 15; at += 1) expect((await desk.move('DONE')).body.allowed).toBe(false)
    expect((await run.call('GET', `/tasks/${desk.task}`, run.operator)).body).toMatchObject({ status: 'active' })
  })
})

describe('what a review token opens', () => {
  it('[REQ-REVIEW-3] tools that look are run, recorded under the reviewer’s name, and give what is there', async () => {
    const desk = await inReview()
    const security = await desk.reviewer('security')
    const results = [
      ['read_files', { path: 'src/a.ts' }, { content: expect.stringContaining('answer') }],
      ['glob', { pattern: 'src/**' }, { paths: ['src/a.ts'] }],
      ['grep', { pattern: 'answer' }, { matches: [{ path: 'src/a.ts', line: 1 }] }],
      ['search_codebase', { query: 'answer' }, {}],
      ['git_status', {}, { branch: expect.any(String) }],
      ['git_diff', {}, { diff: expect.any(String) }],
      ['git_log', {}, { commits: [{ subject: 'first' }] }],
    ] as const
    for (const [tool, args, result] of results)
      expect([tool, await desk.use(security, tool, args)]).toMatchObject([tool, { status: 200, body: { result } }])
    const events = (await desk.events()).filter((event) => event.actor === 'reviewer:security')
    expect(events.map((event) => event.type)).toEqual(results.flatMap(() => ['tool_allowed', 'tool_finished']))
    expect(events.every((event) => event.data.reviewer === 'security' && event.data.agent_id === undefined)).toBe(true)
  })

  it.each([
    ['write_files', { path: 'x', content: 'y' }],
    ['edit_files', { path: 'src/a.ts', edits: [{ old: '42', new: '43' }] }],
    ['bash', { command: 'touch x' }],
    ['run_tests', {}],
    ['git_commit', { message: 'm' }],
    ['ask_user_question', { question: 'May I?' }],
    ['web_fetch', { url: 'https://example.com' }],
  ])('[REQ-REVIEW-3] %s is refused and recorded, executed, checked or in a batch', async (tool, args) => {
    const desk = await inReview()
    const security = await desk.reviewer('security')
    expect(await desk.use(security, tool, args)).toMatchObject({
      status: 403,
      body: {
        code: 'forbidden_tool',
        allowed_tools: expect.arrayContaining(['read_files']),
        next_step: expect.stringContaining('/reviews'),
      },
    })
    expect((await desk.use(security, tool, args, 'check')).body).toMatchObject({
      allowed: false,
      code: 'forbidden_tool',
    })
    const calls = [{ tool_name: tool, args }]
    const batch = await run.call('POST', '/tools/batch', security, { task_id: desk.task, calls })
    expect(batch.body).toMatchObject({ results: [{ error: { code: 'forbidden_tool' } }] })
    const denied = (await desk.events()).filter((event) => event.type === 'tool_denied')
    expect(denied.map((event) => event.actor)).toEqual(Array.from({ length: 3 }, () => 'reviewer:security'))
    expect((await run.call('GET', `/tasks/${desk.task}`, run.operator)).body).toMatchObject({ refusals: 0 })
  })

  it('[REQ-REVIEW-3] every other call is refused and recorded', async () => {
    const desk = await inReview()
    const security = await desk.reviewer('security')
    const { task } = desk
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ['POST', '/tasks/claim', { agent_id: 'security' }],
      ['POST', '/tasks/transition', { task_id: task, target_phase: 'DONE' }],
      ['POST', '/tasks/heartbeat', { task_id: task }],
      ['POST', '/tasks/release', { task_id: task }],
      ['POST', '/tokens/renew', { task_id: task }],
      ['GET', '/prompt'],
      ['GET', '/events'],
      ['GET', '/tasks'],
      ['GET', `/tasks/${task}`],
      ['GET', `/tasks/${task}/timeline`],
      ['GET', `/tasks/${task}/reviews`],
      ['POST', `/tasks/${task}/reviewers`, { name: 'quality' }],
      ['POST', `/tasks/${task}/reviewers/security/revoke`, { reason: 'r' }],
      ['POST', `/tasks/${task}/cancel`, { reason: 'r' }],
      ['GET', '/approvals'],
      ['GET', '/approvals/apr-1-x'],
      ['POST', '/approvals/apr-1-x/decision', { decision: 'approve', digest: '0'.repeat(64) }],
      ['GET', '/questions'],
      ['POST', '/questions/qst-1-x/answer', { answer: 'yes' }],
      ['GET', '/audit/recent'],
      ['POST', '/agents', { agent_id: 'mine' }],
      ['POST', '/pause', {}],
    ]
    for (const [method, path, body] of calls) {
      const before = await newest('not_permitted')
      expect([path, await run.call(method, path, security, body)]).toMatchObject([
        path,
        { status: 403, body: { code: 'not_permitted' } },
      ])
      const event = await newest('not_permitted')
      expect([path, event?.actor]).toEqual([path, 'reviewer:security'])
      expect(event?.seq).toBeGreaterThan(before?.seq ?? 0)
    }
    expect((await run.call('GET', `/tasks/${task}`, run.operator)).body).toMatchObject({
      status: 'active',
      phase: 'REVIEW',
    })
  })

  it('[REQ-REVIEW-10] the snapshot shows the one task, its artifacts and the reviewer’s own report, and stays under 100 KB', async () => {
    const { task } = await Desk.lay(() => run, `elsewhere-${fresh()}`)
    const other = await inReview()
    await other.report(await other.reviewer('quality'), { status: 'changes_requested', summary: 'between us' })
    const security = await other.reviewer('security')
    await other.report(security, { status: 'in_progress', summary: 'mine' })
    const { body } = await run.call('GET', '/state/snapshot', security)
    expect(body).toMatchObject({
      task: { id: other.task, phase: 'REVIEW' },
      reviewer: 'security',
      required_reviews: ['security', 'quality'],
      reviews: [
        { reviewer: 'quality', status: 'changes_requested' },
        { reviewer: 'security', status: 'in_progress' },
      ],
      report: { status: 'in_progress', summary: 'mine' },
      subject: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const text = JSON.stringify(body)
    expect(text).not.toContain('between us')
    expect(text).not.toContain(task)
    expect(text).not.toContain(run.workspace)
  })

  it('[REQ-REVIEW-10] an artifact that is too large for the snapshot is read by itself, of the own task only', async () => {
    const LARGE = `
name: large
version: "1"
phases:
  - {id: A, allowed_tools: []}
  - id: B
    allowed_tools: []
    required_artifacts: [{type: note, description: a note}, {type: small, description: a small one}]
    gates: [{id: g, type: approval, approvers: [human]}]
  - {id: C, allowed_tools: []}
`
    await run.call('POST', '/contracts', run.operator, { source: LARGE })
    const desk = new Desk(() => run, fresh())
    await run.addTask({ id: desk.task, contract: 'large' })
    desk.token = await run.claim(`agent-${desk.task}`, await run.addAgent(`agent-${desk.task}`), desk.task)
    await desk.move('B')
    const note = { text: 'n'.repeat(200_000) }
    expect((await desk.move('C', { artifacts: { note, small: { a: 1 } } })).body).toMatchObject({ allowed: false })
    const token = await desk.reviewer('anybody')
    const { body } = await run.call('GET', '/state/snapshot', token)
    expect(JSON.stringify(body).length).toBeLessThan(100_000)
    expect(body).toMatchObject({
      truncated: true,
      artifacts: [
        { type: 'small', content: { a: 1 } },
        { type: 'note', content: null },
      ],
    })
    expect(await run.call('GET', `/tasks/${desk.task}/artifacts/note`, token)).toMatchObject({
      status: 200,
      body: { content: note },
    })
    expect(await run.call('GET', `/tasks/${desk.task}/artifacts/nope`, token)).toMatchObject({ status: 404 })
    const other = await inReview()
    expect(await run.call('GET', `/tasks/${desk.task}/artifacts/note`, await other.reviewer('security'))).toMatchObject(
      {
        status: 403,
        body: { code: 'token_mismatch' },
      },
    )
    expect(await run.call('GET', `/tasks/${desk.task}/artifacts/note`, desk.token)).toMatchObject({ status: 403 })
  })
})

describe('a review token that is over', () => {
  const tools = (desk: Desk, token: string) => desk.use(token, 'read_files', { path: 'src/a.ts' }, 'check')
  /** Refused at every door, and the task's stream says so. */
  const dead = async (desk: Desk, token: string, code = 'token_stale') => {
    for (const answer of [
      await tools(desk, token),
      await desk.report(token),
      await run.call('GET', '/state/snapshot', token),
      await run.call('GET', `/tasks/${desk.task}/artifacts/review_report`, token),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code } })
    const refused = (await desk.events()).filter((event) => event.type === 'token_refused')
    expect(refused.slice(-4).map((event) => [event.actor, event.data.code])).toEqual(
      Array.from({ length: 4 }, () => ['reviewer:security', code]),
    )
  }

  it('[REQ-REVIEW-2] has finished a review', async () => {
    const desk = await inReview()
    const token = await desk.reviewer('security')
    await desk.report(token)
    await dead(desk, token)
    expect((await tools(desk, token)).body.remedy).toBe('Ask an operator for a new review token.')
  })

  it('[REQ-REVIEW-2] was superseded, or revoked', async () => {
    const desk = await inReview()
    const older = await desk.reviewer('security')
    const newer = await desk.reviewer('security')
    await dead(desk, older)
    expect((await tools(desk, newer)).body.allowed).toBe(true)
    await run.call('POST', `/tasks/${desk.task}/reviewers/security/revoke`, run.operator, { reason: 'r' })
    await dead(desk, newer)
  })

  it('[REQ-REVIEW-2] is of a visit that ended, also when the phase is entered again', async () => {
    const desk = await inReview()
    const token = await desk.reviewer('security')
    expect((await tools(desk, token)).body.allowed).toBe(true)
    await desk.back()
    await dead(desk, token)
    await desk.move('REVIEW')
    await dead(desk, token)
    const rewound = await inReview()
    const other = await rewound.reviewer('security')
    await run.call('POST', `/tasks/${rewound.task}/rewind`, run.operator, { to_phase: 'REVIEW', reason: 'r' })
    await dead(rewound, other)
  })

  it('[REQ-REVIEW-2] has expired, or is of a task that is over', async () => {
    const desk = await inReview()
    const token = await desk.reviewer('security', { expires_seconds: 60 })
    run.now = Date.now() + 50_000
    expect((await tools(desk, token)).body.allowed).toBe(true)
    run.now = Date.now() + 125_000
    expect(await tools(desk, token)).toMatchObject({ status: 403, body: { code: 'token_invalid' } })
    run.now = null
    const cancelled = await inReview()
    const last = await cancelled.reviewer('security')
    await run.call('POST', `/tasks/${cancelled.task}/cancel`, run.operator, { reason: 'r' })
    expect(await tools(cancelled, last)).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
  })

  it('[REQ-REVIEW-2] is of another task', async () => {
    const desk = await inReview()
    const other = await inReview()
    const token = await other.reviewer('security')
    expect(await tools(desk, token)).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    expect(await desk.report(token)).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
  })

  it('[REQ-REVIEW-2] is at rest while all agents are paused', async () => {
    const desk = await inReview()
    const token = await desk.reviewer('security')
    await run.call('POST', '/pause', run.operator, { reason: 'r' })
    expect(await tools(desk, token)).toMatchObject({ status: 409, body: { code: 'agents_paused' } })
    await run.call('POST', '/unpause', run.operator, {})
    expect((await tools(desk, token)).body.allowed).toBe(true)
  })
})

const WRONG: readonly (readonly [string, unknown])[] = [
  ['no status', {}],
  ['a status that is none', { status: 'done' }],
  ['an unknown field', { status: 'completed', verdict: 'fine' }],
  ['a comment without text', { status: 'completed', comments: [{ path: 'a' }] }],
  ['a blank comment', { status: 'completed', comments: [{ text: ' \n' }] }],
  ['a comment of another shape', { status: 'completed', comments: ['text'] }],
  ['a comment of 4,001 characters', { status: 'completed', comments: [{ text: 'x'.repeat(4001) }] }],
  ['201 comments', { status: 'completed', comments: Array.from({ length: 201 }, () => ({ text: 'x' })) }],
  ['line zero', { status: 'completed', comments: [{ text: 'x', line: 0 }] }],
  ['an unknown field of a comment', { status: 'completed', comments: [{ text: 'x', by: 'me' }] }],
  ['an empty issue', { status: 'completed', blocking_issues: [''] }],
  ['an issue that is a number', { status: 'completed', blocking_issues: [1] }],
  ['101 issues', { status: 'completed', blocking_issues: Array.from({ length: 101 }, () => 'x') }],
  ['an approval with blocking issues', { status: 'approved', blocking_issues: ['x'] }],
  ['a list', []],
]

describe('reports of a wrong shape', () => {
  it.each(WRONG)('[REQ-REVIEW-4] %s is refused', async (_name, report) => {
    const desk = await inReview()
    const token = await desk.reviewer('security')
    expect(await desk.report(token, report)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect((await desk.reviews()).body).toMatchObject({ reviews: [{ status: null }] })
  })

  it('[REQ-REVIEW-4] a report of more than 256 KiB is refused and recorded', async () => {
    const desk = await inReview()
    const comments = Array.from({ length: 100 }, () => ({ text: 'x'.repeat(3000) }))
    expect(await desk.report(await desk.reviewer('security'), { status: 'completed', comments })).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    })
    expect((await desk.events()).at(-1)).toMatchObject({ type: 'review_refused', actor: 'reviewer:security' })
  })

  it.each(['', 'a b', '__proto__', '-x', 'x'.repeat(65), 'é', '../x', 7])(
    '[REQ-REVIEW-1] nobody is let in under the name %j',
    async (name) => {
      const desk = await inReview()
      expect(await desk.mint(name as string)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    },
  )

  it('[REQ-REVIEW-1] a name that the phase does not ask for and an invalid time are refused', async () => {
    const desk = await inReview()
    expect(await desk.mint('vibes')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    for (const expires_seconds of [0, -1, 1.5, 2_592_001, '60'])
      expect(await desk.mint('security', { expires_seconds })).toMatchObject({ status: 400 })
    expect(await run.call('POST', '/tasks/nope/reviewers', run.operator, { name: 'x' })).toMatchObject({ status: 404 })
  })
})

describe('a restart', () => {
  it('[REQ-REVIEW-9] keeps reviewers, their reports and which of their tokens are alive', async () => {
    let own = await start({ contract: REVIEWED })
    try {
      const desk = await Desk.inReview(() => own, 'r')
      const done = await desk.reviewer('security')
      await desk.report(done, { status: 'completed', comments: [{ text: 'kept' }] })
      const older = await desk.reviewer('quality')
      const newer = await desk.reviewer('quality')
      const before = (await desk.reviews()).body
      own = await own.restart()
      expect((await desk.reviews()).body).toEqual(before)
      for (const token of [done, older])
        expect(await desk.report(token)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
      expect(await desk.report(newer)).toMatchObject({ status: 201 })
      expect((await desk.move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
      expect(own.faults).toEqual([])
    } finally {
      await own.stop()
    }
  })
})
