// Coordinations of scripted agents through the real server: 20 agents in 10 rounds against fewer, and against raw durable writes.

import { cpuSeconds, line, median, rawFsync, round, rssMegabytes } from './measure.mjs'
import { phaselock, place } from './servers.mjs'

const ROUNDS = 10
const COUNCILS = [5, 10, 20]
const POLL_MS = 5
// Every answer voids the votes before it: a script must be able to vote that often.
const VOTES = 60
const ANSWER_CHARS = 400

export async function benchCoordination({ rounds }) {
  const at = place()
  const server = await phaselock(at.dir)
  const seen = new Map(COUNCILS.map((agents) => [agents, []]))
  const resident = []
  try {
    // The first would be measured while the server is still being compiled.
    for (let warm = 0; warm < 2; warm += 1) await council(server, 5)
    for (let number = 0; number < rounds; number += 1) {
      for (const agents of COUNCILS)
        seen.get(agents).push({ ...(await council(server, agents)), fsyncMs: rawFsync(at.dir, 200).p50Ms })
      resident.push(rssMegabytes(server.pid))
    }
  } finally {
    await server.stop()
    at.remove()
  }
  const of = (agents, pick) => median(seen.get(agents).map(pick))
  const wall = (agents) => of(agents, (one) => one.ms / one.responses)
  const cpu = (agents) => of(agents, (one) => one.cpuMs / one.responses)
  const most = Math.max(...COUNCILS)
  const lines = []
  for (const agents of COUNCILS.slice(0, -1))
    for (const [name, cost] of [
      ['time', wall],
      ['processor time', cpu],
    ])
      lines.push(
        line(`${name} of a response, ${most} agents in ${ROUNDS} rounds against ${agents}`, {
          value: `${round(cost(most))} ms`,
          baseline: `${round(cost(agents))} ms`,
          ratio: round(cost(most) / cost(agents)),
          goal: '≤ 1.33',
        }),
      )
  lines.push(
    line(`an event of a run of ${most} agents, against a raw write with fsync`, {
      value: `${round(of(most, (one) => one.ms / one.events))} ms`,
      baseline: `${round(of(most, (one) => one.fsyncMs))} ms`,
      ratio: round(of(most, (one) => one.ms / one.events / one.fsyncMs)),
    }),
    line(`resident memory after ${rounds} times all of them, against after the first time`, {
      value: `${round(resident.at(-1))} MB`,
      baseline: `${round(resident[0])} MB`,
      ratio: round(resident.at(-1) / resident[0]),
      goal: '≤ 1.33',
    }),
  )
  return { lines, councils: Object.fromEntries(seen), resident_mb: resident.map((one) => round(one)) }
}

/** One run to its end: every agent gives as many answers as there are rounds, then all vote. */
async function council(server, count) {
  const agents = Array.from({ length: count }, (_, index) => ({
    id: `agent-${index}`,
    kind: 'scripted',
    script: [
      ...Array.from({ length: ROUNDS }, (_, answer) => ({ text: 'Thinking.', tool_calls: [newAnswer(index, answer)] })),
      ...Array.from({ length: VOTES }, () => ({ tool_calls: [vote()] })),
    ],
  }))
  const [started, cpuBefore] = [performance.now(), cpuSeconds(server.pid)]
  const run = await server.call('POST', '/coordinations', server.operator, {
    question: 'Which way?',
    agents,
    options: { max_new_answers_per_agent: ROUNDS },
  })
  let status = await statusOf(server, run.id)
  while (!status.is_complete) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    status = await statusOf(server, run.id)
  }
  const ms = performance.now() - started
  const cpuMs = (cpuSeconds(server.pid) - cpuBefore) * 1000
  const answers = Object.values(status.agents).map((one) => one.answer_count)
  if (status.finish_reason !== 'completed' || answers.some((one) => one !== ROUNDS))
    throw new Error(`a run did not go to its end: ${JSON.stringify(status).slice(0, 2000)}`)
  return { ms, cpuMs, ...(await counted(server, run.id)) }
}

const JUDGED = /^event: (answer_accepted|vote_cast|vote_asked_again)$/gm

async function counted(server, id) {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/coordinations/${id}/stream`, {
    headers: { authorization: `Bearer ${server.operator}` },
  })
  const text = await response.text()
  return { events: text.match(/^id: /gm).length, responses: text.match(JUDGED).length }
}

function statusOf(server, id) {
  return server.call('GET', `/coordinations/${id}/status`, server.operator)
}

function newAnswer(index, answer) {
  const content = `The way of ${index}, thought over ${answer} times. `.padEnd(ANSWER_CHARS, `${index}-${answer} `)
  return { name: 'new_answer', arguments: { content } }
}

function vote() {
  return { name: 'vote', arguments: { agent_id: 'agent1', reason: 'It is the first.' } }
}
