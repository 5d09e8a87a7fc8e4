import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const b64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

describe('tokens', () => {
  let run: Running
  let phase: string
  let agent: string
  let task: string
  beforeAll(async () => {
    run = await start()
    task = await run.addTask()
    agent = await run.addAgent('a')
    phase = await run.claim('a', agent, task)
  })
  afterAll(() => run.stop())

  const check = (token: string | null, body: Record<string, unknown> = {}) =>
    run.call('POST', '/tools/check', token, { task_id: task, tool_name: 'read_files', args: { path: 'a' }, ...body })
  const secret = () => readFileSync(join(run.stateDir, 'signing.secret'), 'utf8').split('\n')[0] ?? ''
  const signed = (header: unknown, claims: unknown, key = secret()) => {
    const body = `${b64(header)}.${b64(claims)}`
    return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`
  }
  const parts = () => {
    const [head = '', payload = '', signature = ''] = phase.split('.')
    return {
      head,
      payload,
      signature,
      header: JSON.parse(Buffer.from(head, 'base64url').toString()),
      claims: JSON.parse(Buffer.from(payload, 'base64url').toString()),
    }
  }

  it('[REQ-TOKEN-6] the phase token carries the claims of the specification and nothing that is not signed', () => {
    const { header, claims } = parts()
    expect(Object.keys(header).sort()).toEqual(['alg', 'kid', 'typ'])
    expect(header).toMatchObject({ alg: 'HS256', typ: 'phase+jwt' })
    expect(Object.keys(claims).sort()).toEqual([
      'allowed_tools',
      'aud',
      'contract',
      'epoch',
      'exp',
      'iat',
      'iss',
      'jti',
      'phase',
      'sub',
      'task_id',
    ])
    expect(claims).toMatchObject({
      iss: 'phaselock',
      aud: 'phaselock:agent',
      sub: 'a',
      task_id: task,
      phase: 'PLAN',
      epoch: 1,
    })
    expect(claims.exp - claims.iat).toBe(7200)
  })

  it('[REQ-TOKEN-7] no token is 401, the body may carry it instead of the header', async () => {
    expect(await check(null)).toMatchObject({ status: 401, body: { code: 'token_missing' } })
    expect((await check(null, { phase_token: phase })).body.allowed).toBe(true)
    expect(await check(null, { phase_token: `${phase}x` })).toMatchObject({
      status: 403,
      body: { code: 'token_invalid', detail: 'Invalid or expired phase token' },
    })
  })

  it('[REQ-TOKEN-8] a token that was altered in any way is refused, and the same token unchanged is accepted', async () => {
    const { head, payload, signature, header, claims } = parts()
    const forged: Record<string, string> = {
      'no signature': `${head}.${payload}.`,
      'alg none': `${b64({ ...header, alg: 'none' })}.${payload}.`,
      'alg none, signed': signed({ ...header, alg: 'none' }, claims),
      'alg HS512': signed({ ...header, alg: 'HS512' }, claims),
      'other typ': signed({ ...header, typ: 'JWT' }, claims),
      'agent typ': signed({ ...header, typ: 'agent+jwt' }, claims),
      'unknown kid': signed({ ...header, kid: '0'.repeat(16) }, claims),
      'no kid': signed({ alg: 'HS256', typ: 'phase+jwt' }, claims),
      'extra header': signed({ ...header, jwk: {} }, claims),
      crit: signed({ ...header, crit: ['x'] }, claims),
      'other issuer': signed(header, { ...claims, iss: 'x' }),
      'other audience': signed(header, { ...claims, aud: 'x' }),
      expired: signed(header, { ...claims, exp: claims.iat - 120 }),
      'not yet': signed(header, { ...claims, iat: claims.iat + 600 }),
      'epoch as text': signed(header, { ...claims, epoch: '1' }),
      'no jti': signed(header, { ...claims, jti: undefined }),
      'wrong key': signed(header, claims, 'x'.repeat(64)),
      padding: `${phase}=`,
      'space in it': `${head}. ${payload}.${signature}`,
      'unused bits': `${head}.${payload}.${signature.slice(0, -1)}${String.fromCharCode(signature.charCodeAt(signature.length - 1) + 1)}`,
      'four parts': `${phase}.x`,
      'two parts': `${head}.${payload}`,
      'too long': `${phase}${'A'.repeat(9000)}`,
      'white space in claims': signed(header, JSON.stringify(claims, null, 1)),
      'duplicate key': signed(header, `{"epoch":9,${JSON.stringify(claims).slice(1)}`),
      'other task': signed(header, { ...claims, task_id: 'nope' }),
    }
    for (const [name, token] of Object.entries(forged)) {
      const answer = await check(token)
      expect([401, 403], name).toContain(answer.status)
      expect(['token_invalid', 'token_mismatch'], name).toContain(answer.body.code)
    }
    expect(signed(header, claims)).toBe(phase)
    expect((await check(phase)).body.allowed).toBe(true)
  })

  it('[REQ-TOKEN-9] a token for one task does not serve another', async () => {
    expect(await check(phase, { task_id: 'other' })).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
    expect(await check(agent, { task_id: 'other' })).toMatchObject({ status: 403, body: { code: 'token_mismatch' } })
  })

  it('[REQ-TOKEN-10] an agent token stands for the task its instance holds; a newer instance ends it', async () => {
    expect((await check(agent)).body.allowed).toBe(true)
    const newer = await run.addAgent('a')
    expect(await check(agent)).toMatchObject({ status: 403, body: { code: 'token_invalid' } })
    expect(await check(newer)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    phase = await run.claim('a', newer)
    expect((await check(newer)).body.allowed).toBe(true)
    agent = newer
  })

  it('[REQ-TOKEN-11] a claim needs the agent token and the agent id that the token names', async () => {
    expect(await run.call('POST', '/tasks/claim', phase, { agent_id: 'a' })).toMatchObject({
      status: 403,
      body: { code: 'not_permitted' },
    })
    expect(await run.call('POST', '/tasks/claim', agent, { agent_id: 'b' })).toMatchObject({
      status: 403,
      body: { code: 'not_permitted' },
    })
    expect(await run.call('POST', '/tasks/claim', run.operator, { agent_id: 'a' })).toMatchObject({
      status: 403,
      body: { code: 'not_permitted' },
    })
  })

  it('[REQ-TOKEN-12] no agent token opens an operator endpoint, and the attempt is recorded', async () => {
    const attempts: [string, string, unknown?][] = [
      ['POST', '/tasks', { title: 'x' }],
      ['GET', '/tasks'],
      ['POST', '/agents', { agent_id: 'b' }],
      ['GET', '/approvals'],
      ['POST', '/operators', { name: 'evil' }],
      ['POST', '/secret/rotate', {}],
      ['POST', `/tasks/${task}/rewind`, { to_phase: 'PLAN', reason: 'x' }],
      ['POST', `/tasks/${task}/cancel`, { reason: 'x' }],
      ['GET', '/audit/recent'],
      ['POST', '/contracts', { source: 'x' }],
      ['POST', '/pause', {}],
    ]
    for (const [method, path, body] of attempts)
      for (const token of [agent, phase])
        expect(await run.call(method, path, token, body), path).toMatchObject({
          status: 403,
          body: { code: 'not_permitted' },
        })
    const recorded = (
      await run.call('GET', '/audit/query?type=request_refused&code=not_permitted&limit=1000', run.operator)
    ).body.events as { actor: string }[]
    expect(recorded.filter((event) => event.actor === 'agent:a').length).toBeGreaterThanOrEqual(attempts.length * 2)
  })

  it('[REQ-TOKEN-13] a revoked agent is out at once, also with its phase token', async () => {
    const other = await run.addAgent('gone')
    await run.addTask({ id: 'for-gone' })
    const token = await run.claim('gone', other, 'for-gone')
    await run.call('POST', '/agents/gone/revoke', run.operator, {})
    for (const one of [token, other])
      expect(await run.call('GET', '/prompt', one)).toMatchObject({ status: 403, body: { code: 'token_invalid' } })
  })

  it('[REQ-TOKEN-14] a rotated secret signs new tokens; tokens of the old one go on to work', async () => {
    const before = parts().header.kid
    expect((await run.call('POST', '/secret/rotate', run.operator, {})).status).toBe(200)
    expect((await check(phase)).body.allowed).toBe(true)
    const renewed = await run.call('POST', '/tokens/renew', phase, {})
    phase = String(renewed.body.phase_token)
    expect(parts().header.kid).not.toBe(before)
    expect((await check(phase)).body.allowed).toBe(true)
  })

  it('[REQ-TOKEN-15] a revoked operator is out at once, and the last one cannot be revoked', async () => {
    const added = await run.call('POST', '/operators', run.operator, { name: 'temp', role: 'ci' })
    const token = String(added.body.operator_token)
    expect((await run.call('GET', '/operators', token)).status).toBe(200)
    await run.call('POST', '/operators/temp/revoke', run.operator, {})
    expect(await run.call('GET', '/operators', token)).toMatchObject({ status: 403, body: { code: 'token_invalid' } })
    expect(await run.call('POST', '/operators/admin/revoke', run.operator, {})).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
  })
})

describe('the secret of the environment', () => {
  it('[REQ-TOKEN-16] a secret under 32 bytes is refused at start', async () => {
    await expect(start({ environment: { ORCHESTRATOR_JWT_SECRET: 'x'.repeat(31) } })).rejects.toThrow(
      'at least 32 bytes',
    )
  })

  it('[REQ-TOKEN-16] the secret is the UTF-8 bytes of the variable, a previous one still verifies, and rotation names the variable', async () => {
    const old = 'ä'.repeat(20)
    const first = await start({ environment: { ORCHESTRATOR_JWT_SECRET: old } })
    const task = await first.addTask()
    const token = await first.claim('a', await first.addAgent('a'), task)
    const [head = '', payload = '', signature = ''] = token.split('.')
    expect(createHmac('sha256', Buffer.from(old, 'utf8')).update(`${head}.${payload}`).digest('base64url')).toBe(
      signature,
    )
    expect(await first.call('POST', '/secret/rotate', first.operator, {})).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('ORCHESTRATOR_JWT_SECRET_PREVIOUS') },
    })
    const dir = join(first.stateDir, '..')
    const rotated = {
      ORCHESTRATOR_JWT_SECRET: 'n'.repeat(40),
      ORCHESTRATOR_JWT_SECRET_PREVIOUS: `${'p'.repeat(40)},${old}`,
    }
    await first.app.close()
    const second = await start({ dir, environment: rotated })
    expect(await second.call('GET', '/prompt', token)).toMatchObject({ status: 200 })
    await second.app.close()
    const third = await start({ dir, environment: { ORCHESTRATOR_JWT_SECRET: 'n'.repeat(40) } })
    expect(await third.call('GET', '/prompt', token)).toMatchObject({ status: 403, body: { code: 'token_invalid' } })
    await third.stop()
  })
})
