// Mutation testing and coverage of the rules: node dev/mutation/run.mjs [coverage | many] [<file of src/core/rules> ...]
// The tests with very many facts are slow: they are run with `coverage` and `many` only.
// Works on a copy in a temporary folder, so that the checkout stays as it is.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const HERE = new URL('.', import.meta.url).pathname
const ROOT = join(HERE, '../..')
const COPIED = ['src/core', 'src/contract', 'test/core', 'schemas', 'contracts', 'tsconfig.json', 'package.json']
const words = process.argv.slice(2)
const isCoverage = words[0] === 'coverage'
const isMany = words[0] === 'many'
const wanted = isCoverage || isMany ? words.slice(1) : words

const copy = mkdtempSync(join(tmpdir(), 'phaselock-mutation-'))
let status = 1
try {
  if (!existsSync(join(HERE, 'node_modules')))
    run('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], HERE)
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  linkModules()
  writeFileSync(join(copy, 'vitest.config.js'), vitestConfig())
  writeFileSync(join(copy, 'stryker.config.json'), JSON.stringify(strykerConfig()))
  status = isCoverage
    ? run('node', ['node_modules/vitest/vitest.mjs', 'run', '--coverage'], copy)
    : run('node', ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run'], copy)
  if (!isCoverage) tellSurvivors()
} finally {
  rmSync(copy, { recursive: true, force: true })
}
process.exit(status)

// The test runner must be one and the same for the tests and for Stryker: what is installed here goes before the root's.
function linkModules() {
  const target = join(copy, 'node_modules')
  for (const from of [join(HERE, 'node_modules'), join(ROOT, 'node_modules')])
    for (const name of readdirSync(from)) {
      const names = name.startsWith('@') ? readdirSync(join(from, name)).map((one) => join(name, one)) : [name]
      for (const one of names.filter((each) => !each.startsWith('.') && !existsSync(join(target, each)))) {
        mkdirSync(join(target, one, '..'), { recursive: true })
        symlinkSync(join(from, one), join(target, one))
      }
    }
}

// One file that imports the others, cheap tests first: a mutant then costs one worker and not one for each file.
function vitestConfig() {
  const files = ['chain', 'text', 'limits', 'rule', 'repeats', 'facts', 'reference']
  if (isCoverage || isMany) files.push('load', 'many')
  const lines = files.map((name) => `import './${name}.test.js'\n`)
  writeFileSync(join(copy, 'test/core/rules/all.test.ts'), lines.join(''))
  return `export default {
    test: { include: ['test/core/rules/all.test.ts'], testTimeout: 60_000,
      coverage: { provider: 'v8', include: ['src/core/rules/**', 'src/core/text.ts'], reporter: ['text'] } } }`
}

function strykerConfig() {
  return {
    mutate:
      wanted.length > 0 ? wanted.map((name) => `src/core/rules/${name}`) : ['src/core/rules/*.ts', 'src/core/text.ts'],
    // Stryker would rewrite it with the programming interface that TypeScript 7 no longer has.
    tsconfigFile: 'none.json',
    testRunner: 'vitest',
    plugins: [join(HERE, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    coverageAnalysis: 'perTest',
    symlinkNodeModules: true,
    concurrency: 2,
    timeoutMS: 8_000,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: 'report.json' },
    allowConsoleColors: false,
  }
}

function tellSurvivors() {
  const report = JSON.parse(readFileSync(join(copy, 'report.json'), 'utf8'))
  const counts = {}
  const lines = []
  for (const [file, { mutants }] of Object.entries(report.files))
    for (const { status: outcome, location, mutatorName, replacement } of mutants) {
      counts[outcome] = (counts[outcome] ?? 0) + 1
      if (outcome === 'Survived' || outcome === 'NoCoverage')
        lines.push(
          `${outcome} ${file}:${location.start.line}:${location.start.column} ${mutatorName} -> ${replacement}`,
        )
    }
  const caught = (counts.Killed ?? 0) + (counts.Timeout ?? 0)
  const all = caught + (counts.Survived ?? 0) + (counts.NoCoverage ?? 0)
  mkdirSync(join(HERE, 'results'), { recursive: true })
  const text = [...lines, JSON.stringify(counts), `score ${((100 * caught) / all).toFixed(1)} %`].join('\n')
  writeFileSync(join(HERE, 'results', `${words.join('-') || 'all'}.txt`), `${text}\n`)
  console.log(text)
}

function run(program, given, cwd) {
  // The comparison with a plain reading is told to be short: it runs once for each mutant.
  const env = { ...process.env, PHASELOCK_RULE_RUNS: '5' }
  return spawnSync(program, given, { cwd, env, stdio: 'inherit' }).status ?? 1
}
