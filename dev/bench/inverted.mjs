// What the twins of the inverted run cost: each against the plain run of the same files, in turn, as gates run them. Two kinds of
// tests: those that take a moment, as most suites do, and those that only assert, which shows the cost of failing itself.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { alternate, line, medians, round } from './measure.mjs'
import { place, ROOT } from './servers.mjs'

const FILES = 10
const TESTS = 20
const WORK_MS = 5
const PACKAGES = join(ROOT, 'node_modules')
const numbers = (count) => Array.from({ length: count }, (_, index) => index)

/** A project in which each test adds and compares a number, a text and a list, after `ms` of work. */
const javascript = (head, equal) => (ms) => ({
  'package.json': '{"type": "module"}',
  'src/add.js': `export const add = (a, b) => a + b
export const work = (ms) => { const end = performance.now() + ms; while (performance.now() < end); }
`,
  ...Object.fromEntries(
    numbers(FILES).map((file) => [
      `tests/${file}.test.js`,
      `${head}import { add, work } from '../src/add.js'\n${numbers(TESTS)
        .map(
          (n) =>
            `test('adds ${n}', () => {\n  work(${ms})\n  ${equal}(add(${n}, 1), ${n + 1})\n  ${equal}([add(1, ${n})].join(), '${n + 1}')\n})\n`,
        )
        .join('')}`,
    ]),
  ),
})

const python = (head, wrap) => (ms) => ({
  'calc.py':
    'import time\ndef add(a, b):\n    return a + b\ndef work(ms):\n    end = time.perf_counter() + ms / 1000\n    while time.perf_counter() < end:\n        pass\n',
  'tests/__init__.py': '',
  'conftest.py': '',
  ...Object.fromEntries(
    numbers(FILES).map((file) => [`tests/test_${file}.py`, `${head}${numbers(TESTS).map(wrap(ms)).join('')}`]),
  ),
})

