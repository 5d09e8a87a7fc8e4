// Claims, checks and snapshots with 50, 5,000 and 100,000 tasks in the store; transitions against checks; memory.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { line, median, round, rssMegabytes } from './measure.mjs'
import { phaselock, place } from './servers.mjs'

const CONTRACT = `name: loop
version: "1"
phases:
  - {id: A, allowed_tools: [read_files]}
  - {id: B, allowed_tools: [read_files]}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions: [{from: A, to: B}, {from: B, to: A, when: again}, {from: B, to: C}]
`
const SAMPLES = 150
const CREATORS = 64

export async function benchScale({ sizes }) {
  const at = place()
  const contract = join(at.dir, 'loop.yaml')
  writeFileSync(contract, CONTRACT)
  const server = await phaselock(at.dir, contract)
  const lines = []
  const costs = new Map()
  let made = 0
  try {
    for (const size of sizes) {
      await create(server, size - made)
      made = size
      if (size === 10_000) {
        lines.push(
          line('resident memory with 10,000 tasks, in MB, against 200', {
            value: `${round(rssMegabytes(server.pid))} MB`,
            baseline: '200 MB',
            ratio: round(rssMegabytes(server.pid) / 200),
            goal: '≤ 1',
          }),
        )
        continue
      }
      // The first of all would be measured while the server is still being compiled.
      if (costs.size === 0) for (const round of ['first', 'second', 'third']) await costsAt(server, `warm-up-${round}`)
      costs.set(size, await costsAt(server, size))
    }
    const [small] = costs.keys()
    for (const size of [...costs.keys()].slice(1))
      for (const what of ['claim', 'check', 'snapshot']) {
        const [before, now] = [costs.get(small)[what], costs.get(size)[what]]
        lines.push(
          line(`${what}, ${size} tasks against ${small}`, {
            value: `${round(now)} ms`,
            baseline: `${round(before)} ms`,
            ratio: round(now / before),
            ...(size === Math.max(...sizes) ? { goal: '≤ 1.33' } : {}),
          }),
        )
      }
    const { check, transition, bytes } = costs.get(small)
    lines.push(
      line('transition without commands, against a check', {
        value: `${round(transition)} ms`,
        baseline: `${round(check)} ms`,
        ratio: round(transition / check),
        goal: '≤ 5',
      }),
    )
    lines.push(
      line('transition, against the bound of 500 ms', {
        value: `${round(transition)} ms`,
        baseline: '500 ms',
        ratio: round(transition / 500),
        goal: '≤ 1',
      }),
    )
    const largest = Math.max(bytes, ...[...costs.values()].map((one) => one.bytes))
    lines.push(
      line('largest snapshot, in bytes, against 100,000', {
        value: `${largest} B`,
        baseline: '100000 B',
        ratio: round(largest / 100_000),
        goal: '≤ 1',
      }),
    )
  } finally {
    await server.stop()
    at.remove()
  }
  return { lines }
}

async function create(server, count) {
  let left = count
  await Promise.all(
    Array.from({ length: CREATORS }, async () => {
      while (left > 0) {
        left -= 1
        await server.call('POST', '/tasks', server.operator, { title: 'One of many' })
      }
    }),
  )
}

async function costsAt(server, size) {
  const times = { claim: [], check: [], snapshot: [], transition: [] }
  const { agent_token: agent } = await server.call('POST', '/agents', server.operator, { agent_id: `scale-${size}` })
  const timed = async (name, work) => {
    const start = performance.now()
    const result = await work()
    times[name].push(performance.now() - start)
    return result
  }
  let bytes = 0
  for (let i = 0; i < SAMPLES; i += 1) {
    const claim = await timed('claim', () => server.call('POST', '/tasks/claim', agent, { agent_id: `scale-${size}` }))
    const task_id = claim.task.id
    await timed('check', () =>
      server.call('POST', '/tools/check', claim.phase_token, { task_id, tool_name: 'read_files', args: { path: 'a' } }),
    )
    const snapshot = await timed('snapshot', () => server.call('GET', '/state/snapshot', claim.phase_token))
    bytes = Math.max(bytes, JSON.stringify(snapshot).length)
    const target_phase = claim.phase === 'A' ? 'B' : 'A'
    const moved = await timed('transition', () =>
      server.call('POST', '/tasks/transition', claim.phase_token, { task_id, target_phase, claims: { again: true } }),
    )
    if (moved.allowed !== true) throw new Error(`a transition was refused: ${JSON.stringify(moved)}`)
    await server.call('POST', '/tasks/release', moved.phase_token, {})
  }
  return { ...Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)])), bytes }
}
