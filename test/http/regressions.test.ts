import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GREEN, ownTree, RED, type Running, start } from './harness.js'

const CONTRACT = `
name: ways
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files, write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
    checkpoint: {evidence: {risk: {type: string, optional: true, description: how risky}}}
    gates: [{id: ok, type: approval, approvers: [human]}]
  - {id: DONE, allowed_tools: []}
  - {id: CHEAP, allowed_tools: [read_files], required_artifacts: [{type: note, description: a note}], gates: [{id: hold, type: approval, approvers: [human]}]}
  - {id: DEPLOY, allowed_tools: [read_files]}
transitions:
  - {from: PLAN, to: CHEAP, gate: ok}
  - {from: PLAN, to: DEPLOY, gate: ok}
  - {from: CHEAP, to: DONE, when: finished}
  - {from: CHEAP, to: DEPLOY}
enforcement: {reconcile: off}
`

describe('what an attacker tried', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
  })
  afterAll(() => run.stop())

  const setUp = async (id: string) => {
    const tree = ownTree(run)
    await run.addTask({ id, workspace: tree })
    const agent = await run.addAgent(`for-${id}`)
    return { agent, tree, token: await run.claim(`for-${id}`, agent, id) }
  }
  const move = (id: string, token: string, target: string, about: Record<string, unknown> = {}) =>
    run.call('POST', '/tasks/transition', token, { task_id: id, target_phase: target, ...about })
  const approve = async (asked: Record<string, unknown>) => {
    const { id, digest } = asked.pending_approval as { id: string; digest: string }
    return run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
  }

  it('[REQ-LEDGER-23] a call with huge arguments does not push the decision out of its event: it is counted, parked and replayed', async () => {
    const { token } = await setUp('huge')
    const files = Array.from({ length: 40 }, (_, i) => ({ path: `src/f${i}`, content: 'x'.repeat(16_000) }))
    const call = () =>
      run.call('POST', '/tools/check', token, { task_id: 'huge', tool_name: 'write_files', args: { files } })
    const attempts: string[] = []
    for (let i = 0; i < 10; i += 1)
      attempts.push(String(((await call()).body.retry as { text: string }).text.slice(0, 11)))
    expect(attempts.slice(0, 4)).toEqual(['Retry (1/3)', 'Retry (2/3)', 'Retry (3/3)', 'Retry (3/3)'])
    expect((await run.call('GET', '/tasks/huge', run.operator)).body.status).toBe('parked')
    const events = (await run.call('GET', '/tasks/huge/timeline', run.operator)).body.events as {
      type: string
      data: Record<string, unknown>
    }[]
    for (const event of events.filter((one) => one.type === 'tool_denied'))
      expect(Object.keys(event.data)).toEqual(
        expect.arrayContaining(['agent_id', 'code', 'detail', 'success', 'retry', 'counted', 'lease_seconds']),
      )
    expect(JSON.stringify(events).length).toBeLessThan(2_000_000)
  })

  it('[REQ-API-5] an approval to go one way opens no other way', async () => {
    const { token } = await setUp('target')
    await approve((await move('target', token, 'CHEAP')).body)
    const elsewhere = await move('target', token, 'DEPLOY')
    expect(elsewhere.body).toMatchObject({ allowed: false, blockers: [{ code: 'approval_pending' }] })
    expect((await run.call('GET', '/tasks/target', run.operator)).body.phase).toBe('PLAN')
  })

  it('[REQ-API-5] evidence that changed after the approval needs a new one, and the approver sees the evidence', async () => {
    const { token } = await setUp('evidence')
    const asked = await move('evidence', token, 'CHEAP', { evidence: { risk: 'low' } })
    const { id } = asked.body.pending_approval as { id: string }
    expect((await run.call('GET', `/approvals/${id}`, run.operator)).body.evidence).toEqual({ risk: 'low' })
    await approve(asked.body)
    expect((await move('evidence', token, 'CHEAP', { evidence: { risk: 'EXTREME' } })).body.allowed).toBe(false)
  })

  it('[REQ-API-5] a work tree that changed after the approval needs a new one', async () => {
    const { token, tree } = await setUp('tree')
    writeFileSync(join(tree, 'plan.md'), 'one')
    await approve((await move('tree', token, 'CHEAP')).body)
    writeFileSync(join(tree, 'plan.md'), 'two')
    expect((await move('tree', token, 'CHEAP')).body).toMatchObject({
      allowed: false,
      blockers: [{ code: 'approval_pending' }],
    })
    // What was approved is there again, to the byte.
    writeFileSync(join(tree, 'plan.md'), 'one')
    expect((await move('tree', token, 'CHEAP')).body.allowed).toBe(true)
  })

  it('[REQ-CORE-11] a claimed transition to a phase the task was never in is no way back, wherever it is in the file', async () => {
    const { token } = await setUp('shortcut')
    await approve((await move('shortcut', token, 'CHEAP')).body)
    const entered = await move('shortcut', token, 'CHEAP')
    const skipped = await move('shortcut', String(entered.body.phase_token), 'DONE', { claims: { finished: true } })
    expect(skipped.body.allowed).toBe(false)
    expect((skipped.body.blockers as { code: string }[]).map((one) => one.code)).toContain('missing_artifact')
  })

  it('[REQ-APPROVAL-12] changing the content under the eyes of the approver is counted and parks the task', async () => {
    const { token } = await setUp('flood')
    for (let i = 0; i < 12; i += 1) await move('flood', token, 'CHEAP', { evidence: { risk: `version ${i}` } })
    expect((await run.call('GET', '/tasks/flood', run.operator)).body.status).toBe('parked')
  })

  it('[REQ-API-22] an approval that waits is listed also when its agent has let go', async () => {
    const { token } = await setUp('left')
    await move('left', token, 'CHEAP')
    await run.call('POST', '/tasks/release', token, {})
    const listed = (await run.call('GET', '/approvals', run.operator)).body.approvals as { task_id: string }[]
    expect(listed.map((one) => one.task_id)).toContain('left')
  })

  it('[REQ-TOKEN-15] an operator of the role ci cannot make itself a human', async () => {
    const ci = String(
      (await run.call('POST', '/operators', run.operator, { name: 'robot', role: 'ci' })).body.operator_token,
    )
    expect((await run.call('GET', '/tasks', ci)).status).toBe(200)
    for (const [path, body] of [
      ['/operators', { name: 'humanish' }],
      ['/operators/admin/revoke', {}],
      ['/secret/rotate', {}],
    ] as const)
      expect(await run.call('POST', path, ci, body), path).toMatchObject({
        status: 403,
        body: { code: 'not_permitted' },
      })
  })

  it('[REQ-HTTP-4] an idempotency key that cannot be kept is a 400', async () => {
    for (const key of ['x'.repeat(201), 'ü', 'a\tb'])
      expect(
        (
          await run.call(
            'POST',
            '/tasks',
            run.operator,
            { title: 'x' },
            { 'idempotency-key': encodeURI(key) === key ? key : key.replace(/ü/, '\xfc') },
          )
        ).status,
        key,
      ).toBe(400)
    const { token } = await setUp('keyed')
    expect(
      (
        await run.call('POST', '/tools/execute', token, {
          task_id: 'keyed',
          tool_name: 'read_files',
          args: { path: 'a' },
          idempotency_key: '\u0000',
        })
      ).status,
    ).toBe(400)
  })

  it('[REQ-HTTP-4] a number that is not a number any more is a 400', async () => {
    expect(await run.call('POST', '/tasks', run.operator, '{"title":"x","metadata":{"n":1e400}}')).toMatchObject({
      status: 400,
      body: { detail: 'A number in the body is too large.' },
    })
  })

  it('[REQ-OPERATE-2] resume that races a claim of the same agent never breaks', async () => {
    const { agent, token } = await setUp('racing')
    await run.addTask({ id: 'other', workspace: ownTree(run) })
    for (let round = 0; round < 8; round += 1) {
      for (let i = 0; i < 10; i += 1)
        await run.call('POST', '/tools/check', round === 0 ? token : agent, {
          task_id: 'racing',
          tool_name: 'nope',
          args: {},
        })
      const [resumed] = await Promise.all([
        run.call('POST', '/tasks/racing/resume', run.operator, { reason: 'go' }),
        run.call('POST', '/tasks/claim', agent, { agent_id: 'for-racing', task_id: 'other' }),
      ])
      expect([200, 409]).toContain(resumed.status)
      await run.call('POST', '/tasks/release', agent, {})
      await run.call('POST', '/tasks/claim', agent, { agent_id: 'for-racing', task_id: 'racing' })
    }
    expect(run.faults).toEqual([])
  })

  it('[REQ-API-31] catching up delivers everything, however much it is, and the stream ends with the hold on the task', async () => {
    const { agent, token } = await setUp('long')
    for (let i = 0; i < 30; i += 1)
      await run.call('POST', '/tools/check', token, {
        task_id: 'long',
        tool_name: 'read_files',
        args: { path: `f${i}`, junk: undefined },
      })
    for (let i = 0; i < 200; i += 1)
      await run.addTask({ title: `Filler ${i}`, description: 'd'.repeat(9000), metadata: { m: 'x'.repeat(15_000) } })
    const all = await fetch(`${run.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${run.operator}`, 'last-event-id': '0' },
    })
    const reader = (all.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('Filler 199')) text += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    expect(text.length).toBeGreaterThan(4_500_000)
    const own = await fetch(`${run.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${agent}`, 'last-event-id': '0' },
    })
    await run.call('POST', '/tasks/long/reassign', run.operator, { reason: 'for another' })
    const seen = await own.text()
    expect(seen).toContain('event: task_reassigned')
    expect(seen).not.toContain('Filler')
  })

  it('[REQ-API-31] one caller can hold so many streams and no more; HEAD opens none', async () => {
    const stop = new AbortController()
    await run.addTask({ id: 'watched' })
    const token = await run.addAgent('watcher')
    await run.claim('watcher', token, 'watched')
    const open = () =>
      fetch(`${run.url}/api/v1/events`, { headers: { authorization: `Bearer ${token}` }, signal: stop.signal })
    const statuses = []
    for (let i = 0; i < 20; i += 1) statuses.push((await open()).status)
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(10)
    stop.abort()
    const heads = []
    for (let i = 0; i < 30; i += 1) {
      const headers = { authorization: `Bearer ${run.operator}` }
      heads.push((await fetch(`${run.url}/api/v1/events`, { method: 'HEAD', headers })).status)
    }
    expect(new Set(heads)).toEqual(new Set([200]))
  })

  it('[REQ-API-16] a claim that was superseded is not answered again with the task as it is now', async () => {
    await run.addTask({ id: 'moved-on', workspace: ownTree(run) })
    const agent = await run.addAgent('first')
    const claim = () =>
      run.call('POST', '/tasks/claim', agent, { agent_id: 'first', task_id: 'moved-on' }, { 'idempotency-key': 'c-1' })
    expect((await claim()).status).toBe(200)
    expect((await claim()).status).toBe(200)
    await run.call('POST', '/tasks/moved-on/reassign', run.operator, { reason: 'away' })
    expect(await claim()).toMatchObject({ status: 403, body: { code: 'token_stale' } })
  })

  it('[REQ-OPERATE-3] a task is not kept for an agent that does not exist', async () => {
    await run.addTask({ id: 'nobody' })
    expect(
      await run.call('POST', '/tasks/nobody/reassign', run.operator, { reason: 'x', agent_id: 'ghost' }),
    ).toMatchObject({ status: 404 })
  })

  it('[REQ-API-29] names that look like secrets are refused, and no secret stays in kept answers', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    expect((await run.call('POST', '/tasks', run.operator, { title: 'x', id: secret })).status).toBe(400)
    expect((await run.call('POST', '/agents', run.operator, { agent_id: secret })).status).toBe(400)
    expect((await run.call('POST', '/operators', run.operator, { name: secret })).status).toBe(400)
    const { token } = await setUp('quoting')
    await run.call(
      'POST',
      '/tools/check',
      token,
      { task_id: 'quoting', tool_name: secret, args: {} },
      { 'idempotency-key': secret },
    )
    const contract = `name: x\nversion: "1"\nphases: [{id: A, prompt: "use ${secret}", allowed_tools: []}]\n`
    expect(await run.call('POST', '/contracts', run.operator, { source: contract })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('looks like a secret') },
    })
    const stored = execFileSync('sh', ['-c', 'cat ledger.db*'], {
      cwd: run.stateDir,
      maxBuffer: 256 * 1024 * 1024,
    }).toString('latin1')
    expect(stored.includes(secret)).toBe(false)
  })

  it('[REQ-API-29] secrets of the environment never reach the ledger', async () => {
    const other = await start({ environment: { DEPLOY_TOKEN: 'correct-horse-battery' } })
    await other.addTask({ id: 'leak', description: 'it is correct-horse-battery' })
    expect((await other.call('GET', '/tasks/leak', other.operator)).body.description).toBe('it is [redacted]')
    await other.stop()
  })

  it('[REQ-TOKEN-12] calls without permission are recorded up to a limit', async () => {
    const { token } = await setUp('knocking')
    run.now = Date.now() + 3_600_000
    for (let i = 0; i < 100; i += 1) await run.call('GET', '/tasks', token)
    run.now = null
    const events = (
      await run.call('GET', '/audit/query?type=request_refused&agent_id=for-knocking&limit=1000', run.operator)
    ).body.events as unknown[]
    expect(events).toHaveLength(60)
  })
})