const go = (ms) => ({
  'go.mod': 'module example.com/calc\n\ngo 1.22\n',
  'calc.go':
    'package calc\n\nimport "time"\n\nfunc Add(a, b int) int { return a + b }\nfunc Work(ms int) {\n\tend := time.Now().Add(time.Duration(ms) * time.Millisecond)\n\tfor time.Now().Before(end) {\n\t}\n}\n',
  ...Object.fromEntries(
    numbers(FILES).map((file) => [
      `add${file}_test.go`,
      `package calc\n\nimport "testing"\n\n${numbers(TESTS)
        .map(
          (n) =>
            `func TestAdds${file}x${n}(t *testing.T) {\n\tWork(${ms})\n\tif got := Add(${n}, 1); got != ${n + 1} {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n`,
        )
        .join('')}`,
    ]),
  ),
})

const rust = (ms) => ({
  'Cargo.toml': '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs':
    'use std::time::{Duration, Instant};\npub fn add(a: i32, b: i32) -> i32 { a + b }\npub fn work(ms: u64) { let end = Instant::now() + Duration::from_millis(ms); while Instant::now() < end {} }\n',
  'tests/add.rs': numbers(FILES * TESTS)
    .map((n) => `#[test]\nfn adds_${n}() {\n    calc::work(${ms});\n    assert_eq!(calc::add(${n}, 1), ${n + 1});\n}\n`)
    .join(''),
})

const RUNNERS = [
  {
    ...{ name: 'node:test', needs: ['node', '--version'], command: 'node --test tests/', format: 'node', goal: '≤ 2' },
    files: javascript("import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n", 'assert.equal'),
  },
  {
    ...{ name: 'vitest', needs: ['node', '--version'], format: 'vitest', goal: '≤ 2', packages: PACKAGES },
    command: `node ${PACKAGES}/vitest/vitest.mjs run --root . --reporter=verbose`,
    files: javascript("import { expect, test } from 'vitest'\nconst equal = (a, b) => expect(a).toBe(b)\n", 'equal'),
  },
  {
    ...{ name: 'pytest', needs: ['python3', '-c', 'import pytest'], goal: '≤ 2', format: 'pytest' },
    command: 'python3 -m pytest -v -p no:cacheprovider',
    files: python(
      'from calc import add, work\n',
      (ms) => (n) =>
        `def test_adds_${n}():\n    work(${ms})\n    assert add(${n}, 1) == ${n + 1}\n    assert str(add(1, ${n})) == "${n + 1}"\n`,
    ),
  },
  {
    ...{ name: 'unittest', needs: ['python3', '--version'], goal: '≤ 2', format: 'pytest' },
    command: 'python3 -m unittest discover -v -t . -s tests',
    files: python(
      'import unittest\nfrom calc import add, work\nclass Adds(unittest.TestCase):\n',
      (ms) => (n) =>
        `    def test_adds_${n}(self):\n        work(${ms})\n        self.assertEqual(add(${n}, 1), ${n + 1})\n        self.assertEqual(str(add(1, ${n})), "${n + 1}")\n`,
    ),
  },
  { ...{ name: 'go test', needs: ['go', 'version'], command: 'go test -json ./...', format: 'go' }, files: go },
  {
    ...{ name: 'cargo test', needs: ['cargo', '--version'], command: 'cargo test --offline', format: 'cargo' },
    files: rust,
  },
]

export async function benchInverted({ rounds }) {
  const { openConfinement } = await import('../../dist/confinement/open-confinement.js')
  const { GoCache } = await import('../../dist/confinement/view/go-cache.js')
  const at = place()
  mkdirSync(join(at.dir, 'wall'))
  const wall = await openConfinement({ stateDir: join(at.dir, 'wall'), only: null })
  const cache = new GoCache(join(at.dir, 'go-cache'), process.env)
  const lines = []
  const skipped = []
  try {
    for (const runner of RUNNERS)
      if (spawnSync(runner.needs[0], runner.needs.slice(1)).status !== 0) skipped.push(runner.name)
      else
        for (const ms of [WORK_MS, 0])
          lines.push(...(await benchRunner(runner, { ms, rounds, wall, cache, dir: at.dir })))
  } finally {
    await wall.close()
    at.remove()
  }
  return { lines, not_installed: skipped, load: loadavg().map((one) => round(one)) }
}

async function benchRunner(runner, { ms, rounds, wall, cache, dir }) {
  const { observe } = await import('../../dist/checks/observed-runs/observe.js')
  const { invertTests } = await import('../../dist/inverter/invert-tests.js')
  const tree = mkdtempSync(join(dir, 'tree-'))
  const files = Object.entries(runner.files(ms))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const tests = files.filter(([path]) => /test_|_test\.go|\.test\.|^tests\/add\.rs/.test(path))
  const twins = { plain: [], unturned: [], turned: [] }
  for (const [path, text] of tests) {
    const made = await invertTests({ path, text, seed: 'bench' })
    if (made.outcome !== 'rewritten') throw new Error(`${path}: ${made.reason}`)
    for (const twin of ['unturned', 'turned'])
      twins[twin].push({ path, type: 'file', mode: 0o644, content: Buffer.from(made[twin]) })
  }
  const shown = runner.packages === undefined ? [] : [runner.packages]
  const confinement = {
    provider: wall.provider,
    start: (job) => wall.start({ ...job, shown: [...(job.shown ?? []), ...shown] }),
  }
  // As the server makes it once: what of Go's own packages is compiled already.
  if (runner.format === 'go') await cache.make()
  const goCache = runner.format === 'go' ? cache.findSeeds(tree) : []
  const compiled = tests.map(([path]) => path).filter((path) => /\.(?:go|rs)$/.test(path))
  const run = async (twin) => {
    const put = twins[twin]
    const view = { composition: { put, leftOut: [], pinned: [], isGuarded: () => false }, leftOut: [] }
    const place = { confinement, tree, hidden: [], signal: new AbortController().signal, redact: String, view, goCache }
    const without = { sources: twin === 'plain' ? [] : compiled, isOnePackage: true }
    const command = { run: runner.command, format: runner.format, report: null, timeoutSeconds: 600, env: {} }
    const { counts, problem, durationMs } = await observe({ ...place, without }, 'tests', command, { treeHash: '' })
    const isRight = twin === 'turned' ? counts?.failed === FILES * TESTS : counts?.passed === FILES * TESTS
    if (!isRight) throw new Error(`${runner.name} ${twin}: ${JSON.stringify(counts)} ${problem}`)
    return durationMs
  }
  const seen = await alternate(rounds, {
    plain: () => run('plain'),
    unturned: () => run('unturned'),
    turned: () => run('turned'),
  })
  const took = medians(seen)
  // A measurement that is interrupted has still shown what it measured.
  console.error(`  ${runner.name}, ${ms} ms: ${JSON.stringify(took)}`)
  const kind = ms === 0 ? 'tests that only assert' : `tests of ${ms} ms`
  return ['unturned', 'turned'].map((twin) =>
    line(`${runner.name}, ${twin}: ${FILES * TESTS} ${kind}, against the plain run`, {
      value: `${round(took[twin] / 1000)} s`,
      baseline: `${round(took.plain / 1000)} s`,
      ratio: round(took[twin] / took.plain),
      ...(runner.goal === undefined ? {} : { goal: runner.goal }),
    }),
  )
}
