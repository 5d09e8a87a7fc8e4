import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askQuestion } from '../../src/app/approvals/questions.js'
import { admitted, ask, asked } from './asking.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: asking
version: "1"
phases:
  - {id: A, allowed_tools: [ask_user_question]}
  - {id: B, allowed_tools: [ask_user_question]}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
`

type Shown = { readonly id: string; readonly status: string; readonly question: string; readonly task_id: string }

describe('questions', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
  })
  afterAll(() => run.stop())

  const setUp = async (id: string) => {
    await run.addTask({ id, title: `Task ${id}` })
    const agent = await run.addAgent(`agent-${id}`)
    return { agent, token: await run.claim(`agent-${id}`, agent, id) }
  }
  const answer = (id: string, token: string, body: unknown, headers?: Record<string, string>) =>
    run.call('POST', `/questions/${id}/answer`, token, body, headers)
  const show = (id: string, token = run.operator) => run.call('GET', `/questions/${id}`, token)
  const list = async (query: string, token = run.operator) => {
    const got = await run.call('GET', `/questions${query}`, token)
    expect(got.status).toBe(200)
    return { questions: got.body.questions as Shown[], next: got.body.next_cursor as string | null }
  }
  const timeline = async (id: string) =>
    (await run.call('GET', `/tasks/${id}/timeline`, run.operator)).body.events as {
      type: string
      actor: string
      data: Record<string, unknown>
    }[]

  it('[REQ-QUESTION-4] an agent cannot answer its own question or another’s, and each attempt is recorded', async () => {
    const { agent, token } = await setUp('cheat')
    const other = await setUp('other')
    const id = await asked(run, token, 'May I skip the tests?', ['yes', 'no'])
    for (const bearer of [token, agent])
      expect(await answer(id, bearer, { answer: 'yes' })).toMatchObject({
        status: 403,
        body: { code: 'not_permitted', retry: { max: 3 } },
      })
    const inBody = await run.call('POST', `/questions/${id}/answer`, null, { answer: 'yes', phase_token: token })
    expect(inBody).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await answer(id, other.token, { answer: 'yes' })).toMatchObject({
      status: 403,
      body: { code: 'not_permitted' },
    })
    expect(await answer(id, 'nonsense', { answer: 'yes' })).toMatchObject({ status: 403 })
    expect((await run.call('POST', `/questions/${id}/answer`, null, { answer: 'yes' })).status).toBe(401)
    const refused = (await timeline('cheat')).filter((event) => event.type === 'question_refused')
    expect(refused).toHaveLength(3)
    expect(refused[0]).toMatchObject({
      actor: 'agent:agent-cheat',
      data: { question_id: id, code: 'not_permitted', success: false, counted: true },
    })
    expect((await show(id)).body).toMatchObject({ status: 'open', answer: null })
    const elsewhere = (await run.call('GET', '/audit/query?agent_id=agent-other&code=not_permitted', run.operator)).body
    expect(elsewhere.events).toHaveLength(1)
  })

  it('[REQ-QUESTION-4] an agent sees the questions of its own task and no others', async () => {
    const mine = await setUp('mine')
    const theirs = await setUp('theirs')
    const id = await asked(run, mine.token, 'Mine?')
    const foreign = await asked(run, theirs.token, 'Theirs?')
    for (const token of [mine.token, mine.agent]) {
      expect((await list('', token)).questions.map((one) => one.id)).toEqual([id])
      expect((await list('?task_id=mine&status=open', token)).questions).toHaveLength(1)
      expect((await list('?task_id=theirs', token)).questions).toEqual([])
      expect((await list('?task_id=nobody', token)).questions).toEqual([])
      expect((await show(id, token)).body).toMatchObject({ id, status: 'open' })
      expect(await show(foreign, token)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    }
    const idle = await run.addAgent('idle')
    expect(await run.call('GET', '/questions', idle)).toMatchObject({ status: 409, body: { code: 'no_active_task' } })
    await run.claim('agent-mine', mine.agent)
    expect(await show(id, mine.token)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
  })

  it('[REQ-QUESTION-2] the task goes on while a question is open, and shows how many are', async () => {
    const { token } = await setUp('busy')
    const id = await asked(run, token, 'Which port?')
    await asked(run, token, 'Which host?')
    const task = (await run.call('GET', '/tasks/busy', run.operator)).body
    expect(task).toMatchObject({ status: 'active', phase: 'A', open_questions: 2 })
    const snapshot = (await run.call('GET', '/state/snapshot', token)).body
    expect(snapshot).toMatchObject({ task: { open_questions: 2 } })
    await answer(id, run.operator, { answer: '8080' })
    const rows = (await run.call('GET', '/tasks', run.operator)).body.tasks as { id: string; open_questions: number }[]
    expect(rows.find((row) => row.id === 'busy')).toMatchObject({ open_questions: 1 })
    expect((await run.call('POST', '/tasks/heartbeat', token, {})).status).toBe(200)
  })

  it('[REQ-QUESTION-3] the tool gives the open question again, and then its answer', async () => {
    const { token } = await setUp('patient')
    const question = { question: 'Which database?', options: ['postgres', 'sqlite'] }
    const first = await ask(run, token, question)
    expect(first).toMatchObject({ status: 200, body: { logged: true, decision: 'allowed' } })
    expect(first.body.result).toEqual({
      status: 'open',
      question_id: expect.stringMatching(/^qst-\d+-patient$/),
      ...question,
    })
    expect((await ask(run, token, question)).body.result).toEqual(first.body.result)
    const id = await asked(run, token, question.question, question.options)
    expect(await answer(id, run.operator, { answer: 'sqlite' })).toMatchObject({
      status: 200,
      body: {
        id,
        task_id: 'patient',
        task_title: 'Task patient',
        agent_id: 'agent-patient',
        phase: 'A',
        status: 'answered',
        ...question,
        answer: 'sqlite',
        answered_by: 'admin',
        answered_at: expect.any(String),
      },
    })
    expect((await ask(run, token, question)).body.result).toEqual({
      status: 'answered',
      question_id: id,
      answer: 'sqlite',
      answered_by: 'admin',
    })
    expect((await timeline('patient')).filter((event) => event.type === 'question_asked')).toHaveLength(1)
  })

  it('[REQ-QUESTION-3] fifty calls at once that ask the same open one question', async () => {
    const { token } = await setUp('crowd')
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => ask(run, token, { question: 'Now?' })))
    const ids = new Set(outcomes.map((one) => (one.body.result as { question_id?: string } | undefined)?.question_id))
    expect([...ids]).toEqual([expect.any(String)])
    expect((await list('?task_id=crowd')).questions).toHaveLength(1)
  })

  it('[REQ-QUESTION-1] a sixth open question is refused with a number of the try, and the task says so', async () => {
    const { token } = await setUp('eager')
    for (let at = 0; at < 5; at += 1) await asked(run, token, `Question ${at}?`)
    expect(await ask(run, token, { question: 'One more?' })).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        detail: expect.stringContaining('5 questions of this task are open, the most that are allowed'),
        retry: { attempt: 1, max: 3 },
      },
    })
    expect((await list('?task_id=eager')).questions).toHaveLength(5)
    expect((await timeline('eager')).slice(-3)).toMatchObject([
      { type: 'tool_allowed' },
      { type: 'question_refused', data: { question_id: null, code: 'conflict', counted: true } },
      { type: 'tool_finished', data: { success: false, code: 'conflict' } },
    ])
  })

  it('[REQ-QUESTION-5] an answer is final, and what is not a question is not found', async () => {
    const { token } = await setUp('final')
    const id = await asked(run, token, 'Sure?')
    for (const body of [{}, { answer: '' }, { answer: 'x'.repeat(4001) }, { answer: 1 }, { answer: 'x', extra: 1 }])
      expect(await answer(id, run.operator, body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await answer(id, run.operator, { answer: ' \n ' })).toMatchObject({ status: 400 })
    const both = await Promise.all([
      answer(id, run.operator, { answer: 'yes' }),
      answer(id, run.operator, { answer: 'no' }),
    ])
    expect(both.map((one) => one.status).sort()).toEqual([200, 409])
    expect(await answer(id, run.operator, { answer: 'maybe' })).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('was answered already') },
    })
    for (const none of ['qst-99-final', 'qst-1-nope', 'nope', 'qst-1-', 'apr-1-final', '__proto__'])
      expect(await answer(none, run.operator, { answer: 'x' }), none).toMatchObject({ status: 404 })
  })

  it('[REQ-QUESTION-6] an answer beside the options must be marked as such', async () => {
    const { token } = await setUp('choice')
    const id = await asked(run, token, 'Which?', ['left', 'right'])
    for (const text of ['up', 'LEFT', 'left '])
      expect(await answer(id, run.operator, { answer: text })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('"left", "right"') },
      })
    expect(await answer(id, run.operator, { answer: 'up', other: true })).toMatchObject({
      status: 200,
      body: { answer: 'up' },
    })
  })

  it('[REQ-QUESTION-7] a question is withdrawn with the phase, with the task and by a rewind', async () => {
    const { token } = await setUp('moving')
    const id = await asked(run, token, 'In A?')
    const moved = await run.call('POST', '/tasks/transition', token, { task_id: 'moving', target_phase: 'B' })
    expect(moved.body).toMatchObject({ allowed: true })
    expect((await show(id)).body).toMatchObject({ status: 'withdrawn' })
    expect(await answer(id, run.operator, { answer: 'late' })).toMatchObject({ status: 409 })
    const second = await asked(run, String(moved.body.phase_token), 'In B?')
    await run.call('POST', '/tasks/moving/rewind', run.operator, { to_phase: 'A', reason: 'again' })
    expect((await show(second)).body).toMatchObject({ status: 'withdrawn' })
    const token3 = await run.claim('agent-moving', await run.addAgent('agent-moving'), 'moving')
    const third = await asked(run, token3, 'In A?')
    expect(third).not.toBe(id)
    await run.call('POST', '/tasks/moving/cancel', run.operator, { reason: 'enough' })
    expect((await show(third)).body).toMatchObject({ status: 'withdrawn' })
    expect((await run.call('GET', '/tasks/moving', run.operator)).body).toMatchObject({ open_questions: 0 })
    expect((await list('?status=open')).questions.filter((one) => one.task_id === 'moving')).toEqual([])
    expect((await list('?status=withdrawn')).questions.filter((one) => one.task_id === 'moving')).toHaveLength(3)
  })

  it('[REQ-QUESTION-9] pages of any size together list every question once', async () => {
    for (const id of ['page1', 'page2', 'page3']) {
      const { token } = await setUp(id)
      for (const text of ['a?', 'b?', 'c?']) await asked(run, token, text)
      await answer(await asked(run, token, 'a?'), run.operator, { answer: 'yes' })
    }
    for (const status of ['', 'status=open&', 'status=answered&', 'status=withdrawn&']) {
      const all = (await list(`?${status}limit=1000`)).questions.map((one) => one.id)
      expect(new Set(all).size).toBe(all.length)
      for (const limit of [1, 2, 7]) {
        const seen: string[] = []
        let cursor: string | null = ''
        while (cursor !== null) {
          const page: Awaited<ReturnType<typeof list>> = await list(
            `?${status}limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          )
          expect(page.questions.length).toBeLessThanOrEqual(limit)
          seen.push(...page.questions.map((one) => one.id))
          cursor = page.next
        }
        expect(seen).toEqual(all)
      }
    }
    const one = await list('?task_id=page1&limit=2')
    expect(one.questions.map((question) => question.question)).toEqual(['a?', 'b?'])
    const rest = await list(`?task_id=page1&limit=2&cursor=${one.next}`)
    expect(rest).toMatchObject({ questions: [{ question: 'c?' }], next: null })
    expect((await list('?task_id=nobody')).questions).toEqual([])
    const places = [[], {}, 7, [1, 'a', 1], ['x', 'a', 1], [null, 'a', 1.5], [null, null, 1]].map((place) =>
      Buffer.from(JSON.stringify(place)).toString('base64url'),
    )
    for (const cursor of ['nonsense', 'cDE', '%00', ...places])
      expect(await run.call('GET', `/questions?cursor=${cursor}`, run.operator), cursor).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      })
    expect((await run.call('GET', '/questions?status=nope', run.operator)).status).toBe(400)
  })

  it('[REQ-QUESTION-10] an agent sees question and answer among the events of its task', async () => {
    const { token } = await setUp('listening')
    const stop = new AbortController()
    const response = await fetch(`${run.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const noise = await setUp('noise')
    await asked(run, noise.token, 'Not yours?')
    const id = await asked(run, token, 'Heard?')
    await answer(id, run.operator, { answer: 'loud and clear' })
    let text = ''
    while (!text.includes('loud and clear')) text += new TextDecoder().decode((await reader.read()).value)
    stop.abort()
    expect(text).toMatch(/event: question_asked[\s\S]*Heard\?[\s\S]*event: question_answered[\s\S]*"by":"admin"/)
    expect(text).not.toContain('Not yours?')
  })

  it('[REQ-QUESTION-11] an answer sent twice under one key acts once and is answered the same', async () => {
    const { token } = await setUp('twice')
    const id = await asked(run, token, 'Again?')
    const key = { 'idempotency-key': 'answer-1' }
    const first = await answer(id, run.operator, { answer: 'yes' }, key)
    expect(first.status).toBe(200)
    expect(await answer(id, run.operator, { answer: 'yes' }, key)).toMatchObject({ status: 200, body: first.body })
    expect(await answer(id, run.operator, { answer: 'no' }, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_mismatch' },
    })
    expect(await answer(id, run.operator, { answer: 'yes' }, { 'idempotency-key': 'answer-2' })).toMatchObject({
      status: 409,
    })
    expect((await timeline('twice')).filter((event) => event.type === 'question_answered')).toHaveLength(1)
  })

  it('[REQ-QUESTION-11] a question sent twice under one key is asked once and answered the same', async () => {
    const { token } = await setUp('retried')
    const first = await ask(run, token, { question: 'Lost?' }, 'ask-1')
    await answer(await asked(run, token, 'Lost?'), run.operator, { answer: 'found' })
    expect(await ask(run, token, { question: 'Lost?' }, 'ask-1')).toMatchObject({ status: 200, body: first.body })
    expect(await ask(run, token, { question: 'Other?' }, 'ask-1')).toMatchObject({ status: 422 })
    expect((await timeline('retried')).filter((event) => event.type === 'question_asked')).toHaveLength(1)
  })

  it('[REQ-QUESTION-2] a phase that does not offer the tool lets nobody ask, and a check asks nothing', async () => {
    const { token } = await setUp('mute')
    const checked = await run.call('POST', '/tools/check', token, {
      task_id: 'mute',
      tool_name: 'ask_user_question',
      args: { question: 'Only a check?' },
    })
    expect(checked.body).toMatchObject({ allowed: true })
    const inB = await run.call('POST', '/tasks/transition', token, { task_id: 'mute', target_phase: 'B' })
    const inC = await run.call('POST', '/tasks/transition', String(inB.body.phase_token), {
      task_id: 'mute',
      target_phase: 'C',
    })
    const refused = await ask(run, String(inC.body.phase_token), { question: 'Here?' })
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden_tool' } })
    expect((await list('?task_id=mute')).questions).toEqual([])
  })

  it('[REQ-QUESTION-12] control characters, half pairs and secrets reach neither the ledger nor a reader', async () => {
    const { token } = await setUp('hostile')
    const secret = `ghp_${'a1'.repeat(15)}`
    const question = `\u001B[2J\u0000\u009B31m use ${secret}?\n\tline`
    const id = await asked(run, token, question, ['\u0007a', 'b'])
    expect((await show(id)).body).toMatchObject({
      question: '\uFFFD[2J\uFFFD\uFFFD31m use [redacted]?\n\tline',
      options: ['\uFFFDa', 'b'],
    })
    expect(await asked(run, token, question, ['\u0007a', 'b'])).toBe(id)
    const answered = await answer(id, run.operator, { answer: `\u001B ${secret}`, other: true })
    expect(answered.body).toMatchObject({ answer: '\uFFFD [redacted]' })
    const halved = await askQuestion(run.app, await admitted(run, token), { question: 'half \uD800?' })
    expect(halved).toMatchObject({ ok: true, result: { question: 'half \uFFFD?' } })
    const events = await timeline('hostile')
    expect(JSON.stringify(events)).not.toContain(secret)
    const told = events.filter((event) => event.type.startsWith('question_'))
    expect(told).toHaveLength(3)
    expect(JSON.stringify(told)).not.toMatch(/\\u001b|\\u0000|\\ud800/i)
  })

  it('[REQ-QUESTION-12] the longest question is kept whole, and a longer one is refused', async () => {
    const { token } = await setUp('long')
    for (const [question, options] of [
      ['\u0001'.repeat(4000), undefined],
      ['😀'.repeat(4000), Array.from({ length: 10 }, (_, at) => `${at}${'😀'.repeat(199)}`)],
      ['"\\\n'.repeat(1333), undefined],
    ] as const) {
      const id = await asked(run, token, question, options)
      expect(await asked(run, token, question, options)).toBe(id)
      expect([...String((await show(id)).body.question)]).toHaveLength([...question].length)
      await answer(id, run.operator, { answer: '\u0002'.repeat(4000), other: true })
      expect(String((await show(id)).body.answer)).toBe('\uFFFD'.repeat(4000))
    }
    for (const args of [
      { question: 'x'.repeat(4001) },
      { question: 'x'.repeat(9_000_000) },
      { question: '?', options: Array.from({ length: 1000 }, (_, at) => `${at}`) },
      { question: '?', options: ['x'.repeat(1_000_000)] },
    ])
      expect(await ask(run, token, args)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect((await list('?task_id=long')).questions).toHaveLength(3)
    expect(JSON.stringify(await timeline('long')).length).toBeLessThan(400_000)
  })

  it('[REQ-QUESTION-12] a call that was allowed in one phase asks nothing in the next, with either token', async () => {
    const { agent, token } = await setUp('slow')
    const calls = [await admitted(run, agent), await admitted(run, token)]
    await run.call('POST', '/tasks/transition', token, { task_id: 'slow', target_phase: 'B' })
    for (const call of calls)
      expect(await askQuestion(run.app, call, { question: 'Too late?' })).toMatchObject({
        ok: false,
        code: 'token_stale',
      })
    expect((await list('?task_id=slow')).questions).toEqual([])
    expect(await ask(run, agent, { question: 'In time?' })).toMatchObject({ status: 200 })
  })

  it('[REQ-QUESTION-12] a call whose token was superseded meanwhile asks nothing', async () => {
    const { agent, token } = await setUp('late')
    const pending = Promise.allSettled([
      run.claim('agent-late', agent),
      ask(run, token, { question: 'Still me?' }),
      ask(run, token, { question: 'Still me?' }),
    ])
    await pending
    const events = await timeline('late')
    const claimed = events.map((event) => event.type).lastIndexOf('task_claimed')
    expect(events.slice(claimed).filter((event) => event.type === 'question_asked')).toEqual([])
    expect(run.faults).toEqual([])
  })
})

describe('questions and a restart', () => {
  it('[REQ-QUESTION-10] questions and answers survive a restart', async () => {
    const first = await start({ contract: CONTRACT })
    await first.addTask({ id: 'kept' })
    const agent = await first.addAgent('ada')
    const token = await first.claim('ada', agent, 'kept')
    const open = await asked(first, token, 'Open?')
    const done = await asked(first, token, 'Done?', ['yes', 'no'])
    const answered = await first.call('POST', `/questions/${done}/answer`, first.operator, { answer: 'no' })
    const before = (await first.call('GET', '/questions', first.operator)).body
    const second = await first.restart()
    try {
      expect((await second.call('GET', '/questions', second.operator)).body).toEqual(before)
      expect((await second.call('GET', `/questions/${done}`, second.operator)).body).toEqual(answered.body)
      expect((await ask(second, token, { question: 'Done?', options: ['yes', 'no'] })).body).toMatchObject({
        result: { status: 'answered', answer: 'no', answered_by: 'admin' },
      })
      expect(await asked(second, token, 'Open?')).toBe(open)
      const late = await second.call('POST', `/questions/${open}/answer`, second.operator, { answer: 'closed' })
      expect(late).toMatchObject({ status: 200, body: { answer: 'closed' } })
    } finally {
      await second.stop()
    }
  })
})
