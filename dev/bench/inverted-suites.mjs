// The inverted run on whole test suites: how many tests it proves, which ones survive, and how long it takes.
//
//   node dev/bench/inverted-suites.mjs LIST.json [--only NAME,...] [--out FOLDER] [--sample N]
//
// LIST.json holds one entry for each suite. Its folder has to be ready to be tested: nothing is installed here.
//   { "name": "ufo", "repository": "unjs/ufo", "folder": "/tmp/suites/ufo", "runner": "vitest", "format": "vitest",
//     "command": ["node_modules/.bin/vitest", "run", "--reporter=json"], "report": null,
//     "tests": ["test/**/*.test.ts"], "shared": ["node_modules"], "env": {}, "seconds": 600 }
// `report` is a file that the command writes; without it the output is read. `shared` is linked instead of copied.
//
// Every run has a copy of the folder: the plain suite, the unturned twin, the turned one and, where tests survived, are missing or
// failed for another reason, one in which only the outer assertions are turned. Verdicts, messages and times of each test are written to FOLDER/NAME.json.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { judgeSuite, VERDICTS } from './inverted-verdicts.mjs'
import { ROOT } from './servers.mjs'

const { invertTests } = await import(join(ROOT, 'dist/inverter/invert-tests.js'))
const { readReport } = await import(join(ROOT, 'dist/checks/reports/read-report.js'))

const OUTPUT_BYTES_MAX = 512 * 1024 * 1024
const SECONDS_MAX = 600

function listTests({ folder, tests }) {
  const patterns = tests.map((glob) => `:(glob)${glob}`)
  const listed = spawnSync('git', ['ls-files', '-z', '--', ...patterns], { cwd: folder, encoding: 'utf8' })
  return listed.stdout.split('\0').filter((path) => path !== '')
}

async function invertSuite(suite, files, outerOnly) {
  const seed = randomUUID()
  const inverted = new Map()
  for (const path of files) {
    const text = readFileSync(join(suite.folder, path), 'utf8')
    const invert = () => invertTests({ path, text, seed, outerOnly })
    const first = await invert()
    // A busy machine is slow: that says nothing of the file.
    inverted.set(path, first.reason === 'took_too_long' ? await invert() : first)
  }
  return inverted
}

/** Runs the suite in a copy whose test files have these texts. */
function runCopy(suite, texts) {
  const parent = mkdtempSync(join(tmpdir(), 'inverted-'))
  const root = join(parent, basename(suite.folder))
  const shared = suite.shared ?? []
  try {
    const left = new Set(['.git', 'target', ...shared])
    cpSync(suite.folder, root, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => !left.has(relative(suite.folder, from)),
    })
    for (const path of shared)
      if (existsSync(join(suite.folder, path))) symlinkSync(join(suite.folder, path), join(root, path))
    for (const [path, text] of texts) {
      rmSync(join(root, path))
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return runIn(suite, root)
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

function runIn({ command, env, seconds, format, report }, root) {
  const [program, ...args] = command.map((part) => part.replaceAll('{root}', root))
  const started = performance.now()
  const ran = spawnSync(program.includes('/') && !program.startsWith('/') ? join(root, program) : program, args, {
    cwd: root,
    env: {
      ...process.env,
      CI: '1',
      FORCE_COLOR: '0',
      NO_COLOR: '1',
      ...mapValues(env ?? {}, (one) => one.replaceAll('{root}', root)),
    },
    ...{
      encoding: 'utf8',
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout: (seconds ?? SECONDS_MAX) * 1000,
      killSignal: 'SIGKILL',
    },
  })
  const took = (performance.now() - started) / 1000
  const written = report == null ? null : existsSync(join(root, report)) ? readFileSync(join(root, report), 'utf8') : ''
  const streams = { stdout: ran.stdout ?? '', stderr: ran.stderr ?? '' }
  const reading = readReport({ format, ...streams, reportText: written, exitCode: ran.status ?? 137, root })
  const tests = reading.result === 'unreadable' ? [] : reading.report.tests
  const loadFailures = reading.result === 'unreadable' ? [] : reading.report.loadFailures
  const trouble = reading.result === 'read' ? null : `${reading.reason} ${ran.error ?? ''}`
  return { took, tests, loadFailures, trouble, isTimeout: ran.error?.code === 'ETIMEDOUT', ...streams }
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, one]) => [key, change(one)]))
}