describe('tests that try to change after RED', () => {
  const TDD = `
name: red-green
version: "1"
phases:
  - {id: RED, allowed_tools: [], required_artifacts: [{type: test_run_result, schema: schemas/test_result.json, description: run}], gates: [{id: red, type: validation, blockers: [{check: tests_are_failing}]}]}
  - {id: GREEN, allowed_tools: [], required_artifacts: [{type: test_run_result, schema: schemas/test_result.json, description: run}], gates: [{id: green, type: validation, blockers: [{check: all_tests_pass}]}]}
  - {id: DONE, allowed_tools: []}
enforcement: {reconcile: off}
`
  it('[REQ-CHECK-3] a linked test is held by what it points to, a test in a folder named like a build is held, and a link out of the tree closes the gate', async () => {
    const run = await start({ contract: TDD })
    mkdirSync(join(run.workspace, 'tests/target'), { recursive: true })
    mkdirSync(join(run.workspace, 'fixtures'))
    writeFileSync(join(run.workspace, 'fixtures/a.js'), 'real test')
    symlinkSync('../fixtures/a.js', join(run.workspace, 'tests/a.test.js'))
    writeFileSync(join(run.workspace, 'tests/target/b.test.js'), 'real test')
    const agent = await run.addAgent('a')
    const walk = async (id: string) => {
      await run.addTask({ id })
      const token = await run.claim('a', agent, id)
      return run.call('POST', '/tasks/transition', token, {
        task_id: id,
        target_phase: 'GREEN',
        artifacts: { test_run_result: RED },
      })
    }
    const red = await walk('held')
    expect(red.body.allowed).toBe(true)
    const green = () =>
      run.call('POST', '/tasks/transition', String(red.body.phase_token), {
        task_id: 'held',
        target_phase: 'DONE',
        artifacts: { test_run_result: GREEN },
      })
    writeFileSync(join(run.workspace, 'fixtures/a.js'), 'gutted')
    expect((await green()).body).toMatchObject({ allowed: false, blockers: [{ check: 'tests_unchanged' }] })
    writeFileSync(join(run.workspace, 'fixtures/a.js'), 'real test')
    writeFileSync(join(run.workspace, 'tests/target/b.test.js'), 'gutted')
    expect((await green()).body).toMatchObject({ allowed: false, blockers: [{ check: 'tests_unchanged' }] })
    writeFileSync(join(run.workspace, 'tests/target/b.test.js'), 'real test')
    expect((await green()).body.allowed).toBe(true)
    symlinkSync('/etc/passwd', join(run.workspace, 'tests/out.test.js'))
    expect((await walk('linked-out')).body).toMatchObject({
      allowed: false,
      blockers: [{ code: 'check_error', message: expect.stringContaining('leaves the work tree') }],
    })
    await run.stop()
  })
})
