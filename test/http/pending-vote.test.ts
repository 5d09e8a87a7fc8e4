import type { TaskDetails } from 'phaselock/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { showTask } from '../../src/cli/terminal/task-text.js'
import type { JsonObject } from '../../src/core/json.js'
import { type Running, start } from './harness.js'
import { agree, Ballot, Reviewer, VOTED, VOTERS } from './voting.js'

let server: Running
const here = () => server

beforeAll(async () => {
  server = await start({ contract: VOTED })
})
afterEach(() => expect(server.faults).toEqual([]))
afterAll(() => server.stop())

let tasks = 0
const laid = async (): Promise<Ballot> => {
  tasks += 1
  const ballot = await Ballot.lay(here, `t${tasks}`)
  await ballot.write(`${ballot.task}.ts`, 'export const one = 1\n')
  return ballot
}
const shown = async (ballot: Ballot): Promise<JsonObject> =>
  (await server.call('GET', `/tasks/${ballot.task}`, server.operator)).body as JsonObject
const vote = async (ballot: Ballot) => (await shown(ballot)).pending_consensus
const line = (task: JsonObject): string | undefined =>
  showTask(task as unknown as TaskDetails, { events: [], reviews: [] }, 1)
    .split('\n')
    .find((one) => one.startsWith('  Vote '))

describe('the vote that leaving a phase waits for', () => {
  it('[REQ-PENDINGVOTE-1] shows no vote for a task that nobody votes on', async () => {
    const ballot = await laid()
    expect(await vote(ballot)).toBeNull()
    expect(line(await shown(ballot))).toBeUndefined()
    await ballot.blockers({ artifacts: {} })
    expect(await vote(ballot)).toBeNull()
  })

  it('[REQ-PENDINGVOTE-2] is told with who has answered, who has voted and who is awaited, and nothing that was said', async () => {
    const ballot = await laid()
    const id = await ballot.pending()
    const fresh = { id, voters: VOTERS, voted: [], answered: [], gone: [], awaited: VOTERS, quorum: 2 }
    expect(await vote(ballot)).toEqual({ ...fresh, started_at: expect.any(String) })
    const [a, b, c] = await Promise.all(VOTERS.map((name) => Reviewer.seat(here, id, name)))
    await b?.answer('A remark that is for reviewers alone', 'request_changes')
    expect(await vote(ballot)).toMatchObject({ ...fresh, answered: ['reviewer_b'] })
    await a?.vote('agent2')
    expect(await vote(ballot)).toMatchObject({ voted: ['reviewer_a'], awaited: ['reviewer_b', 'reviewer_c'] })
    const task = await shown(ballot)
    expect(JSON.stringify(task)).not.toContain('A remark')
    expect(line(task)).toBe(`  Vote         ${id}: 1 of 3 voted, waiting for reviewer_b, reviewer_c`)
    // An answer voids the votes that stood.
    await c?.answer('Another one', 'approve')
    expect(await vote(ballot)).toMatchObject({ voted: [], answered: ['reviewer_b', 'reviewer_c'], awaited: VOTERS })
    for (const token of [ballot.token, ballot.agent])
      expect((await server.call('GET', `/tasks/${ballot.task}`, token)).body.pending_consensus).toBeUndefined()
  })

  it('[REQ-PENDINGVOTE-1] is no longer told when it is over, cancelled, or about work that is no more', async () => {
    const voted = await laid()
    await agree(here, await voted.pending())
    expect(await vote(voted)).toBeNull()
    expect((await voted.leave()).body.allowed).toBe(true)
    expect(await vote(voted)).toBeNull()

    const cancelled = await laid()
    const run = await cancelled.pending()
    await server.call('POST', `/coordinations/${run}/cancel`, server.operator, { reason: 'nobody has time' })
    expect(await vote(cancelled)).toBeNull()

    const changed = await laid()
    const before = await changed.pending()
    await changed.write('more.ts', 'export const more = 2\n')
    const after = await changed.pending()
    expect(after).not.toBe(before)
    expect(await vote(changed)).toMatchObject({ id: after, awaited: VOTERS })
    await server.call('POST', `/tasks/${changed.task}/rewind`, server.operator, { to_phase: 'WORK', reason: 'anew' })
    expect(await vote(changed)).toBeNull()

    const dropped = await laid()
    await dropped.pending()
    await server.call('POST', `/tasks/${dropped.task}/cancel`, server.operator, { reason: 'enough' })
    expect(await vote(dropped)).toBeNull()
  })
})
