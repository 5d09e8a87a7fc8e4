// Runs the tests and ends with one line of counts. `docs/internals/testing.md` explains the suites.
//
//   npm test                   installs, builds, checks style and types, runs every suite at its usual depth
//   npm run test:unit          no build; `-- --watch` runs again on every save
//   npm run test:integration   builds, then runs what needs servers, sandboxes and programs
//   npm run test:full          like npm test, with everything that takes longer; `-- --shard=1/4` runs a quarter
//
// With `--times` the time of each file is written to test/times.json, from which the suites and their order follow.
// Further arguments go to the test runner: `npm test -- test/core` runs one folder, without the checks.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { install, prepare, ROOT, say } from './prepare.mjs'
import { installSystemPackages } from './system-packages.mjs'

const SUITES = {
  all: { projects: [], builds: true, checks: true },
  unit: { projects: ['unit'], builds: false, checks: false },
  integration: { projects: ['shared', 'separate', 'named'], builds: true, checks: false },
  full: { projects: [], builds: true, checks: true, environment: { PHASELOCK_DEPTH: 'full' } },
}
// As in vitest.config.ts.
const WORKERS_BESIDE_CORES = 4
const CHECKS = [
  ['style and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['the core without ambient types', 'node_modules/typescript/bin/tsc', '-p', 'src/core/tsconfig.json'],
  ['types of source and tests', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json'],
]

const [name, ...words] = process.argv[2] in SUITES ? process.argv.slice(2) : ['all', ...process.argv.slice(2)]
const writesTimes = words.includes('--times')
const given = words.filter((word) => word !== '--times')
// The first of the shards checks style and types for all.
const isWhole = given.every((word) => /^--shard=1\/\d+$/.test(word))
const suite = SUITES[name]
const count = { passed: 0, failed: 0, skipped: 0 }

if (name === 'full' && given.length === 0)
  say(`By test/times.json the full run takes about ${estimateMinutes()} minutes on this machine.`)
// Started first: it goes on while packages are installed and the program is built.
const installed = suite.builds ? installSystemPackages() : null
if (suite.builds) prepare()
else install()
await installed
if (given.includes('--watch')) process.exit(await runTests([]))

// Meanwhile: style and types need no more than a part of one core.
const checks = suite.checks && isWhole ? CHECKS.map(runCheck) : []
await countTests()
for (const { title, error, output } of await Promise.all(checks)) {
  if (error !== null) say(output)
  say(`${error === null ? 'ok' : 'FAILED'}: ${title}`)
  count[error === null ? 'passed' : 'failed'] += 1
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed === 0 ? 0 : 1

async function countTests() {
  const folder = mkdtempSync(join(tmpdir(), 'phaselock-npm-test-'))
  const report = join(folder, 'report.json')
  const reporters = ['default', 'json', ...(name === 'full' || writesTimes ? ['./test/times-reporter.ts'] : [])]
  const ran = await runTests([...reporters.map((reporter) => `--reporter=${reporter}`), `--outputFile.json=${report}`])
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'))
    count.passed += result.numPassedTests
    count.failed += result.numFailedTests
    count.skipped += result.numPendingTests + result.numTodoTests
    for (const file of result.testResults)
      for (const test of file.assertionResults)
        if (test.status !== 'passed' && test.status !== 'failed') say(`skipped: ${test.fullName}`)
    // A file that fails to load runs no test, and has to count as a failure.
    const broken = result.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
    )
    for (const file of broken) say(`FAILED to run: ${file.name}`)
    count.failed += broken.length
  } catch (error) {
    say(`The test runner left no report: ${error.message}`)
    count.failed += 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (ran !== 0 && count.failed === 0) count.failed += 1
}

function estimateMinutes() {
  const times = Object.values(JSON.parse(readFileSync(join(ROOT, 'test/times.json'), 'utf8')))
  const seconds = times.reduce((sum, { usual = 0, full = usual }) => sum + full, 0)
  return Math.round(seconds / 60 / (availableParallelism() + WORKERS_BESIDE_CORES))
}

function runTests(options) {
  const projects = suite.projects.map((project) => `--project=${project}`)
  const mode = given.includes('--watch') ? 'watch' : 'run'
  const filters = given.filter((word) => word !== '--watch')
  return run(['node_modules/vitest/vitest.mjs', mode, ...projects, ...options, ...filters])
}

function runCheck([title, program, ...words]) {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(ROOT, program), ...words], { cwd: ROOT, maxBuffer: 2 ** 26 }, (error, out, err) =>
      resolve({ title, error, output: `${out}${err}` }),
    )
  })
}

async function run([program, ...words]) {
  const folder = mkdtempSync(join(findTemporaryFolder(), 't-'))
  // As /tmp: commands in the sandbox run as another user.
  chmodSync(folder, 0o1777)
  const child = spawn(process.execPath, [join(ROOT, program), ...words], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: folder, ...suite.environment, ...(writesTimes ? { PHASELOCK_TIMES: 'write' } : {}) },
  })
  const [code] = await once(child, 'close')
  removeFolder(folder)
  return code ?? 1
}

function removeFolder(folder) {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    say(`${folder} was not removed: ${error.message}`)
  }
}

/** Tests make and remove many thousands of small files: in memory where there is enough of it. */
function findTemporaryFolder() {
  const MEMORY = '/dev/shm'
  const ROOM_MIN = 4 * 2 ** 30
  if (process.env.TMPDIR !== undefined || freemem() < 2 * ROOM_MIN) return tmpdir()
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_MIN ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}
