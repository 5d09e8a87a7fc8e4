import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const LOOP = `
name: loop
version: "1"
phases:
  - {id: A, allowed_tools: [read_files]}
  - {id: B, allowed_tools: [read_files, grep]}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions:
  - {from: A, to: B}
  - {from: B, to: C}
  - {from: B, to: A, when: again}
`

describe('many at once', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: LOOP })
  })
  afterAll(() => run.stop())

  it('[REQ-API-12] fifty agents claim one task at once: one gets it', async () => {
    const task = await run.addTask()
    const agents = await Promise.all(Array.from({ length: 50 }, (_, i) => run.addAgent(`racer-${i}`)))
    const answers = await Promise.all(
      agents.map((token, i) => run.call('POST', '/tasks/claim', token, { agent_id: `racer-${i}`, task_id: task })),
    )
    expect(answers.filter((one) => one.status === 200)).toHaveLength(1)
    for (const lost of answers.filter((one) => one.status !== 200))
      expect(lost).toMatchObject({ status: 409, body: { code: 'already_claimed' } })
    const claims = (await run.call('GET', `/tasks/${task}/timeline`, run.operator)).body.events as { type: string }[]
    expect(claims.filter((event) => event.type === 'task_claimed')).toHaveLength(1)
  })

  it('[REQ-API-13] one agent that claims two tasks at once holds one', async () => {
    const tasks = [await run.addTask(), await run.addTask()]
    const token = await run.addAgent('greedy')
    const answers = await Promise.all(
      tasks.map((task_id) => run.call('POST', '/tasks/claim', token, { agent_id: 'greedy', task_id })),
    )
    expect(answers.map((one) => one.status).sort()).toEqual([200, 409])
    const held = (await run.call('GET', '/tasks?agent_id=greedy', run.operator)).body.tasks as unknown[]
    expect(held).toHaveLength(1)
  })

  it('[REQ-API-14] sixteen transitions with one token at once make one step', async () => {
    const task = await run.addTask()
    const phase = await run.claim('mover', await run.addAgent('mover'), task)
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        run.call('POST', '/tasks/transition', phase, { task_id: task, target_phase: 'B' }),
      ),
    )
    expect(answers.filter((one) => one.body.allowed === true)).toHaveLength(1)
    for (const other of answers.filter((one) => one.body.allowed !== true))
      expect(['conflict', 'token_stale']).toContain(other.body.code)
    expect((await run.call('GET', `/tasks/${task}`, run.operator)).body).toMatchObject({ phase: 'B', epoch: 2 })
  })

  it('[REQ-API-15] two hundred checks at once are two hundred events in order', async () => {
    const task = await run.addTask()
    const phase = await run.claim('busy', await run.addAgent('busy'), task)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        run.call('POST', '/tools/check', phase, { task_id: task, tool_name: 'read_files', args: { path: `f${i}` } }),
      ),
    )
    expect(answers.every((one) => one.body.allowed === true)).toBe(true)
    const page = await run.call('GET', `/tasks/${task}/timeline?limit=1000`, run.operator)
    const events = page.body.events as { type: string; version: number }[]
    expect(events.filter((event) => event.type === 'tool_allowed')).toHaveLength(200)
    expect(events.map((event) => event.version)).toEqual(events.map((_, i) => i + 1))
  })
})

describe('the same call twice', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: LOOP })
  })
  afterAll(() => run.stop())

  it('[REQ-API-16] a transition repeated under its key gives the same answer with a token that works, and makes one step', async () => {
    const task = await run.addTask()
    const phase = await run.claim('k', await run.addAgent('k'), task)
    const again = () =>
      run.call(
        'POST',
        '/tasks/transition',
        phase,
        { task_id: task, target_phase: 'B' },
        { 'idempotency-key': 'move-1' },
      )
    const answers = await Promise.all([again(), again(), again()])
    for (const one of answers) expect(one).toMatchObject({ status: 200, body: { allowed: true, phase: 'B' } })
    const late = await again()
    const check = await run.call('POST', '/tools/check', String(late.body.phase_token), {
      task_id: task,
      tool_name: 'grep',
      args: { pattern: 'x' },
    })
    expect(check.body.allowed).toBe(true)
    expect((await run.call('GET', `/tasks/${task}`, run.operator)).body.epoch).toBe(2)
  })

  it('[REQ-API-17] the same key with another body is refused', async () => {
    const first = await run.call('POST', '/tasks', run.operator, { title: 'One' }, { 'idempotency-key': 'add-1' })
    const same = await run.call('POST', '/tasks', run.operator, { title: 'One' }, { 'idempotency-key': 'add-1' })
    expect(same).toMatchObject({ status: 201, body: { id: first.body.id } })
    expect(
      await run.call('POST', '/tasks', run.operator, { title: 'Two' }, { 'idempotency-key': 'add-1' }),
    ).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  })

  it('[REQ-API-17] the key of one principal says nothing to another', async () => {
    const other = await run.call('POST', '/operators', run.operator, { name: 'second' })
    const mine = await run.call('POST', '/tasks', run.operator, { title: 'Mine' }, { 'idempotency-key': 'shared' })
    const theirs = await run.call(
      'POST',
      '/tasks',
      String(other.body.operator_token),
      { title: 'Theirs' },
      { 'idempotency-key': 'shared' },
    )
    expect(theirs.status).toBe(201)
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  it('[REQ-API-16] no token is kept in the store', async () => {
    const token = await run.addAgent('kept')
    const claimed = await run.call(
      'POST',
      '/tasks/claim',
      token,
      { agent_id: 'kept' },
      { 'idempotency-key': 'claim-1' },
    )
    // Read by another process: closing a descriptor of the database here would drop SQLite's locks.
    const stored = execFileSync('sh', ['-c', 'cat ledger.db*'], {
      cwd: run.stateDir,
      maxBuffer: 64 * 1024 * 1024,
    }).toString('latin1')
    expect(stored).toContain('task_claimed')
    expect(stored.includes('claim-1')).toBe(false)
    for (const secret of [token, String(claimed.body.phase_token), run.operator])
      expect(stored.includes(secret)).toBe(false)
    const again = await run.call('POST', '/tasks/claim', token, { agent_id: 'kept' }, { 'idempotency-key': 'claim-1' })
    expect(again.body).toMatchObject({ task: { id: (claimed.body.task as { id: string }).id, epoch: 1 } })
  })
})
