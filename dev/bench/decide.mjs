// One decision in process: Phaselock's core against a bare Map lookup, casbin and Cedar (WASM) with the same policy.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { alternate, line, medians, round } from './measure.mjs'

const BATCH_MS = 300

export async function benchDecide({ rounds }) {
  const candidates = { phaselock: await core(), map: mapLookup(), ...(await others()) }
  const results = await alternate(
    rounds,
    Object.fromEntries(Object.entries(candidates).map(([name, one]) => [name, () => perSecond(one)])),
  )
  const speed = medians(results)
  const lines = [
    line('decide, against a bare Map lookup', {
      value: `${round(speed.phaselock)}/s`,
      baseline: `${round(speed.map)}/s`,
      ratio: round(speed.phaselock / speed.map),
    }),
  ]
  if (speed.cedar !== undefined)
    lines.push(
      line('decide, against Cedar (WASM)', {
        value: `${round(speed.phaselock)}/s`,
        baseline: `${round(speed.cedar)}/s`,
        ratio: round(speed.phaselock / speed.cedar),
        goal: '≥ 50',
      }),
    )
  if (speed.casbin !== undefined)
    lines.push(
      line('decide, against casbin', {
        value: `${round(speed.phaselock)}/s`,
        baseline: `${round(speed.casbin)}/s`,
        ratio: round(speed.phaselock / speed.casbin),
        goal: '≥ 20',
      }),
    )
  return {
    lines,
    ...(candidates.cedar === undefined
      ? { skipped: 'Cedar or casbin is not installed: npm install --prefix dev/bench' }
      : {}),
  }
}

async function perSecond(run) {
  if (run.perSecond !== undefined) return run.perSecond()
  for (let i = 0; i < 200; i += 1) await run(i)
  let count = 0
  const start = performance.now()
  while (performance.now() - start < BATCH_MS) {
    for (let i = 0; i < 20; i += 1) {
      const answer = run(count + i)
      if (answer !== true && (await answer) !== true) throw new Error('a decision was not an allowance')
    }
    count += 20
  }
  return (count * 1000) / (performance.now() - start)
}

const TOOLS = [
  'read_files',
  'grep',
  'glob',
  'search_codebase',
  'git_status',
  'git_diff',
  'git_log',
  'ask_user_question',
]

async function core() {
  const [{ loadContractFile }, { findBundledContract }, { createTask, decide, stamp }, { matchesGlob }] =
    await Promise.all([
      import('../../dist/contract/load/load-contract.js'),
      import('../../dist/contract/bundled-contracts.js'),
      import('../../dist/core/task/decide.js'),
      import('../../dist/contract/glob.js'),
    ])
  const { contract } = await loadContractFile(findBundledContract('tdd'))
  const context = { now: 1_700_000_000_000, actor: 'agent:a', matchesGlob }
  const task = {
    id: 't',
    title: 't',
    description: '',
    workspace: '/',
    dependsOn: [],
    requires: [],
    metadata: {},
    mode: null,
    priority: 0,
  }
  let { state } = stamp(contract, null, createTask(contract, task).facts, context)
  const claim = { type: 'claim', agentId: 'a', instance: 'i', capabilities: [], openDependencies: [] }
  ;({ state } = stamp(contract, state, decide(contract, state, claim, context).facts, context))
  const call = { argProblems: [], paths: [{ path: 'src/main.ts', problem: null }], commands: [], shellProblem: null }
  const commands = TOOLS.map((tool) => ({
    type: 'use_tool',
    tool,
    args: { path: 'src/main.ts' },
    call,
    execute: false,
  }))
  return (i) => decide(contract, state, commands[i % commands.length], context).facts[0].type === 'tool_allowed'
}

function mapLookup() {
  const phases = new Map([['PLAN', new Set(TOOLS)]])
  return (i) => phases.get('PLAN').has(TOOLS[i % TOOLS.length])
}

async function others() {
  try {
    return { casbin: await casbin(), cedar: await cedar() }
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') return {}
    throw error
  }
}

async function casbin() {
  const { newEnforcer, newModelFromString, StringAdapter } = await import('casbin')
  const model = newModelFromString(
    '[request_definition]\nr = sub, obj, act\n[policy_definition]\np = sub, obj, act\n[policy_effect]\ne = some(where (p.eft == allow))\n[matchers]\nm = r.sub == p.sub && r.obj == p.obj && r.act == p.act',
  )
  const enforcer = await newEnforcer(model, new StringAdapter(TOOLS.map((tool) => `p, a, PLAN, ${tool}`).join('\n')))
  return (i) => enforcer.enforce('a', 'PLAN', TOOLS[i % TOOLS.length])
}

// In a process of its own: hot calls into WASM crash the V8 of Node 20 unless they are kept from being inlined.
async function cedar() {
  await import('@cedar-policy/cedar-wasm/nodejs')
  const program = fileURLToPath(new URL('cedar.mjs', import.meta.url))
  return {
    perSecond: () =>
      Number(
        execFileSync(
          process.execPath,
          ['--no-turbo-inline-js-wasm-calls', program, JSON.stringify(TOOLS), String(BATCH_MS)],
          { encoding: 'utf8' },
        ),
      ),
  }
}
