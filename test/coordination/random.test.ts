import { afterAll, beforeAll, expect, it } from 'vitest'
import { Chance } from '../garbage/chance.js'
import { type Running, start } from '../http/harness.js'
import { answer, begin, ended, eventsOf, type Seated, type ToolCalls, vote } from './council.js'

const SEED = Number(process.env.PHASELOCK_COUNCIL_SEED ?? 20_261_115)
const RUNS = 12
const STEPS_MAX = 60

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(() => server.stop())

interface View {
  readonly must: string
  readonly valid_agents: readonly string[]
  readonly anonymous_id: string
  readonly round: number
}

/** Something that an agent might do: mostly what is asked, sometimes not. */
function response(view: View, chance: Chance, step: number): ToolCalls {
  const kind = chance.number(10)
  if (kind === 0) return { text: 'Hm.', tool_calls: [] }
  if (kind === 1) return { tool_calls: [{ name: 'execute_command', arguments: {} }] }
  if (kind === 2) return vote('agent99')
  if (kind === 3) return { tool_calls: [...answer('both').tool_calls, ...vote('agent1').tool_calls] }
  const canVote = view.valid_agents.length > 0
  if (canVote && (view.must === 'vote' || kind > 5)) return vote(chance.pick(view.valid_agents))
  return answer(kind === 4 ? 'the same for all' : `${view.anonymous_id} at step ${step}: ${chance.number(1e9)}`)
}

interface Said {
  readonly agent: string
  readonly body: Record<string, unknown>
}

/** An agent by itself: it looks, and responds or waits, until nothing is asked of it any more. */
async function takePart(id: string, { id: agent, token = '' }: Seated, chance: Chance): Promise<readonly Said[]> {
  const said: Said[] = []
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const { body } = await server.call('GET', `/coordinations/${id}?wait=1`, token)
    const view = body as unknown as View
    if (view.must === 'none') return said
    if (view.must === 'wait') continue
    if (view.must === 'present') {
      const text = chance.number(2) === 0 ? 'Finally.' : ''
      said.push({
        agent,
        body: (await server.call('POST', `/coordinations/${id}/respond`, token, { text, tool_calls: [] })).body,
      })
      continue
    }
    if (chance.number(3) === 0) await new Promise((resolve) => setTimeout(resolve, chance.number(15)))
    const got = await server.call('POST', `/coordinations/${id}/respond`, token, response(view, chance, step))
    // Something came in between: the run was decided.
    if (got.status !== 409) said.push({ agent, body: got.body })
  }
  await server.call('POST', `/coordinations/${id}/cancel`, server.operator, { reason: 'it takes too long' })
  return said
}

type Events = Awaited<ReturnType<typeof eventsOf>>

/** Whose votes stand, read off the events as plainly as can be. */
function standing(events: Events): ReadonlyMap<string, string> {
  const votes = new Map<string, string>()
  for (const { type, data } of events) {
    if (type === 'answer_accepted') votes.clear()
    if (type === 'vote_cast') votes.set(String(data.agent), String(data.voted_for))
  }
  return votes
}

function most(votes: ReadonlyMap<string, string>, order: readonly string[]): string | null {
  const count = (id: string): number => [...votes.values()].filter((one) => one === id).length
  const best = Math.max(...order.map(count))
  return best === 0 ? null : (order.find((id) => count(id) === best) ?? null)
}

it.each(Array.from({ length: RUNS }, (_, index) => index))(
  `[REQ-ENDURE-3] agents in any order end in one winner, and everything that was answered is in the ledger once (run %i of seed ${SEED})`,
  async (index) => {
    const chance = new Chance(SEED, `council ${index}`)
    const order = Array.from({ length: 2 + chance.number(4) }, (_, agent) => `${'zyxwv'[agent]}-${agent}`)
    const isVoteless = chance.number(5) === 0
    const { id, agents } = await begin(server, {
      agents: order.map((one) => ({ id: one, kind: 'remote' })),
      options: {
        max_new_answers_per_agent: 1 + chance.number(3),
        allow_self_vote: chance.number(3) > 0,
        skip_voting: isVoteless,
        final_presentation: chance.number(3) === 0,
        max_attempts: 1 + chance.number(4),
      },
    })
    const said = (
      await Promise.all(agents.map((one) => takePart(id, one, new Chance(SEED, `council ${index} ${one.id}`))))
    ).flat()
    const status = await ended(server, id)
    const events = await eventsOf(server, id)
    const of = (type: string) => events.filter((one) => one.type === type)
    const answered = (is: (body: Said['body']) => boolean) => said.filter(({ body }) => is(body)).length

    expect(of('answer_accepted')).toHaveLength(answered((body) => body.action === 'new_answer'))
    expect(of('vote_cast')).toHaveLength(answered((body) => body.action === 'vote'))
    expect(of('vote_asked_again')).toHaveLength(answered((body) => body.asked_again === true))
    expect(of('response_rejected')).toHaveLength(answered((body) => typeof body.reason === 'string'))
    const labels = of('answer_accepted').map(({ data }) => data.label)
    expect(new Set(labels).size).toBe(labels.length)
    const contents = of('answer_accepted').map(({ data }) => data.content)
    expect(new Set(contents).size).toBe(contents.length)

    const votes = standing(events)
    const counted = Object.values(status.results.votes).reduce((sum, one) => sum + one, 0)
    expect(counted).toBe(votes.size)
    expect(of('run_ended')).toHaveLength(1)
    const latest = of('answer_accepted').at(-1)?.data.agent ?? null
    const winner = isVoteless ? latest : (most(votes, order) ?? latest)
    if (status.finish_reason !== 'cancelled') expect(status.results.winner).toBe(winner)
    for (const [name, one] of Object.entries(status.agents)) {
      const rejected = of('response_rejected').filter(({ data }) => data.agent === name).length
      expect(one.reliability?.total_enforcement_retries ?? 0).toBe(rejected)
      const rounds = Object.values(one.reliability?.by_round ?? {}).reduce((sum, { count }) => sum + count, 0)
      expect(rounds).toBe(rejected)
    }
    expect(server.faults).toEqual([])
  },
)
