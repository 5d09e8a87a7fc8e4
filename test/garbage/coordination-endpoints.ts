import type { Endpoint, Lane } from './endpoints.js'
import { nested } from './junk.js'
import type { Base } from './mutate.js'
import type { Stage } from './stage.js'

const AGENTS = [
  { id: 'a', kind: 'remote' },
  { id: 'b', kind: 'remote' },
]
// The clock of a stage is moved: a run must not be over by that.
const OPTIONS = { max_new_answers_per_agent: 100, max_attempts: 20, timeout_seconds: 604_800 }

/** A coordination of its own for each lane; the one before it is ended, for only so many go on at once. */
const onRun =
  (make: (id: string) => Base) =>
  async (stage: Stage): Promise<Lane> => {
    const pair = await stage.pair()
    await endAll(stage)
    const { id, agents } = await stage.operate('/coordinations', {
      question: 'Which?',
      agents: AGENTS,
      options: OPTIONS,
    })
    const [first] = agents as { token: string }[]
    return { pair: { ...pair, participant: first?.token ?? '' }, base: () => make(String(id)) }
  }

const OPEN_RUNS_WANTED = 8

async function endAll(stage: Stage): Promise<void> {
  const { body } = await stage.run.call('GET', '/coordinations?limit=100', stage.run.operator)
  const open = (body.coordinations as { id: string; finish_reason: string }[]).filter(
    ({ finish_reason }) => finish_reason === 'in_progress',
  )
  // Newest first: those of the other lanes stay.
  for (const { id } of open.slice(OPEN_RUNS_WANTED))
    await stage.run.call('POST', `/coordinations/${id}/cancel`, stage.run.operator, { reason: 'not any more' })
}

const also = { id: ['no-such-run', '..', '__proto__'] }

/** The right request of every endpoint about coordinations. */
export const COORDINATION_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  startCoordination: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      const body = { question: 'Which way?', agents: AGENTS, options: { novelty: 'strict', tools: ['glob'] } }
      const script = [{ delay_ms: 1, text: 'x', tool_calls: [{ name: 'new_answer', arguments: { content: 'x' } }] }]
      const agents = [
        [{ id: 'a', kind: 'scripted', script }],
        [{ id: 'a', kind: 'model', provider: 'anthropic', model: 'm', base_url: 'http://127.0.0.1:1/v1' }],
        [{ id: 'a', kind: 'model', provider: 'openai-compatible', base_url: 'file:///etc/passwd', model: nested(20) }],
        [{ id: '__proto__', kind: 'remote' }],
      ]
      return { pair, base: () => ({ body, also: { agents } }) }
    },
    after: endAll,
  },
  listCoordinations: {
    prepare: async (stage) => {
      const pair = await stage.pair()
      return { pair, base: () => ({ query: { limit: '10' }, also: { limit: ['1', '500'] } }) }
    },
  },
  getCoordination: { prepare: onRun((id) => ({ params: { id }, query: { wait: '0' }, also })) },
  respond: {
    prepare: onRun((id) => ({
      params: { id },
      body: { text: 'Hm.', tool_calls: [{ name: 'new_answer', arguments: { content: `x${Math.random()}` } }] },
      also: {
        ...also,
        tool_calls: [
          [],
          [{ name: 'vote', arguments: { agent_id: 'agent2', reason: 'x' } }],
          [{ name: 'vote' }, { name: 'new_answer', arguments: nested(20) }],
          [{ name: 'execute_command', arguments: 'rm -rf /' }],
        ],
      },
    })),
  },
  coordinationStatus: { prepare: onRun((id) => ({ params: { id }, also })) },
  participantToken: {
    prepare: onRun((id) => ({ params: { id, agent: 'a' }, body: {}, also: { ...also, agent: ['c', '__proto__'] } })),
  },
  cancelCoordination: {
    prepare: onRun((id) => ({ params: { id }, body: { reason: 'enough' }, also })),
    isSpentBySuccess: true,
  },
  streamCoordination: { prepare: onRun((id) => ({ params: { id }, also })) },
}
