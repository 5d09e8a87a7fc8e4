import { setTimeout as sleep } from 'node:timers/promises'
import type { Reachable } from '../../coordination/council.js'

const answer = (content: string) => ({ tool_calls: [{ name: 'new_answer', arguments: { content } }] })
const vote = (agent_id: string, reason: string) => ({ tool_calls: [{ name: 'vote', arguments: { agent_id, reason } }] })
const POLL_MS = 100
const POLLS_MAX = 600

const MERGE = `Merge on login, and never lower a quantity:

1. Take the larger quantity of each article.
2. Keep the prices of the account, not those of the guest.
3. Say once what was merged, with a link to undo it.`

const AGENTS = [
  {
    id: 'ada',
    script: [
      answer(MERGE),
      vote('agent1', 'It is the only one that says what happens to prices.'),
      vote('agent1', 'Nothing new changes that.'),
      vote('agent1', 'As before.'),
    ],
  },
  {
    id: 'ben',
    script: [
      answer('Ask the customer which cart to keep. It is one question, and nobody is surprised.'),
      vote('agent1', 'A question at the login costs orders; this needs none.'),
      vote('agent1', 'Still the better answer.'),
      vote('agent1', 'As before.'),
    ],
  },
  {
    id: 'cleo',
    script: [
      { text: 'The newest cart wins.', tool_calls: [] },
      answer('The newest cart wins; the other is kept for a week as a draft.'),
      vote('agent2', 'The customer should decide.'),
      vote('agent2', 'The customer should decide.'),
      vote('agent2', 'As before.'),
    ],
  },
]

/** A council of three with an answer that was refused, a restart and a vote against. */
export async function holdShopCouncil(server: Reachable): Promise<string> {
  const { status, body } = await server.call('POST', '/coordinations', server.operator, {
    question: 'How should the cart of a guest be merged on login?',
    agents: AGENTS.map(({ id, script }) => ({ id, kind: 'scripted', script })),
  })
  if (status >= 300) throw new Error(JSON.stringify(body))
  const id = String(body.id)
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const { body: now } = await server.call('GET', `/coordinations/${id}/status`, server.operator)
    if (now.is_complete === true) return id
    await sleep(POLL_MS)
  }
  throw new Error('the council did not end')
}
