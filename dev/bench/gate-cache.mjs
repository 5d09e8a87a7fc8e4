// A gate that runs the tests: asked for the first time, asked again on the same tree, and the bare test command beside them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, line, medians, round } from './measure.mjs'
import { phaselock, place } from './servers.mjs'

const CONTRACT = `name: gate
version: "1"
phases:
  - id: A
    allowed_tools: [write_files]
    gates: [{id: green, type: validation, blockers: [{check: all_tests_pass, message: All tests must pass}]}]
  - {id: B, allowed_tools: [read_files]}
  - {id: C, allowed_tools: []}
transitions: [{from: A, to: B, gate: green}, {from: B, to: A, when: again}, {from: B, to: C}]
commands:
  tests: {run: "node --test tests/", format: node, timeout_seconds: 60}
enforcement: {reconcile: off}
`
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
for (let i = 0; i < 20; i += 1) test('adds ' + i, () => assert.equal(add(i, 1), i + 1))
`
const FILES = 200

export async function benchGateCache({ rounds }) {
  const at = place()
  const tree = join(at.dir, 'tree')
  const contract = join(at.dir, 'gate.yaml')
  writeFileSync(contract, CONTRACT)
  for (const folder of ['src', 'tests']) mkdirSync(join(tree, folder))
  for (let i = 0; i < FILES; i += 1) writeFileSync(join(tree, 'src', `${i}.mjs`), `export const n = ${i}\n`.repeat(50))
  writeFileSync(join(tree, 'tests/add.test.mjs'), TEST)
  const change = (n) => writeFileSync(join(tree, 'src/add.mjs'), `export const add = (a, b) => a + b // ${n}\n`)
  const server = await phaselock(at.dir, contract)
  try {
    const move = await mover(server)
    change('before')
    await move.there()
    await move.back()
    const ms = medians(
      await alternate(rounds, {
        bare: () => timed(() => bareTests(tree)),
        first: async (n) => {
          change(n)
          return timed(move.there).finally(move.back)
        },
        again: () => timed(move.there).finally(move.back),
      }),
    )
    const against = (name, value, baseline, goal) =>
      line(name, {
        value: `${round(ms[value])} ms`,
        baseline: `${round(ms[baseline])} ms`,
        ratio: round(ms[value] / ms[baseline]),
        ...(goal === undefined ? {} : { goal: `≤ ${goal}` }),
      })
    return {
      lines: [
        against('a gate that runs the tests, against the bare command', 'first', 'bare'),
        against('the same gate again on the same tree, against the first time', 'again', 'first', 0.1),
        against('the same gate again on the same tree, against the bare command', 'again', 'bare'),
      ],
    }
  } finally {
    await server.stop()
    at.remove()
  }
}

async function mover(server) {
  const task = await server.call('POST', '/tasks', server.operator, { title: 'Bench' })
  const agent = await server.call('POST', '/agents', server.operator, { agent_id: 'bench' })
  const claim = await server.call('POST', '/tasks/claim', agent.agent_token, { agent_id: 'bench', task_id: task.id })
  let token = claim.phase_token
  const move = async (target_phase, claims) => {
    const answer = await server.call('POST', '/tasks/transition', token, { task_id: task.id, target_phase, claims })
    if (answer.allowed !== true) throw new Error(JSON.stringify(answer))
    token = answer.phase_token
  }
  return { there: () => move('B', {}), back: () => move('A', { again: true }) }
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function bareTests(tree) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status } = spawnSync('bash', ['-c', 'node --test tests/'], { cwd: tree, stdio: 'ignore', env })
  if (status !== 0) throw new Error(`exit ${status}`)
}
