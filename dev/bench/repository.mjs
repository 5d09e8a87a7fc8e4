// One honest task in a repository of many files, from the claim to the end, and the same task in a small repository beside it: what
// the claim and each gate cost because of the size. The commands are the same, so the difference is what a gate takes beyond them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, cpuSeconds, line, median, round } from './measure.mjs'
import { phaselock, place } from './servers.mjs'

const CONTRACT = `name: repository
version: "1"
extends: [phaselock/tdd, phaselock/javascript-node-test]
commands: {tests: {run: node --test tests/, timeout_seconds: 600}}
`
const SMALL = 20
const FILES_A_FOLDER = 100
const SETTLED_MS = 2500
const CLAIM_MS = 1000
const GATE_MS = 500
const STEPS = ['claim', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']

export async function benchRepository({ files, rounds }) {
  const [large, small] = [await open(files), await open(SMALL)]
  try {
    const seen = await alternate(rounds, { large: (n) => walk(large, n), small: (n) => walk(small, n) })
    const at = (name, step, what) => median(seen[name].map((one) => one[step][what]))
    const lines = STEPS.flatMap((step) => {
      const isClaim = step === 'claim'
      const [ms, allowed] = isClaim
        ? [seen.large[0].claim.ms, CLAIM_MS]
        : [at('large', step, 'ms') - at('small', step, 'ms'), GATE_MS]
      const what = isClaim
        ? `first claim in ${files} files`
        : `gate to ${step} in ${files} files, more than in ${SMALL}`
      const cpu = (name) => round((isClaim ? seen[name][0].claim.cpu : at(name, step, 'cpu')) * 1000)
      return [
        line(`${what}, against ${allowed} ms`, {
          ...{ value: `${round(ms)} ms`, baseline: `${allowed} ms`, ratio: round(ms / allowed), goal: '≤ 1' },
        }),
        line(`processor time of the server for it, against ${SMALL} files`, {
          ...{ value: `${cpu('large')} ms`, baseline: `${cpu('small')} ms` },
          ratio: round(cpu('large') / Math.max(cpu('small'), 10)),
        }),
      ]
    })
    const later = round(median(seen.large.slice(1).map((one) => one.claim.ms)))
    if (rounds > 1)
      lines.push(
        line(`later claims in ${files} files, against 1000 ms`, {
          value: `${later} ms`,
          baseline: `${CLAIM_MS} ms`,
          ratio: round(later / CLAIM_MS),
          goal: '≤ 1',
        }),
      )
    return { lines }
  } finally {
    for (const one of [large, small]) {
      await one.server.stop()
      one.at.remove()
    }
  }
}

async function open(files) {
  const at = place()
  const tree = join(at.dir, 'tree')
  for (let i = 0; i < files; i += 1) {
    const folder = join(tree, 'src', `m${Math.floor(i / FILES_A_FOLDER)}`)
    if (i % FILES_A_FOLDER === 0) mkdirSync(folder, { recursive: true })
    if (i % 2 === 0) writeFileSync(join(folder, `t${i}.txt`), `line ${i}\n`.repeat((i % 300) + 1))
    else writeFileSync(join(folder, `n${i}.mjs`), `export const value = ${i}\n${'// more\n'.repeat(i % 200)}`)
  }
  mkdirSync(join(tree, 'tests'))
  writeFileSync(join(tree, 'package.json'), '{"type": "module"}\n')
  writeFileSync(join(tree, 'tests/first.test.mjs'), testOf('first', '../src/m0/n1.mjs', 'value', '1'))
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], { cwd: tree })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'all')
  const contract = join(at.dir, 'repository.yaml')
  writeFileSync(contract, CONTRACT)
  // A file that was written a moment ago is read again each time.
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  return { at, server: await phaselock(at.dir, contract) }
}

const testOf = (name, from, value, is) => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ${value} } from '${from}'
test('${name}', () => assert.equal(${value}, ${is}))
`

async function walk({ server }, n) {
  const seen = {}
  const measured = async (step, work) => {
    const [before, start] = [cpuSeconds(server.pid), performance.now()]
    const result = await work()
    seen[step] = { ms: performance.now() - start, cpu: cpuSeconds(server.pid) - before }
    return result
  }
  const task_id = `task-${n}`
  const [test, code] = [`tests/added${n}.test.mjs`, `src/added${n}.mjs`]
  await server.call('POST', '/tasks', server.operator, { id: task_id, title: 'Add a constant' })
  const { agent_token } = await server.call('POST', '/agents', server.operator, { agent_id: `bench-${n}` })
  const claimed = await measured('claim', () =>
    server.call('POST', '/tasks/claim', agent_token, { agent_id: `bench-${n}`, task_id }),
  )
  let token = claimed.phase_token
  const ask = async (target_phase, artifacts) => {
    for (;;) {
      const answer = await server.call('POST', '/tasks/transition', token, { task_id, target_phase, artifacts })
      if (answer.checking !== true) return answer
    }
  }
  const approve = async ({ id, digest }) =>
    server.call('POST', `/approvals/${id}/decision`, server.operator, { decision: 'approve', digest })
  const move = async (target, artifacts) => {
    const asked = await ask(target, artifacts)
    if (asked.pending_approval !== undefined) await approve(asked.pending_approval)
    const answer = asked.pending_approval === undefined ? asked : await measured(target, () => ask(target, artifacts))
    if (answer.allowed !== true) throw new Error(JSON.stringify(answer))
    token = answer.phase_token ?? token
  }
  const use = (tool_name, args) => server.call('POST', '/tools/execute', token, { task_id, tool_name, args })
  await move('TDD', { plan_document: PLAN })
  await waitForBaseline(server, task_id)
  await use('write_files', { path: test, content: testOf(`added ${n}`, `../${code}`, 'added', String(n)) })
  await measured('IMPL', () => move('IMPL', { test_files: { test_files: [{ path: test, covers: ['AC1'] }] } }))
  await use('write_files', { path: code, content: `export const added = ${n}\n` })
  const changed = { files_changed: [{ path: code, change_type: 'created' }], summary: 'The constant' }
  await measured('REVIEW', () => move('REVIEW', { implementation_files: changed }))
  const review = { reviews: { peer: { status: 'completed' } }, blocking_issues: [] }
  await measured('COMPLETE', () => move('COMPLETE', { review_report: review }))
  await use('git_commit', { message: 'Add a constant' })
  await move('COMPLETE', { completion_summary: { summary: 'Added', files_changed: [code] } })
  return seen
}

// No agent writes a test while the tests run for the first time: a person has to read the plan before.
async function waitForBaseline(server, task_id) {
  for (let tries = 0; tries < 600; tries += 1) {
    const path = `/audit/query?task_id=${task_id}&type=baseline_recorded`
    const { events } = await server.call('GET', path, server.operator)
    if (events.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the tests of the starting tree were not run')
}

const PLAN = {
  title: 'Add a constant and its test',
  acceptance_criteria: [{ id: 'AC1', criterion: 'the constant has its value', how_to_verify: 'a unit test' }],
  implementation_steps: ['test', 'code'],
  scope: { in_scope: ['the constant'], out_of_scope: ['the rest'] },
}
