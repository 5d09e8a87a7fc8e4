// `npm run bench`: every measurement, as a table and as JSON. `npm run bench -- check store` runs some of them; `--quick` fewer rounds.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepare } from '../../scripts/prepare.mjs'
import { benchAgentCli } from './agent-cli.mjs'
import { benchCheck } from './check.mjs'
import { benchConfined } from './confined.mjs'
import { benchCoordination } from './coordination.mjs'
import { benchDashboards } from './dashboards.mjs'
import { benchDecide } from './decide.mjs'
import { benchFileTools } from './file-tools.mjs'
import { benchGateCache } from './gate-cache.mjs'
import { benchInverted } from './inverted.mjs'
import { benchInverter } from './inverter.mjs'
import { benchKnowledge } from './knowledge.mjs'
import { machine, rawFsync } from './measure.mjs'
import { benchNodes } from './nodes.mjs'
import { benchPages } from './pages.mjs'
import { benchReconcile } from './reconcile.mjs'
import { benchRepository } from './repository.mjs'
import { benchRules } from './rules.mjs'
import { benchScale } from './scale.mjs'
import { place, ROOT } from './servers.mjs'
import { benchStart } from './start.mjs'
import { benchStore } from './store.mjs'
import { benchView } from './view.mjs'

prepare()
const given = process.argv.slice(2)
const quick = given.includes('--quick')
const names = given.filter((one) => !one.startsWith('--'))
if (!existsSync(join(ROOT, 'dev/bench/node_modules'))) {
  console.error('Installing what Phaselock is compared with …')
  spawnSync('npm', ['install', '--prefix', join(ROOT, 'dev/bench'), '--no-audit', '--no-fund', '--no-package-lock'], {
    stdio: ['ignore', 2, 2],
  })
}

const SUITES = {
  decide: () => benchDecide({ rounds: quick ? 3 : 5 }),
  store: () => benchStore({ rounds: quick ? 3 : 5 }),
  nodes: () => benchNodes({ rounds: quick ? 3 : 5, seconds: quick ? 2 : 5 }),
  confined: () => benchConfined({ rounds: quick ? 3 : 7 }),
  'file-tools': () => benchFileTools({ rounds: quick ? 3 : 5 }),
  inverted: () => benchInverted({ rounds: quick ? 1 : 5 }),
  inverter: () => benchInverter({ rounds: quick ? 3 : 9 }),
  knowledge: () => benchKnowledge({ passages: quick ? 2_000 : 10_000, files: quick ? 200 : 1_000, rounds: 1 }),
  'gate-cache': () => benchGateCache({ rounds: quick ? 3 : 7 }),
  reconcile: () => benchReconcile({ files: quick ? 10_000 : 100_000, rounds: quick ? 3 : 5 }),
  view: () => benchView({ sizes: quick ? [1000, 10_000] : [1000, 100_000], rounds: quick ? 3 : 7 }),
  repository: () => benchRepository({ files: 10_000, rounds: quick ? 1 : 5 }),
  rules: () => benchRules({ rounds: quick ? 20 : 60 }),
  coordination: () => benchCoordination({ rounds: quick ? 3 : 7 }),
  pages: () =>
    benchPages({
      ...{ rounds: quick ? 3 : 7, seconds: quick ? 4 : 15, tasks: 1000, events: 10_000 },
      ledger: quick ? 100_000 : 1_000_000,
    }),
  dashboards: () => benchDashboards({ rounds: quick ? 3 : 5, seconds: quick ? 4 : 10 }),
  check: () => benchCheck({ rounds: quick ? 3 : 5, seconds: quick ? 2 : 5 }),
  scale: () => benchScale({ sizes: quick ? [50, 5000] : [50, 5000, 10_000, 100_000] }),
  'agent-cli': () => benchAgentCli({ rounds: quick ? 1 : 3, calls: quick ? 12 : 25 }),
  start: () => benchStart(quick ? { events: 50_000, tasks: 500 } : { events: 1_000_000, tasks: 10_000 }),
}
const wanted = names.length === 0 ? Object.keys(SUITES) : names
const unknown = wanted.filter((name) => SUITES[name] === undefined)
if (unknown.length > 0) {
  console.error(`There is no measurement ${unknown.join(', ')}. There are: ${Object.keys(SUITES).join(', ')}`)
  process.exit(2)
}

const at = place()
const report = { machine: { ...machine(), raw_fsync: rawFsync(at.dir) }, at: new Date().toISOString(), suites: {} }
at.remove()
for (const name of wanted) {
  console.error(`Measuring ${name} …`)
  const result = await SUITES[name]()
  report.suites[name] = result
  if (result.skipped !== undefined) console.log(`${name}: skipped, ${result.skipped}`)
  if (result.lines !== undefined) print(name, result.lines)
}
mkdirSync(join(ROOT, 'dev/bench/results'), { recursive: true })
const file = join(ROOT, 'dev/bench/results/latest.json')
writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
console.log(`\nWritten to ${file}`)

function print(name, lines) {
  console.log(`\n${name}`)
  for (const one of lines) {
    const verdict = one.met === null ? '      ' : one.met ? 'met   ' : 'MISSED'
    console.log(
      `  ${verdict} ${String(one.ratio).padStart(8)} ${(one.goal ?? '').padEnd(8)} ${one.name}  (${one.value} : ${one.baseline})`,
    )
  }
}
