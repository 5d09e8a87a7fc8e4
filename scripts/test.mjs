// `npm test`: installs, builds, runs every check and every test, and ends with one line of counts.
// Arguments are passed to the test runner: `npm test -- test/core` runs that folder alone, without the checks.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, ROOT, say } from './prepare.mjs'

prepare()
const given = process.argv.slice(2)
const CHECKS = [
  ['style and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['the core without ambient types', 'node_modules/typescript/bin/tsc', '-p', 'src/core/tsconfig.json'],
  ['types of source and tests', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json'],
]
const count = { passed: 0, failed: 0, skipped: 0 }

if (given.length === 0)
  for (const [name, ...command] of CHECKS) {
    const ok = run(command)
    say(`${ok ? 'ok' : 'FAILED'}: ${name}`)
    count[ok ? 'passed' : 'failed'] += 1
  }

const folder = mkdtempSync(join(tmpdir(), 'phaselock-npm-test-'))
const report = join(folder, 'report.json')
const ran = run([
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...given,
])
try {
  const result = JSON.parse(readFileSync(report, 'utf8'))
  count.passed += result.numPassedTests
  count.failed += result.numFailedTests
  count.skipped += result.numPendingTests + result.numTodoTests
  for (const file of result.testResults)
    for (const test of file.assertionResults)
      if (test.status !== 'passed' && test.status !== 'failed') say(`skipped: ${test.fullName}`)
  // A file that does not load runs no test and must not look as if all were well.
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
if (!ran && count.failed === 0) count.failed += 1
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed === 0 ? 0 : 1

function run(command) {
  const done = spawnSync(
    process.execPath,
    command.map((part, index) => (index === 0 ? join(ROOT, part) : part)),
    { cwd: ROOT, stdio: 'inherit' },
  )
  return done.status === 0
}