function textsOf(inverted, side) {
  const rewritten = [...inverted].filter(([, { outcome }]) => outcome === 'rewritten')
  return rewritten.map(([path, inversion]) => [path, inversion[side]])
}

async function measureSuite(suite, out) {
  const files = listTests(suite)
  const inverted = await invertSuite(suite, files, false)
  const runs = { plain: runCopy(suite, []) }
  const areTwins = [...inverted.values()].some((one) => one.outcome === 'rewritten' && one.areTwins)
  runs.unturned = areTwins ? runCopy(suite, textsOf(inverted, 'unturned')) : runs.plain
  runs.turned = runCopy(suite, textsOf(inverted, 'turned'))
  let judged = judgeSuite({ suite, inverted, runs })
  if (
    judged.some(
      ({ verdict, why }) => verdict === 'survived' || (verdict === 'no_evidence' && !why.startsWith('unturned')),
    )
  ) {
    runs.outer = runCopy(suite, textsOf(await invertSuite(suite, files, true), 'turned'))
    judged = judgeSuite({ suite, inverted, runs })
  }
  mkdirSync(out, { recursive: true })
  for (const [name, { stdout, stderr }] of Object.entries(runs))
    writeFileSync(join(out, `${suite.name}.${name}.log`), `${stdout}\n--- stderr\n${stderr}`)
  const kept = mapValues(runs, ({ took, trouble, loadFailures, tests }) => ({ took, trouble, loadFailures, tests }))
  const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: suite.folder, encoding: 'utf8' }).stdout.trim()
  const notRewritten = [...inverted]
    .filter(([, one]) => one.outcome !== 'rewritten')
    .map(([path, one]) => `${path}: ${one.reason}`)
  const result = {
    name: suite.name,
    repository: suite.repository,
    commit,
    runner: suite.runner,
    runs: kept,
    notRewritten,
    judged,
  }
  writeFileSync(join(out, `${suite.name}.json`), `${JSON.stringify(result, null, 1)}\n`)
  return result
}

/** Unclear failures first: an audit has to look at these. */
function sampleFailures(judged, size) {
  const shuffled = judged
    .filter(({ verdict }) => verdict === 'proved')
    .map((test) => [Math.random() + (test.why === 'unclear' ? 0 : 1), test])
    .toSorted(([one], [other]) => one - other)
  return shuffled.slice(0, size).map(([, test]) => test)
}

function printSuite(result, sample) {
  const { name, runs, judged } = result
  for (const [run, { trouble, loadFailures }] of Object.entries(runs)) {
    if (trouble !== null) console.log(`  ${name} ${run}: ${trouble}`)
    for (const { file, message } of loadFailures.slice(0, 5))
      console.log(`  ${name} ${run} did not load ${file}: ${message}`)
  }
  for (const test of judged)
    if (test.verdict === 'survived' || test.verdict === 'no_evidence')
      console.log(
        `  ${test.verdict} ${test.file ?? '?'}:${test.line ?? '?'} ${test.id}${test.why === '' ? '' : ` (${test.why})`}`,
      )
  for (const { id, why, message } of sampleFailures(judged, sample))
    console.log(`  sample (${why}) ${id}: ${(message ?? '').slice(0, 200)}`)
  const count = (verdict) => judged.filter((test) => test.verdict === verdict).length
  const ratio = (runs.turned.took / runs.plain.took).toFixed(2)
  const row = [
    result.repository,
    result.commit.slice(0, 8),
    result.runner,
    judged.length,
    VERDICTS.map(count).join(' / '),
  ]
  console.log(`| ${[...row, `${runs.plain.took.toFixed(1)} s`, ratio].join(' | ')} |`)
}

const { values, positionals } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string', default: join(tmpdir(), 'inverted-suites') },
    sample: { type: 'string', default: '0' },
  },
  allowPositionals: true,
})
const [list] = positionals
if (list === undefined)
  throw new Error('usage: node dev/bench/inverted-suites.mjs LIST.json [--only NAME,...] [--out FOLDER] [--sample N]')
const only = values.only?.split(',')
console.log(`| repository | commit | runner | tests | ${VERDICTS.join(' / ')} | plain run | turned / plain |`)
for (const suite of JSON.parse(readFileSync(list, 'utf8')))
  if (only === undefined || only.includes(suite.name))
    printSuite(await measureSuite(suite, values.out), Number(values.sample))
