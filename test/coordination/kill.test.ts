import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { ModelServer, OPENAI } from '../participants/model-server.js'
import {
  answer,
  begin,
  ended,
  eventsOf,
  fileAtEnd,
  model,
  type Seated,
  says,
  statusOf,
  statusWhen,
  streamed,
  vote,
} from './council.js'

let place: Place
let models: ModelServer
let server: Served
beforeAll(async () => {
  place = await makePlace()
  models = await ModelServer.start()
  server = await serve(place, 'tdd')
})
afterAll(async () => {
  await server?.stop()
  await models?.stop()
  place?.remove()
})

async function killAndStart(): Promise<void> {
  await server.kill()
  server = await serve(place, 'tdd')
}

const look = { tool_calls: [{ name: 'glob', arguments: { pattern: '*.md' } }] }
const tokenOf = (agents: readonly Seated[], id: string): string => agents.find((one) => one.id === id)?.token ?? ''
const url = (): string => `http://127.0.0.1:${place.port}`
const asked = async (count: number): Promise<void> => {
  for (let tries = 0; models.asked.length < count; tries += 1) {
    if (tries > 1000) throw new Error(`the model was asked ${models.asked.length} times, not ${count}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

interface Run {
  readonly id: string
  readonly agents: readonly Seated[]
}

function say(run: Run, agent: string, body: unknown, key?: string) {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  return server.call('POST', `/coordinations/${run.id}/respond`, tokenOf(run.agents, agent), body, headers)
}

const see = (run: Run, agent: string) => server.call('GET', `/coordinations/${run.id}`, tokenOf(run.agents, agent))

const SHOWN = ['turn_began', 'answers_injected', 'usage_recorded']

/** The types of the events of one agent that say what it did, in their order. */
async function deeds(run: Run, agent: string): Promise<readonly string[]> {
  const all = (await eventsOf({ ...server, url: url() }, run.id)).filter(({ data }) => data.agent === agent)
  return all.map(({ type }) => type).filter((type) => !SHOWN.includes(type))
}

/** A council of every kind, one in which a remote agent is alone, and one in which a script is. */
async function beginAll(): Promise<Readonly<Record<'all' | 'remote' | 'script', Run>>> {
  const options = { final_presentation: true, tools: ['glob'] }
  const all = await begin(server, {
    agents: [
      { id: 'a', kind: 'remote' },
      {
        id: 'b',
        kind: 'scripted',
        script: [
          { delay_ms: 3000, ...look },
          answer('from a script'),
          ...Array.from({ length: 4 }, () => vote('agent2')),
        ],
      },
      model('c', OPENAI, models),
    ],
    options,
  })
  const remote = await begin(server, { agents: [{ id: 'r', kind: 'remote' }], options })
  const script = await begin(server, {
    agents: [
      {
        id: 's',
        kind: 'scripted',
        script: [
          look,
          { delay_ms: 100, ...answer('alone') },
          look,
          { delay_ms: 1500, ...vote('agent1') },
          // So long that the test meets it here, on a busy machine too.
          { delay_ms: 8_000, text: 'Finally: alone.' },
        ],
      },
    ],
    options,
  })
  return { all, remote, script }
}

describe('kill -9 in the middle of coordinations', () => {
  it('[REQ-ENDURE-1] they go on with nothing lost or doubled, killed before an answer, between votes and while presenting', async () => {
    models.will(['hang'])
    const { all, remote, script } = await beginAll()
    await asked(1)
    const early = await see(all, 'a')
    expect(early.body).toMatchObject({ answers: [], must: 'new_answer' })

    // Before the first answer: the model is asked again, the script begins anew, the remote agent's token still counts.
    const othersAnswered = () =>
      statusWhen(server, all.id, ({ agents }) => agents.a?.answer_count === 1 && agents.b?.answer_count === 1)
    models.will(
      [{ until: othersAnswered }, ...says(OPENAI, { calls: [streamed('new_answer', { content: 'from a model' })] })],
      says(OPENAI, { calls: [streamed('vote', { agent_id: 'agent3', reason: 'x' })] }),
    )
    await killAndStart()
    const given = await say(all, 'a', answer('from afar'), 'k1')
    expect(given.body).toMatchObject({ accepted: true, label: 'agent1.1' })
    expect((await say(remote, 'r', answer('alone'))).body).toMatchObject({ accepted: true })
    await statusWhen(server, all.id, ({ results }) => results.votes.b === 1 && results.votes.c === 1)
    await statusWhen(server, script.id, ({ agents }) => agents.s?.answer_count === 1)

    // Between votes: two stand, one is to come.
    const before = await statusOf(server, all.id)
    expect(before.results.votes).toEqual({ b: 1, c: 1 })
    await killAndStart()
    const { status, body } = await say(all, 'a', answer('from afar'), 'k1')
    expect({ status, body }).toEqual({ status: given.status, body: given.body })
    expect((await statusOf(server, all.id)).agents).toEqual(before.agents)
    await see(all, 'a')
    models.will(['hang'])
    const count = models.asked.length
    expect((await say(all, 'a', vote('agent3'), 'k2')).body).toMatchObject({ accepted: true, label: 'agent3.1' })
    await see(remote, 'r')
    expect((await say(remote, 'r', vote('agent1'))).body).toMatchObject({ accepted: true, view: { must: 'present' } })
    await statusWhen(server, script.id, ({ coordination }) => coordination.is_final_presentation)
    await asked(count + 1)

    // While all of them present.
    models.will(says(OPENAI, { text: ['Finally: ', 'from a model.'] }))
    await killAndStart()
    expect((await say(all, 'a', vote('agent3'), 'k2')).body).toMatchObject({ accepted: true, action: 'vote' })
    const presented = await say(remote, 'r', { text: 'Finally: from afar.', tool_calls: [] })
    expect(presented.body).toMatchObject({ accepted: true, action: 'final_presentation', label: 'agent1.final' })
    const ends = await Promise.all([all, remote, script].map(({ id }) => ended(server, id)))
    expect(ends.map((one) => [one.finish_reason, one.results.winner, one.results.final_answer_preview])).toEqual([
      ['completed', 'c', 'Finally: from a model.'],
      ['completed', 'r', 'Finally: from afar.'],
      ['completed', 's', 'Finally: alone.'],
    ])
    expect(ends.flatMap(({ agents }) => Object.values(agents).map(({ reliability }) => reliability))).toEqual(
      Array.from({ length: 5 }, () => null),
    )
    expect(await deeds(all, 'a')).toEqual(['answer_accepted', 'vote_cast'])
    // The model's answer may have voided a vote of the script.
    const [first, ...votes] = await deeds(all, 'b')
    expect([first, votes.at(-1), votes.includes('answer_accepted')]).toEqual(['answer_accepted', 'vote_cast', false])
    expect(await deeds(all, 'c')).toEqual(['answer_accepted', 'vote_cast', 'final_presented'])
    expect(await deeds(remote, 'r')).toEqual(['answer_accepted', 'vote_cast', 'final_presented'])
    expect(await deeds(script, 's')).toEqual(['answer_accepted', 'vote_cast', 'final_presented'])
    expect((await server.call('GET', '/audit/verify', server.operator)).body).toMatchObject({ ok: true, problems: [] })
    for (const [index, { id }] of [all, remote, script].entries()) {
      expect(JSON.parse(await fileAtEnd(place.stateDir, id))).toMatchObject({ agents: ends[index]?.agents })
    }
  })

  it('[REQ-ENDURE-2] a run whose time was over while nobody was there ends at the start', async () => {
    const { id } = await begin(server, {
      agents: [{ id: 'r', kind: 'remote' }],
      options: { timeout_seconds: 1 },
    })
    await server.kill()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    server = await serve(place, 'tdd')
    expect(await ended(server, id)).toMatchObject({
      finish_reason: 'timeout',
      finish_reason_details: 'No answers available from any agents due to timeout',
      results: { winner: null },
    })
  })
})
