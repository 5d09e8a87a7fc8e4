import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { makePlace, type Served, serve } from '../e2e/process.js'
import { type Running, start } from './harness.js'
import { agree, Ballot, type Caller, Reviewer, VOTED, VOTERS } from './voting.js'

const PHASELOCK = fileURLToPath(new URL('../../bin/phaselock', import.meta.url))

describe('a vote and the end of the server', () => {
  it('[REQ-CONSENSUS-1] a vote that was asked for and never opened is opened by the next request', async () => {
    let server: Running = await start({ contract: VOTED })
    const here = () => server
    const ballot = await Ballot.lay(here, 't')
    const { coordinations } = server.app
    const opened = coordinations.start.bind(coordinations)
    // As if the server had ended between the two writes.
    coordinations.start = async () =>
      ({ ok: false, problem: { code: 'shutting_down', detail: 'gone', extra: {}, recorded: false } }) as never
    const run = await ballot.pending()
    expect(await coordinations.read(run)).toBeNull()
    expect((await ballot.blockers())[0]).toMatchObject({
      code: 'check_error',
      message: expect.stringContaining('gone'),
    })
    coordinations.start = opened
    await server.app.ledger.record({ type: 'coordination_opened', id: run }, { now: Date.now(), actor: 'orchestrator' })
    server = await server.restart()
    expect(await ballot.pending()).toBe(run)
    await agree(here, run)
    expect((await ballot.leave()).body).toMatchObject({ allowed: true })
    await server.stop()
    expect(server.faults).toEqual([])
  })

  it('[REQ-CONSENSUS-1] kill -9 in the middle of the vote loses no vote, opens no second run and no gate', async () => {
    const place = await makePlace()
    const contract = join(place.dir, 'contract.yaml')
    writeFileSync(contract, VOTED)
    let served: Served = await serve(place, contract)
    const here = (): Caller => served as unknown as Caller
    const again = async (): Promise<void> => {
      await served.kill()
      served = await serve(place, contract)
    }
    try {
      const ballot = await Ballot.lay(here, 't')
      await ballot.write('a.txt', 'a')
      const run = await ballot.pending()
      await again()
      expect(await ballot.pending()).toBe(run)
      const reviewers = await Promise.all(VOTERS.map((name) => Reviewer.seat(here, run, name)))
      await reviewers[0]?.answer('It is right.', 'approve')
      await reviewers[1]?.vote('agent1')
      await again()
      expect((await ballot.blockers())[0]?.message).toContain(
        '1 of 3 voted (reviewer_b); answered but not voted: reviewer_a',
      )
      await reviewers[0]?.vote('agent1')
      await reviewers[2]?.vote('agent1')
      await again()
      const left = await ballot.leave()
      expect(left.body).toMatchObject({ allowed: true, status: 'completed' })
      const events = await ballot.events()
      expect(events.filter(({ type }) => type === 'consensus_requested')).toHaveLength(1)
      expect(events.find(({ type }) => type === 'gate_passed')?.data.consensus).toMatchObject({ run, votes: 3 })
      await served.stop()
      const { stdout } = await promisify(execFile)(PHASELOCK, ['audit', 'verify', '--state-dir', place.stateDir])
      expect(stdout).toMatch(/ok|intact|verified/i)
    } finally {
      await served.stop()
      place.remove()
    }
  })
})
