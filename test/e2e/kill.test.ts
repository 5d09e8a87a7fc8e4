import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import { makePlace, serve } from './process.js'

const CONTRACT = `
name: ping
version: "1"
phases:
  - {id: A, allowed_tools: [read_files]}
  - {id: B, allowed_tools: [read_files]}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions: [{from: A, to: B}, {from: B, to: A, when: again}, {from: B, to: C}]
`
const CYCLES = 4
const WORKERS = 6
const CHECKS_PER_CYCLE = 15
const WORK_MS_MAX = 20_000

function checksOf(acknowledged: ReadonlyMap<string, { readonly checks: number }>): number {
  return [...acknowledged.values()].reduce((sum, { checks }) => sum + checks, 0)
}

describe('kill -9', () => {
  it.runIf(isFullDepth())(
    '[REQ-API-37] everything that was acknowledged is there after kill -9 under load, and nothing happened twice',
    async () => {
      const place = await makePlace()
      const contract = join(place.dir, 'contract.yaml')
      writeFileSync(contract, CONTRACT)
      const acknowledged = new Map<string, { checks: number; moves: string[] }>()
      let cutOff = 0
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        const server = await serve(place, contract)
        let running = true
        const work = Array.from({ length: WORKERS }, async (_, index) => {
          const agent = `a${cycle}-${index}`
          const task = `t${cycle}-${index}`
          const kept = { checks: 0, moves: [] as string[] }
          acknowledged.set(task, kept)
          try {
            await server.call('POST', '/tasks', server.operator, { title: task, id: task })
            const { body } = await server.call('POST', '/agents', server.operator, { agent_id: agent })
            const claimed = await server.call('POST', '/tasks/claim', String(body.agent_token), {
              agent_id: agent,
              task_id: task,
            })
            let token = String(claimed.body.phase_token)
            for (let i = 0; running; i += 1) {
              const check = await server.call('POST', '/tools/check', token, {
                task_id: task,
                tool_name: 'read_files',
                args: { path: `f${i}` },
              })
              if (check.body.allowed === true) kept.checks += 1
              const key = `${task}-${i}`
              const moved = await server.call(
                'POST',
                '/tasks/transition',
                token,
                { task_id: task, target_phase: i % 2 === 0 ? 'B' : 'A', claims: { again: true } },
                { 'idempotency-key': key },
              )
              if (moved.body.allowed === true) kept.moves.push(key)
              token = String(moved.body.phase_token)
            }
          } catch {
            // The connection broke because the server was killed: what was in flight was never acknowledged.
            cutOff += 1
          }
        })
        const before = checksOf(acknowledged)
        // However busy the machine is: it is killed under load, after some work.
        for (const until = Date.now() + WORK_MS_MAX; Date.now() < until; ) {
          if (checksOf(acknowledged) - before >= CHECKS_PER_CYCLE) break
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        await server.kill()
        running = false
        await Promise.all(work)
      }
      expect(cutOff).toBeGreaterThan(0)

      const server = await serve(place, contract)
      expect((await server.call('GET', '/audit/verify', server.operator)).body).toMatchObject({
        ok: true,
        problems: [],
      })
      let checks = 0
      for (const [task, kept] of acknowledged) {
        if (kept.checks === 0) continue
        const events: { type: string; version: number }[] = []
        for (let after = 0; ; ) {
          const page = await server.call('GET', `/tasks/${task}/timeline?after=${after}&limit=1000`, server.operator)
          events.push(...(page.body.events as typeof events))
          if (page.body.next_after === null) break
          after = Number(page.body.next_after)
        }
        const count = (type: string) => events.filter((event) => event.type === type).length
        expect(events.map((event) => event.version)).toEqual(events.map((_, index) => index + 1))
        expect(count('tool_allowed')).toBeGreaterThanOrEqual(kept.checks)
        expect(count('tool_allowed')).toBeLessThanOrEqual(kept.checks + 1)
        expect(count('phase_entered') - 1).toBeGreaterThanOrEqual(kept.moves.length)
        expect(count('phase_entered') - 1).toBeLessThanOrEqual(kept.moves.length + 1)
        expect(count('task_claimed')).toBe(1)
        checks += kept.checks
      }
      expect(checks).toBeGreaterThan(50)
      expect(await server.stop()).toBe(0)
      place.remove()
    },
  )

  it('[REQ-API-37] phase, token, pending approval and idempotent answer survive kill -9 right after the answer', async () => {
    const place = await makePlace()
    const first = await serve(place, 'plan-review')
    await first.call('POST', '/tasks', first.operator, { title: 'Kept', id: 'kept' }, { 'idempotency-key': 'k1' })
    const { body: agent } = await first.call('POST', '/agents', first.operator, { agent_id: 'a' })
    const claimed = await first.call('POST', '/tasks/claim', String(agent.agent_token), { agent_id: 'a' })
    await first.kill()
    const second = await serve(place, 'plan-review')
    const token = String(claimed.body.phase_token)
    expect(await second.call('GET', '/prompt', token)).toMatchObject({
      status: 200,
      body: { phase: claimed.body.phase },
    })
    expect(
      await second.call('POST', '/tasks', second.operator, { title: 'Kept', id: 'kept' }, { 'idempotency-key': 'k1' }),
    ).toMatchObject({ status: 201, body: { id: 'kept' } })
    expect(await second.call('POST', '/tasks/claim', String(agent.agent_token), { agent_id: 'a' })).toMatchObject({
      status: 200,
      body: { task: { id: 'kept', epoch: 2 } },
    })
    expect(await second.call('GET', '/prompt', token)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    await second.stop()
    place.remove()
  })
})
