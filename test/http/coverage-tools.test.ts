import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { copyInstalled } from '../forgery/packages.js'
import { type Files, put } from '../forgery/red-stage.js'
import { installed } from '../mcp/packages.js'
import { start } from './harness.js'

const NODE: Files = {
  'package.json': '{"name": "cart", "type": "module"}\n',
  'src/sum.js':
    'export function sum(prices) {\n  let all = 0\n  for (const one of prices) all += one\n  return all\n}\n',
  'tests/sum.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'
test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`,
}
const PYTHON: Files = {
  'cart/__init__.py': '',
  'cart/sums.py': 'def total(prices):\n    return sum(prices)\n',
  'tests/__init__.py': '',
  'tests/test_sums.py': `import unittest

from cart.sums import total


class SumsTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([5, 7]), 12)
`,
}
/** One line that no test runs. */
const NODE_GAP: Files = { 'src/sum.js': `${NODE['src/sum.js']}export const other = () => {\n  return 1\n}\n` }
const PYTHON_GAP: Files = { 'cart/sums.py': `${PYTHON['cart/sums.py']}\n\ndef other():\n    return 1\n` }

interface Tool {
  readonly name: string
  readonly files: Files
  readonly gap: Files
  readonly command: string
  /** Installs the tool; a text says why it cannot be had. */
  readonly install?: (tree: string) => string | null
}

const c8 = (tree: string): string | null => {
  const found = installed('c8', ['c8@10'])
  if (!found.ok) return found.reason
  copyInstalled(found)(tree)
  return null
}
const coverage = (tree: string): string | null => {
  const run = (...words: string[]) => spawnSync('python3', words, { cwd: tree, encoding: 'utf8' })
  run('-m', 'venv', '.venv')
  const done = spawnSync(join(tree, '.venv/bin/pip'), ['install', '--quiet', 'coverage==7.6.1'], { encoding: 'utf8' })
  return done.status === 0 ? null : `pip cannot install coverage: ${(done.stderr ?? '').slice(-200)}`
}
const PY = '.venv/bin/python -m coverage'
const TOOLS: readonly Tool[] = [
  {
    name: 'node:test',
    ...{ files: NODE, gap: NODE_GAP },
    command:
      '{run: "node --test --experimental-test-coverage --test-reporter=lcov --test-reporter-destination=cov.info tests/", report: cov.info, format: lcov}',
  },
  {
    name: 'c8',
    ...{ files: NODE, gap: NODE_GAP, install: c8 },
    command:
      '{run: "node node_modules/c8/bin/c8.js --reporter=lcovonly --reports-dir=cov node --test tests/", report: cov/lcov.info, format: lcov}',
  },
  {
    name: 'coverage.py, cobertura',
    ...{ files: PYTHON, gap: PYTHON_GAP, install: coverage },
    command: `{run: "${PY} run -m unittest -v && ${PY} xml -o cov.xml", report: cov.xml, format: cobertura}`,
  },
  {
    name: 'coverage.py, lcov',
    ...{ files: PYTHON, gap: PYTHON_GAP, install: coverage },
    command: `{run: "${PY} run -m unittest -v && ${PY} lcov -o cov.info", report: cov.info, format: lcov}`,
  },
]

describe('coverage of a project whose tests run every line', () => {
  it.for(TOOLS)('[REQ-REPORT-12] is 100 % with $name, and less once a line is not run', async (tool, { skip }) => {
    const { files, gap, command, install } = tool
    const contract = `
name: covered
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files]
    gates: [{id: done, type: validation, blockers: [{check: coverage_threshold_met, threshold: 100, message: COVERAGE}]}]
  - {id: DONE, allowed_tools: []}
commands: {coverage: ${command}}
`
    const run = await start({ contract })
    try {
      put(run.workspace, files)
      const missing = install?.(run.workspace) ?? null
      if (missing !== null) return skip(missing)
      await run.addTask({ id: 't' })
      const token = await run.claim('a', await run.addAgent('a'), 't')
      const write = async (more: Files) => {
        for (const [path, content] of Object.entries(more))
          await run.call('POST', '/tools/execute', token, {
            task_id: 't',
            tool_name: 'write_files',
            args: { path, content },
          })
      }
      const leave = async () =>
        (await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })).body
      await write(gap)
      expect(JSON.stringify((await leave()).blockers)).toMatch(
        /COVERAGE: [5-9]\d(\.\d+)? % of the lines, 100 % asked for/,
      )
      await write(files)
      expect(await leave()).toMatchObject({ allowed: true })
    } finally {
      await run.stop()
    }
  })
})
