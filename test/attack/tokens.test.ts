import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { claimVectors, isSignedFor, opened, signed, spacedVectors, type Vector, vectorsOf } from './forge.js'

const LOOP = `
name: loop
version: "1"
phases:
  - {id: A, allowed_tools: [read_files]}
  - {id: B, allowed_tools: [read_files]}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions: [{from: A, to: B}, {from: B, to: A, when: again}, {from: B, to: C}]
`
// Refusals of strangers are recorded sixty a minute: between two of them the clock goes on by this much.
const BETWEEN_MS = 1100

describe('a token that was tampered with', () => {
  let run: Running
  let secret: string
  let agent: string
  let phase: string
  let review: string
  let task: string
  beforeAll(async () => {
    run = await start({ contract: LOOP, agentPerSecond: 1_000_000 })
    run.now = Date.now()
    secret = readFileSync(join(run.stateDir, 'signing.secret'), 'utf8').split('\n')[0] ?? ''
    agent = await run.addAgent('a')
    await renew()
  })
  afterAll(async () => {
    expect(run.faults).toEqual([])
    expect((await run.call('GET', '/audit/verify', run.operator)).body).toMatchObject({ ok: true })
    await run.stop()
  })

  const renew = async () => {
    if (task !== undefined) await run.call('POST', `/tasks/${task}/cancel`, run.operator, { reason: 'next' })
    task = await run.addTask()
    phase = await run.claim('a', agent, task)
    review = await mint()
  }
  const mint = async () =>
    String((await run.call('POST', `/tasks/${task}/reviewers`, run.operator, { name: 'critic' })).body.review_token)
  const check = (token: string | null, body: Record<string, unknown> = {}) =>
    run.call('POST', '/tools/check', token, { task_id: task, tool_name: 'read_files', args: { path: 'a' }, ...body })
  const accepted = async (token: string) => (await check(token)).body.allowed === true
  const newest = async (code: string) => {
    const found = await run.call('GET', `/audit/query?code=${code}&limit=1`, run.operator)
    return (found.body.events as { seq: number; type: string; actor: string }[])[0] ?? { seq: 0, type: '', actor: '' }
  }
  /** Refused with this code, and the ledger has it. */
  const refused = async (name: string, send: () => ReturnType<typeof check>, code = 'token_invalid') => {
    if (run.now !== null) run.now += BETWEEN_MS
    const before = await newest(code)
    const answer = await send()
    expect(answer, name).toMatchObject({ status: 403, body: { code } })
    const event = await newest(code)
    expect(event.seq, `${name}: recorded`).toBeGreaterThan(before.seq)
    return event
  }
  const inHeader = async (vectors: readonly Vector[]) => {
    for (const { name, token } of vectors)
      expect(await refused(name, () => check(token)), name).toMatchObject({
        type: 'request_refused',
        actor: 'stranger',
      })
  }

  it('[REQ-ATTACK-1] every forged phase token is refused and recorded, and the unchanged one is accepted before and after', async () => {
    expect(await accepted(phase)).toBe(true)
    const vectors = vectorsOf(phase, secret, { otherTyp: 'agent+jwt' })
    expect(vectors.length).toBeGreaterThan(75)
    // A reader that looks at the signature alone would have let these in.
    expect(vectors.filter((one) => one.isSigned).length).toBeGreaterThan(50)
    await inHeader(vectors)
    expect(await accepted(phase)).toBe(true)
  })

  it('[REQ-ATTACK-1] every forged agent token is refused and recorded, and the unchanged one is accepted before and after', async () => {
    expect(await accepted(agent)).toBe(true)
    await inHeader(vectorsOf(agent, secret, { otherTyp: 'phase+jwt' }))
    expect(await accepted(agent)).toBe(true)
  })

  it('[REQ-ATTACK-1] every forged review token is refused and recorded, and the unchanged one is accepted before and after', async () => {
    expect(await accepted(review)).toBe(true)
    await inHeader(vectorsOf(review, secret, { otherTyp: 'agent+jwt' }))
    expect(await accepted(review)).toBe(true)
  })

  it('[REQ-ATTACK-1] no token passes as one of another kind, whatever name is registered', async () => {
    await run.addAgent('critic')
    const kinds = ['agent+jwt', 'phase+jwt', 'review+jwt']
    for (const token of [phase, agent, review]) {
      const { header, claims } = opened(token)
      for (const typ of kinds.filter((one) => one !== header.typ))
        await refused(`${String(header.typ)} as ${typ}`, () => check(signed({ ...header, typ }, claims, secret)))
    }
  })

  it('[REQ-ATTACK-2] white space anywhere in a token is refused, in the body as in the header', async () => {
    await renew()
    expect((await check(null, { phase_token: phase })).body.allowed).toBe(true)
    for (const { name, token } of spacedVectors(phase, secret))
      await refused(name, () => check(null, { phase_token: token }))
    for (const authorization of [`Bearer ${phase} x`, `Bearer  ${phase}`, `bearer ${phase}`, phase, `Bearer ${phase},`])
      await refused(authorization.slice(0, 12), () => run.call('GET', '/prompt', null, undefined, { authorization }))
    expect(await accepted(phase)).toBe(true)
  })

  it.each([
    ['phase', () => phase],
    ['agent', () => agent],
    ['review', () => review],
  ] as const)('[REQ-ATTACK-3] each claim of the %s token missing or of another kind is refused', async (_, tokenOf) => {
    await renew()
    const token = tokenOf()
    const { header, claims } = opened(token)
    expect(signed(header, claims, secret)).toBe(token)
    const vectors = claimVectors(token, secret)
    expect(vectors.length).toBeGreaterThan(Object.keys(claims).length * 7)
    await inHeader(vectors)
    expect(await accepted(token)).toBe(true)
  })

  it('[REQ-ATTACK-4] the edges of time: sixty seconds of skew and not one more', async () => {
    await renew()
    const { header, claims } = opened(phase)
    const now = Math.floor((run.now ?? 0) / 1000)
    const at = (about: Record<string, unknown>) => signed(header, { ...claims, ...about }, secret)
    expect(await accepted(at({ exp: now - 57 }))).toBe(true)
    expect(await accepted(at({ iat: now + 57 }))).toBe(true)
    for (const about of [{ exp: now - 62 }, { exp: 0 }, { iat: now + 90 }, { iat: now + 7200 }])
      await refused(JSON.stringify(about), () => check(at(about)))
    for (const text of ['1e400', '1e300', '9007199254740993', '-1', '1.5'])
      await refused(`exp ${text}`, () =>
        check(signed(header, JSON.stringify(claims).replace(/"exp":\d+/, `"exp":${text}`), secret)),
      )
  })

  it('[REQ-ATTACK-4] a token that was accepted once is refused when its time is up', async () => {
    await renew()
    const { header, claims } = opened(phase)
    const short = signed(header, { ...claims, exp: Math.floor((run.now ?? 0) / 1000) + 5 }, secret)
    expect(await accepted(short)).toBe(true)
    if (run.now !== null) run.now += 66_000
    await refused('late', () => check(short))
    expect(await accepted(phase)).toBe(true)
  })

  it('[REQ-ATTACK-5] a rightly signed token for another task, agent, phase, contract or epoch is refused with its own code', async () => {
    await renew()
    const other = await run.addTask({ id: 'other' })
    const { header, claims } = opened(phase)
    const saying = (about: Record<string, unknown>) => signed(header, { ...claims, ...about }, secret)
    const cases: readonly [string, string, Record<string, unknown>, string][] = [
      ['another task in the body', phase, { task_id: other }, 'token_mismatch'],
      ['a task that is not there in the body', phase, { task_id: 'nope' }, 'token_mismatch'],
      ['another task in the token', saying({ task_id: other }), {}, 'token_mismatch'],
      ['another task in both', saying({ task_id: other }), { task_id: other }, 'token_stale'],
      ['another agent', saying({ sub: 'b' }), {}, 'token_invalid'],
      ['a later phase', saying({ phase: 'B' }), {}, 'token_stale'],
      ['a phase that is none', saying({ phase: 'constructor' }), {}, 'token_stale'],
      ['another contract', saying({ contract: 'f'.repeat(64) }), {}, 'token_stale'],
      ['an older epoch', saying({ epoch: Number(claims.epoch) - 1 }), {}, 'token_stale'],
      ['a later epoch', saying({ epoch: Number(claims.epoch) + 1 }), {}, 'token_stale'],
      ['the agent token, another task in the body', agent, { task_id: other }, 'token_mismatch'],
    ]
    for (const [name, token, body, code] of cases) {
      expect(isSignedFor(token, secret), name).toBe(true)
      await refused(name, () => check(token, body), code)
      expect(await accepted(phase), name).toBe(true)
    }
  })

  it('[REQ-ATTACK-5] a rightly signed review token for another task, phase, visit, contract, reviewer or minting is refused with its own code', async () => {
    await renew()
    const other = await run.addTask({ id: 'not-reviewed' })
    const { header, claims } = opened(review)
    const saying = (about: Record<string, unknown>) => signed(header, { ...claims, ...about }, secret)
    const cases: readonly [string, string, Record<string, unknown>, string][] = [
      ['another task in the body', review, { task_id: other }, 'token_mismatch'],
      ['another task in the token', saying({ task_id: other }), {}, 'token_mismatch'],
      ['another task in both', saying({ task_id: other }), { task_id: other }, 'token_stale'],
      ['a task that is not there', saying({ task_id: 'nope' }), { task_id: 'nope' }, 'token_invalid'],
      ['another reviewer', saying({ sub: 'other' }), {}, 'token_stale'],
      ['the agent as its reviewer', saying({ sub: 'a' }), {}, 'token_stale'],
      ['another phase', saying({ phase: 'B' }), {}, 'token_stale'],
      ['a phase that is none', saying({ phase: '__proto__' }), {}, 'token_stale'],
      ['another contract', saying({ contract: 'f'.repeat(64) }), {}, 'token_stale'],
      ['an earlier visit', saying({ visit: Number(claims.visit) - 1 }), {}, 'token_stale'],
      ['a later visit', saying({ visit: Number(claims.visit) + 1 }), {}, 'token_stale'],
      ['another minting', saying({ grant: `${String(claims.grant)}x` }), {}, 'token_stale'],
    ]
    for (const [name, token, body, code] of cases) {
      expect(isSignedFor(token, secret), name).toBe(true)
      await refused(name, () => check(token, body), code)
      expect(await accepted(review), name).toBe(true)
    }
  })

  it('[REQ-ATTACK-6] a superseded review token and one of a visit that is over are refused and recorded', async () => {
    await renew()
    const older = review
    review = await mint()
    expect(await refused('superseded', () => check(older), 'token_stale')).toMatchObject({ actor: 'reviewer:critic' })
    expect(await accepted(review)).toBe(true)
    await run.call('POST', '/tasks/transition', phase, { task_id: task, target_phase: 'B' })
    expect(await refused('the visit is over', () => check(review), 'token_stale')).toMatchObject({
      type: 'token_refused',
      actor: 'reviewer:critic',
    })
  })

  it('[REQ-ATTACK-5] the token of another agent does not serve for this task', async () => {
    await renew()
    const thief = await run.addAgent('thief')
    const loot = await run.claim('thief', thief, await run.addTask())
    await refused('phase token', () => check(loot), 'token_mismatch')
    await refused('agent token', () => check(thief), 'token_mismatch')
    const { header, claims } = opened(loot)
    await refused(
      'another name on it',
      () => check(signed(header, { ...claims, task_id: task }, secret)),
      'token_stale',
    )
    expect(await accepted(phase)).toBe(true)
  })

  it('[REQ-ATTACK-6] a superseded epoch, an older instance and a revoked agent are refused and recorded', async () => {
    await renew()
    const old = phase
    expect(await accepted(old)).toBe(true)
    phase = await run.claim('a', agent)
    expect(await refused('superseded', () => check(old), 'token_stale')).toMatchObject({ actor: 'agent:a' })
    expect(await accepted(phase)).toBe(true)
    const older = agent
    agent = await run.addAgent('a')
    await refused('older instance', () => check(older))
    await refused('newer instance that has not claimed', () => check(agent), 'token_stale')
    phase = await run.claim('a', agent)
    expect(await accepted(agent)).toBe(true)
    await run.call('POST', '/agents/a/revoke', run.operator, { reason: 'test' })
    await refused('revoked, phase token', () => check(phase))
    await refused('revoked, agent token', () => check(agent))
    agent = await run.addAgent('a')
    phase = await run.claim('a', agent)
    expect(await accepted(phase)).toBe(true)
  })

  it('[REQ-ATTACK-7] a transition replayed fifty times at once makes exactly one step, and none later', async () => {
    await renew()
    const move = () => run.call('POST', '/tasks/transition', phase, { task_id: task, target_phase: 'B' })
    const answers = await Promise.all(Array.from({ length: 50 }, move))
    expect(answers.filter((one) => one.body.allowed === true)).toHaveLength(1)
    for (const one of answers.filter((answer) => answer.body.allowed !== true))
      expect(['token_stale', 'conflict']).toContain(one.body.code)
    // A new minute: what one caller is refused is recorded only so many times in each.
    if (run.now !== null) run.now += 61_000
    await refused('later', move, 'token_stale')
    const timeline = await run.call('GET', `/tasks/${task}/timeline?limit=1000`, run.operator)
    const entered = (timeline.body.events as { type: string; data: { from: string | null } }[]).filter(
      (event) => event.type === 'phase_entered' && event.data.from !== null,
    )
    expect(entered).toHaveLength(1)
    expect((await run.call('GET', `/tasks/${task}`, run.operator)).body).toMatchObject({ phase: 'B', epoch: 2 })
  })

  it('[REQ-ATTACK-8] operator tokens that are nearly right are refused and recorded', async () => {
    const { operator } = run
    expect((await run.call('GET', '/tasks', operator)).status).toBe(200)
    const flipped = `${operator.slice(0, -1)}${operator.endsWith('A') ? 'E' : 'A'}`
    const vectors = [flipped, operator.slice(0, -1), `${operator}A`, operator.toUpperCase(), operator.slice(5), 'plop_']
    for (const token of vectors) await refused('operator', () => run.call('GET', '/tasks', token))
    await refused('in the place of a phase token', () => check(null, { phase_token: flipped }))
    expect(await check(null, { phase_token: operator })).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
  })
})
