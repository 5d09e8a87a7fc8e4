import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweep } from '../../src/app/sweep.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: small
version: "1"
phases:
  - id: A
    prompt: "Do {{task.title}}"
    allowed_tools: [read_files, bash]
    tool_constraints: {bash: {allowed_commands: [ls]}}
    checkpoint: {evidence: {count: {type: integer, min: 2, description: how many}, sure: {type: boolean, description: are you sure}}}
    gates: [{id: ok, type: approval, approvers: [lead], timeout_seconds: 60, on_timeout: park}]
  - {id: B, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
enforcement: {reconcile: off}
`

describe('operating', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
  })
  afterAll(() => run.stop())

  const setUp = async (id: string) => {
    await run.addTask({ id })
    const agent = await run.addAgent(`agent-${id}`)
    return { agent, token: await run.claim(`agent-${id}`, agent, id) }
  }
  const status = async (id: string) => (await run.call('GET', `/tasks/${id}`, run.operator)).body
  const evidence = { count: 2, sure: true }

  it('[REQ-API-18] checkpoint evidence is judged field by field, all problems at once', async () => {
    const { token } = await setUp('evidence')
    const messages = async (given: unknown) => {
      const answer = await run.call('POST', '/tasks/transition', token, {
        task_id: 'evidence',
        target_phase: 'B',
        evidence: given,
      })
      return (answer.body.blockers as { message: string }[]).map((one) => one.message)
    }
    expect(await messages({})).toEqual(['count (required: how many)', 'sure (required: are you sure)'])
    expect(await messages({ count: true, sure: 'yes' })).toEqual([
      'count (wrong type: expected integer, got boolean)',
      'sure (wrong type: expected boolean, got string)',
    ])
    expect(await messages({ count: 1, sure: false })).toEqual([
      expect.stringContaining('count (validation failed'),
      expect.stringContaining('sure (validation failed'),
    ])
    expect(await messages({ ...evidence, extra: 1 })).toEqual([
      expect.stringContaining('extra (validation error: unknown field'),
    ])
    expect(await messages(evidence)).toEqual([expect.stringContaining('is pending')])
  })

  it('[REQ-API-19] refusals in a row park the task; an operator resumes it and the agent goes on', async () => {
    const { token } = await setUp('stubborn')
    const bad = () =>
      run.call('POST', '/tools/execute', token, {
        task_id: 'stubborn',
        tool_name: 'write_files',
        args: { path: 'a', content: 'b' },
      })
    for (let i = 0; i < 9; i += 1) expect((await bad()).body.code).toBe('forbidden_tool')
    expect((await bad()).status).toBe(403)
    expect(await status('stubborn')).toMatchObject({ status: 'parked' })
    expect(await bad()).toMatchObject({
      status: 409,
      body: { code: 'task_not_active', next_step: 'Wait: an operator must resume the task.' },
    })
    expect(await run.call('POST', '/tasks/stubborn/resume', run.operator, {})).toMatchObject({ status: 400 })
    expect(
      (await run.call('POST', '/tasks/stubborn/resume', run.operator, { reason: 'talked to it' })).body,
    ).toMatchObject({ status: 'active' })
    expect(
      (
        await run.call('POST', '/tools/check', token, {
          task_id: 'stubborn',
          tool_name: 'read_files',
          args: { path: 'a' },
        })
      ).body.allowed,
    ).toBe(true)
  })

  it('[REQ-API-20] shell constraints look into lists, substitutions and wrappers', async () => {
    const { token } = await setUp('shell')
    const check = async (command: string) =>
      (await run.call('POST', '/tools/check', token, { task_id: 'shell', tool_name: 'bash', args: { command } })).body
    expect(await check('ls -la && ls src | ls')).toMatchObject({ allowed: true })
    for (const command of ['ls; rm x', 'ls $(rm x)', 'env X=1 rm x', 'bash -c "rm x"'])
      expect(await check(command), command).toMatchObject({ allowed: false, code: 'constraint_violation' })
  })

  it('[REQ-API-21] an approval that nobody answers parks the task when its time is up', async () => {
    const { token } = await setUp('waiting')
    await run.call('POST', '/tasks/transition', token, { task_id: 'waiting', target_phase: 'B', evidence })
    expect(await status('waiting')).toMatchObject({ status: 'awaiting_approval' })
    run.now = Date.now() + 61_000
    await sweep(run.app)
    run.now = null
    expect(await status('waiting')).toMatchObject({
      status: 'parked',
      parked_reason: expect.stringContaining('not answered in time'),
    })
  })

  it('[REQ-API-22] approvers are names or roles: others are refused, and the agent is told the comment of a rejection', async () => {
    const { token } = await setUp('roles')
    const lead = String(
      (await run.call('POST', '/operators', run.operator, { name: 'lena', role: 'lead' })).body.operator_token,
    )
    const ask = () => run.call('POST', '/tasks/transition', token, { task_id: 'roles', target_phase: 'B', evidence })
    const { id, digest } = (await ask()).body.pending_approval as { id: string; digest: string }
    const answer = (by: string, decision: string) =>
      run.call('POST', `/approvals/${id}/decision`, by, { decision, digest, comment: 'not yet' })
    expect(await answer(run.operator, 'approve')).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await answer(lead, 'maybe')).toMatchObject({ status: 400 })
    expect(await answer(lead, 'reject')).toMatchObject({ status: 200, body: { status: 'rejected' } })
    expect((await ask()).body.blockers).toMatchObject([
      { code: 'approval_rejected', message: expect.stringContaining('not yet') },
    ])
    expect(await answer(lead, 'approve')).toMatchObject({ status: 409 })
  })

  it('[REQ-API-23] a lapsed lease interrupts the task; the next claim resumes it in the same phase', async () => {
    const { agent, token } = await setUp('lapsing')
    run.now = Date.now() + 901_000
    // A server sweeps every second; one sweep may be too early.
    await expect
      .poll(async () => {
        await sweep(run.app)
        return status('lapsing')
      })
      .toMatchObject({ status: 'interrupted', agent_id: null })
    run.now = null
    expect(await run.call('GET', '/prompt', token)).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
    const other = await run.addAgent('other')
    expect(
      (await run.call('POST', '/tasks/claim', other, { agent_id: 'other', task_id: 'lapsing' })).body,
    ).toMatchObject({ phase: 'A', task: { epoch: 2 } })
    expect(await run.call('GET', '/prompt', agent)).toMatchObject({ status: 409, body: { code: 'no_active_task' } })
  })

  it('[REQ-API-24] heartbeat extends the lease and release gives the task back', async () => {
    const { token } = await setUp('life')
    const before = await status('life')
    run.now = Date.now() + 60_000
    const beat = await run.call('POST', '/tasks/heartbeat', token, {})
    expect(Date.parse(String(beat.body.lease_expires_at))).toBeGreaterThan(Date.parse(String(before.lease_expires_at)))
    run.now = null
    expect((await run.call('POST', '/tasks/release', token, {})).body).toMatchObject({
      task: { status: 'queued', agent_id: null },
    })
    expect(await run.call('POST', '/tasks/heartbeat', token, {})).toMatchObject({ status: 409 })
  })

  it('[REQ-API-25] pause refuses every agent, unpause lets them go on', async () => {
    const { agent, token } = await setUp('paused')
    await run.call('POST', '/pause', run.operator, { reason: 'lunch' })
    expect(await run.call('GET', '/prompt', token)).toMatchObject({
      status: 409,
      body: { code: 'agents_paused', detail: expect.stringContaining('lunch') },
    })
    expect(await run.call('POST', '/tasks/claim', agent, { agent_id: 'agent-paused' })).toMatchObject({
      status: 409,
      body: { code: 'agents_paused' },
    })
    await run.call('POST', '/unpause', run.operator, {})
    expect((await run.call('GET', '/prompt', token)).status).toBe(200)
  })

  it('[REQ-API-26] capabilities: a claim may not list more than was registered, and must cover what the task requires', async () => {
    await run.addTask({ id: 'needs-rust', requires: ['rust'] })
    const agent = await run.addAgent('gopher', ['go'])
    expect(
      await run.call('POST', '/tasks/claim', agent, {
        agent_id: 'gopher',
        task_id: 'needs-rust',
        capabilities: ['rust'],
      }),
    ).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await run.call('POST', '/tasks/claim', agent, { agent_id: 'gopher', task_id: 'needs-rust' })).toMatchObject({
      status: 403,
      body: { code: 'not_permitted' },
    })
    const free = await run.addAgent('free')
    expect(
      (
        await run.call('POST', '/tasks/claim', free, {
          agent_id: 'free',
          task_id: 'needs-rust',
          capabilities: ['rust', 'go'],
        })
      ).status,
    ).toBe(200)
  })

  it('[REQ-API-27] a batch decides each call on its own, in order, at most 32', async () => {
    const { token } = await setUp('batch')
    const answer = await run.call('POST', '/tools/batch', token, {
      task_id: 'batch',
      calls: [
        { tool_name: 'read_files', args: { path: 'a' } },
        { tool_name: 'nope', args: {} },
      ],
    })
    expect((answer.body.results as { error: { code: string } }[]).map((one) => one.error.code)).toEqual([
      'tool_failed',
      'unknown_tool',
    ])
    const again = () =>
      run.call(
        'POST',
        '/tools/batch',
        token,
        { task_id: 'batch', calls: [{ tool_name: 'nope', args: {} }] },
        { 'idempotency-key': 'batch-1' },
      )
    expect((await again()).body).toEqual((await again()).body)
    const many = Array.from({ length: 33 }, () => ({ tool_name: 'read_files', args: { path: 'a' } }))
    expect(await run.call('POST', '/tools/batch', token, { task_id: 'batch', calls: many })).toMatchObject({
      status: 400,
    })
  })

  it('[REQ-API-28] an allowed call is decided, run, recorded and answered; a key runs it once', async () => {
    const { token } = await setUp('run')
    writeFileSync(join(run.workspace, 'a'), 'one\ntwo\n')
    const execute = (tool_name: string, args: object, headers = {}) =>
      run.call('POST', '/tools/execute', token, { task_id: 'run', tool_name, args }, headers)
    expect(await execute('read_files', { path: 'none' })).toMatchObject({
      status: 400,
      body: { code: 'tool_failed', detail: expect.stringContaining('not found') },
    })
    expect(await execute('read_files', { path: 'a' })).toMatchObject({
      status: 200,
      body: {
        result: { status: 'success', content: 'one\ntwo\n', lines: 2, truncated: false },
        logged: true,
        decision: 'allowed',
      },
    })
    const once = () =>
      execute('bash', { command: 'ls --full-time /proc/self/status /proc/uptime' }, { 'idempotency-key': 'roll' })
    const first = await once()
    expect(first).toMatchObject({ status: 200, body: { result: { exit_code: 0, stderr: '' } } })
    expect((await once()).body).toEqual(first.body)
    const events = (await run.call('GET', '/tasks/run/timeline', run.operator)).body.events as {
      type: string
      data: Record<string, unknown>
    }[]
    expect(events.slice(-6)).toMatchObject([
      { type: 'tool_allowed', data: { tool_name: 'read_files' } },
      { type: 'tool_finished', data: { success: false, code: 'tool_failed' } },
      { type: 'tool_allowed', data: { tool_name: 'read_files' } },
      { type: 'tool_finished', data: { success: true, code: null } },
      { type: 'tool_allowed', data: { tool_name: 'bash' } },
      { type: 'tool_finished', data: { success: true, exit_code: 0, change_count: 0 } },
    ])
  })

  it('[REQ-API-29] secrets in arguments, artifacts and reasons never reach the ledger', async () => {
    const { token } = await setUp('secretive')
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await run.call('POST', '/tools/check', token, {
      task_id: 'secretive',
      tool_name: 'bash',
      args: { command: `ls ${secret} ${run.operator}` },
    })
    await run.call('POST', '/tasks/transition', token, {
      task_id: 'secretive',
      target_phase: 'B',
      evidence,
      artifacts: { note: { text: secret } },
    })
    await run.call('POST', '/tasks/secretive/cancel', run.operator, { reason: `leaked ${secret}` })
    const events = JSON.stringify((await run.call('GET', '/tasks/secretive/timeline', run.operator)).body)
    expect(events).toContain('[redacted]')
    expect(events).not.toContain(secret)
    expect(events).not.toContain(run.operator)
  })

  it('[REQ-API-30] the snapshot stays under 100 KB and shows an agent its own task', async () => {
    for (let i = 0; i < 120; i += 1)
      await run.addTask({
        title: `${'long title '.repeat(17)}${i}`,
        description: 'd'.repeat(9000),
        metadata: { m: 'x'.repeat(9000) },
      })
    const { token } = await setUp('viewed')
    const mine = await run.call('GET', '/state/snapshot', token)
    expect(mine.body).toMatchObject({ current_phase: 'A', task: { id: 'viewed' } })
    for (const key of [
      'task',
      'current_phase',
      'task_dependencies',
      'completed_tasks',
      'blockers',
      'phases',
      'agents',
      'events',
      'counts',
      'truncated',
    ])
      expect(Object.keys(mine.body)).toContain(key)
    for (const answer of [mine, await run.call('GET', '/state/snapshot', run.operator)])
      expect(JSON.stringify(answer.body).length).toBeLessThan(100_000)
  })

  it('[REQ-API-31] events are streamed live and resumed from Last-Event-ID; an agent sees its own task only', async () => {
    const { token } = await setUp('streamed')
    const read = async (bearer: string, lastId?: string) => {
      const stop = new AbortController()
      const response = await fetch(`${run.url}/api/v1/events`, {
        headers: { authorization: `Bearer ${bearer}`, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
        signal: stop.signal,
      })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      const until = async (want: (text: string) => boolean) => {
        while (!want(text)) {
          const { value, done } = await reader.read()
          if (done) break
          text += new TextDecoder().decode(value)
        }
        stop.abort()
        return text
      }
      return { until }
    }
    const live = await read(run.operator)
    const own = await read(token)
    await run.addTask({ id: 'noise' })
    await run.call('POST', '/tasks/heartbeat', token, {})
    expect(await live.until((text) => text.includes('lease_extended'))).toContain('event: task_created')
    expect(await own.until((text) => text.includes('lease_extended'))).not.toContain('noise')
    const resumed = await read(run.operator, '0')
    expect(await resumed.until((text) => text.includes('lease_extended'))).toContain('id: 1\n')
    expect((await run.call('GET', '/events', null)).status).toBe(401)
  })

  it('[REQ-API-31] a superseded token opens no stream and no approval, and the stream of a revoked agent ends', async () => {
    const { agent, token } = await setUp('watched')
    const asked = await run.call('POST', '/tasks/transition', token, {
      task_id: 'watched',
      target_phase: 'B',
      evidence,
    })
    const { id, digest } = asked.body.pending_approval as { id: string; digest: string }
    expect((await run.call('GET', `/approvals/${id}`, token)).status).toBe(200)
    const stream = await fetch(`${run.url}/api/v1/events`, { headers: { authorization: `Bearer ${agent}` } })
    await run.claim('agent-watched', agent)
    for (const path of ['/events', `/approvals/${id}`])
      expect(await run.call('GET', path, token), path).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    expect(await run.call('POST', `/approvals/${id}/decision`, token, { decision: 'approve', digest })).toMatchObject({
      status: 403,
    })
    await run.call('POST', '/agents/agent-watched/revoke', run.operator, { reason: 'seen enough' })
    expect(await stream.text()).toContain('task_claimed')
    const revoked = (await run.call('GET', '/audit/query?type=agent_revoked', run.operator)).body.events
    expect(revoked).toMatchObject([{ data: { agent_id: 'agent-watched', reason: 'seen enough' } }])
  })

  it('[REQ-API-32] a rewind voids later work and every token, and only goes back', async () => {
    const { token } = await setUp('rewound')
    expect(await run.call('POST', '/tasks/rewound/rewind', run.operator, { to_phase: 'B', reason: 'x' })).toMatchObject(
      { status: 409 },
    )
    expect(await run.call('POST', '/tasks/rewound/rewind', run.operator, { to_phase: 'Z', reason: 'x' })).toMatchObject(
      { status: 400, body: { code: 'unknown_phase' } },
    )
    expect(
      (await run.call('POST', '/tasks/rewound/rewind', run.operator, { to_phase: 'A', reason: 'start over' })).body,
    ).toMatchObject({ phase: 'A', epoch: 2, status: 'active' })
    expect(await run.call('GET', '/prompt', token)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
  })
})

describe('contracts', () => {
  it('[REQ-API-33] a task keeps its contract when the file changes and the server is restarted with another', async () => {
    const first = await start({ contract: CONTRACT })
    await first.addTask({ id: 'pinned' })
    const agent = await first.addAgent('a')
    await first.claim('a', agent, 'pinned')
    const dir = join(first.stateDir, '..')
    await first.app.close()
    const second = await start({
      dir,
      contract: CONTRACT.replace('allowed_tools: [read_files, bash]', 'allowed_tools: [read_files, bash, grep]'),
    })
    await second.addTask({ id: 'fresh' })
    const [old, fresh] = [
      await second.call('GET', '/tasks/pinned', second.operator),
      await second.call('GET', '/tasks/fresh', second.operator),
    ]
    expect((old.body.contract as { hash: string }).hash).not.toBe((fresh.body.contract as { hash: string }).hash)
    const grep = await second.call('POST', '/tools/check', agent, {
      task_id: 'pinned',
      tool_name: 'grep',
      args: { pattern: 'x' },
    })
    expect(grep.body).toMatchObject({ allowed: false, code: 'forbidden_tool' })
    await second.stop()
  })

  it('[REQ-API-34] a contract that asks for what cannot be enforced yet is known but gets no task', async () => {
    const run = await start()
    const source = `name: later\nversion: "1"\nphases:\n  - {id: A, allowed_tools: [], consensus: {agents: [a], question: ok}}\nagents: {a: {harness: codex, env: {X: "1"}}}\n`
    const added = await run.call('POST', '/contracts', run.operator, { source })
    expect(added).toMatchObject({ status: 201, body: { name: 'later' } })
    expect(added.body.warnings).toMatchObject([{ code: 'contract.not_enforced_yet' }])
    const refused = await run.call('POST', '/tasks', run.operator, { title: 'x', contract: 'later' })
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'contract.not_enforced_yet', not_enforced: [{ path: 'agents' }] },
    })
    expect(await run.call('POST', '/contracts', run.operator, { source: 'phases: []' })).toMatchObject({
      status: 400,
      body: { code: 'contract.invalid', errors: expect.any(Array) },
    })
    expect(await run.call('POST', '/tasks', run.operator, { title: 'x', contract: 'nope' })).toMatchObject({
      status: 404,
    })
    await run.stop()
  })

  it('[REQ-API-35] permissive and advisory let through and mark what strict refuses', async () => {
    const run = await start({ contract: CONTRACT })
    for (const mode of ['permissive', 'advisory']) {
      await run.addTask({ id: mode, mode })
      const token = await run.claim(`in-${mode}`, await run.addAgent(`in-${mode}`), mode)
      const call = (tool_name: string, args: unknown) =>
        run.call('POST', '/tools/check', token, { task_id: mode, tool_name, args })
      expect((await call('grep', { pattern: 'x' })).body).toMatchObject({
        allowed: true,
        violation: { code: 'forbidden_tool' },
      })
      expect((await call('bash', { command: 'rm x' })).body).toMatchObject({
        allowed: true,
        violation: { code: 'constraint_violation' },
      })
      expect((await call('nope', {})).body).toMatchObject({ allowed: false, code: 'unknown_tool' })
      expect((await call('read_files', { path: '../../etc/passwd' })).body).toMatchObject({
        allowed: false,
        code: 'constraint_violation',
      })
    }
    await run.stop()
  })
})

describe('restart', () => {
  it('[REQ-API-36] phase, token, approvals and audit are there after a restart', async () => {
    const first = await start({ contract: CONTRACT })
    await first.addTask({ id: 'kept' })
    const token = await first.claim('a', await first.addAgent('a'), 'kept')
    const asked = await first.call('POST', '/tasks/transition', token, {
      task_id: 'kept',
      target_phase: 'B',
      evidence: { count: 3, sure: true },
    })
    const events = ((await first.call('GET', '/tasks/kept/timeline', first.operator)).body.events as unknown[]).length
    mkdirSync(join(first.workspace, 'x'))
    writeFileSync(join(first.workspace, 'x/y'), 'z')
    const second = await first.restart()
    expect(second.operator).toBe(first.operator)
    expect((await second.call('GET', '/tasks/kept', second.operator)).body).toMatchObject({
      status: 'awaiting_approval',
      phase: 'A',
    })
    expect((await second.call('GET', '/prompt', token)).body).toMatchObject({ text: 'Do A task', phase: 'A' })
    const { id } = asked.body.pending_approval as { id: string }
    expect((await second.call('GET', `/approvals/${id}`, second.operator)).body).toMatchObject({ status: 'pending' })
    expect((await second.call('GET', '/tasks/kept/timeline', second.operator)).body.events).toHaveLength(events)
    expect((await second.call('GET', '/audit/verify', second.operator)).body).toMatchObject({ ok: true })
    await second.stop()
  })
})
