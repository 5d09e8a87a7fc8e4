// What rules cost: a tool call in a phase with ten rules and 10,000 facts in their windows, against the same call on the same
// server in a phase without rules and with the same facts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, cpuSeconds, line, median, medians, round } from './measure.mjs'
import { phaselock, place } from './servers.mjs'

const FACTS = 10_000
const FACTS_AT_ONCE = 8
const CALLS_PER_ROUND = 10
const WARM_UP_CALLS = 100
const RULES = [
  'repeated_command: {threshold: 1000000, window: 86400}',
  'repeated_command: {pattern: "npm (test|run build)", threshold: 1000000, window: 86400}',
  'repeated_command: {pattern: "^cargo (build|test|check)", threshold: 1000000, window: 86400}',
  'repeated_command: {pattern: "(a+)+$", threshold: 1000000, window: 86400}',
  'repeated_command: {threshold: 1000000, window: 86400, unless_progress: true}',
  'repeated_file_edit: {threshold: 1000000, window: 86400}',
  'repeated_file_edit: {path_pattern: "src/.*[.]ts", threshold: 1000000, window: 86400}',
  'repeated_file_edit: {path_pattern: "test/", threshold: 1000000, window: 86400}',
  'phase_timeout: {max_duration: 1000000}',
  'token_budget: {max_tokens: 1000000000}',
]

const contractOf = (name, rules) => `name: ${name}
version: "1"
phases:
  - id: A
    allowed_tools: [read_files, bash]
    rules: [${rules.map((rule) => `{${rule}}`).join(', ')}]
  - {id: B, allowed_tools: []}
transitions: [{from: A, to: B}]
enforcement: {reconcile: off, lease_seconds: 86400}
`

export async function benchRules({ rounds }) {
  const at = place()
  const contract = join(at.dir, 'rules.yaml')
  writeFileSync(contract, contractOf('ten', RULES))
  writeFileSync(join(at.dir, 'tree/a.txt'), 'x\n')
  const server = await phaselock(at.dir, contract)
  try {
    const plain = await server.call('POST', '/contracts', server.operator, { source: contractOf('none', []) })
    const made = {
      ten: await taskOf(server, 'ten'),
      none: await taskOf(server, 'none', plain.hash ?? plain.contract?.hash),
    }
    for (const one of Object.values(made)) await fill(server, one)
    const measured = {}
    for (const [kind, work] of Object.entries({ call: toolCall, fact })) {
      for (const one of Object.values(made)) for (let i = 0; i < WARM_UP_CALLS; i += 1) await work(server, one)
      measured[kind] = await alternate(rounds, {
        ten: () => block(server, made.ten, work),
        none: () => block(server, made.none, work),
      })
    }
    return { lines: [...linesOf('a tool call', measured.call), ...linesOf('a hook that counts', measured.fact)] }
  } finally {
    await server.stop()
    at.remove()
  }
}

async function taskOf(server, name, contract) {
  const task = await server.call('POST', '/tasks', server.operator, {
    title: name,
    ...(contract === undefined ? {} : { contract }),
  })
  const agent = await server.call('POST', '/agents', server.operator, { agent_id: name })
  const claim = await server.call('POST', '/tasks/claim', agent.agent_token, { agent_id: name, task_id: task.id })
  if (claim.phase_token === undefined) throw new Error(JSON.stringify({ task, claim }))
  return { taskId: task.id, token: claim.phase_token, made: 0 }
}

// Half commands, half edits, most of them different.
async function fact(server, one) {
  one.made += 1
  const n = one.made
  const isEdit = n % 2 === 0
  const answer = await server.call('POST', '/hooks/claude-code', one.token, {
    hook_event_name: 'PostToolUse',
    cwd: '/',
    tool_name: isEdit ? 'Edit' : 'Bash',
    tool_input: isEdit ? { file_path: `/src/${n % 977}.ts` } : { command: `npm test -- ${n % 991}` },
    tool_use_id: `toolu_${n}`,
  })
  if (answer.code === 'rate_limited') {
    await new Promise((resolve) => setTimeout(resolve, 100))
    one.made -= 1
    return
  }
  if (answer.code !== undefined || answer.hookSpecificOutput !== undefined) throw new Error(JSON.stringify(answer))
}

async function toolCall(server, one) {
  const answer = await server.call('POST', '/tools/execute', one.token, {
    task_id: one.taskId,
    tool_name: 'read_files',
    args: { path: 'a.txt' },
  })
  if (answer.decision !== 'allowed') throw new Error(JSON.stringify(answer))
}

async function fill(server, one) {
  while (one.made < FACTS) await Promise.all(Array.from({ length: FACTS_AT_ONCE }, () => fact(server, one)))
}

async function block(server, one, work) {
  const times = []
  const before = cpuSeconds(server.pid)
  for (let i = 0; i < CALLS_PER_ROUND; i += 1) {
    const start = performance.now()
    await work(server, one)
    times.push(performance.now() - start)
  }
  return { ms: median(times), cpuMs: ((cpuSeconds(server.pid) - before) * 1000) / CALLS_PER_ROUND }
}

// Processor time is told in hundredths of a second: only its sum over all rounds says something.
function linesOf(what, results) {
  const ms = medians(results, (one) => one.ms)
  const mean = (values) => values.reduce((sum, one) => sum + one.cpuMs, 0) / values.length
  const cpu = { ten: mean(results.ten), none: mean(results.none) }
  const of = (values, about) => ({
    value: `${round(values.ten)} ms`,
    baseline: `${round(values.none)} ms`,
    ratio: round(values.ten / values.none),
    ...about,
  })
  return [
    line(`${what} with ten rules and ${FACTS} facts, against one without rules`, of(ms, { goal: '≤ 1.2' })),
    line(`${what} with ten rules and ${FACTS} facts, processor time of the server`, of(cpu, {})),
  ]
}
