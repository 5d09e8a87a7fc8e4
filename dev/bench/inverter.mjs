// Rewriting a test file of 300 tests into twins, against parsing it: both texts have to be written and one parsed again.
import { join } from 'node:path'
import { alternate, line, medians, round } from './measure.mjs'
import { ROOT } from './servers.mjs'

const TESTS = 300
const RATIO_MAX = 5
const FILES = {
  'suite.test.ts': `import { expect, it } from 'vitest'\n${repeat((n) => `it('adds ${n}', () => {\n  const sum: number = add(${n}, 2)\n  expect(sum).toBe(${n + 2})\n  expect([sum]).toEqual([${n + 2}])\n})\n`)}`,
  'test_suite.py': `from add import add\n${repeat((n) => `def test_${n}():\n    total = add(${n}, 2)\n    assert total == ${n + 2}\n    assert [total] == [${n + 2}]\n`)}`,
  'suite_test.go': `package add\nimport "testing"\n${repeat((n) => `func Test${n}(t *testing.T) {\n\tif got := Add(${n}, 2); got != ${n + 2} {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n`)}`,
  'tests/suite.rs': repeat(
    (n) => `#[test]\nfn test_${n}() {\n    let sum = add(${n}, 2);\n    assert_eq!(sum, ${n + 2});\n}\n`,
  ),
}

function repeat(write) {
  return Array.from({ length: TESTS }, (_, n) => write(n)).join('')
}

export async function benchInverter({ rounds }) {
  const { invertTests } = await import(join(ROOT, 'dist/inverter/invert-tests.js'))
  const { findLanguage } = await import(join(ROOT, 'dist/inverter/languages.js'))
  const { parseFile } = await import(join(ROOT, 'dist/inverter/parse.js'))
  const lines = []
  for (const [path, text] of Object.entries(FILES)) {
    const timed = async (work) => {
      const started = performance.now()
      await work()
      return performance.now() - started
    }
    const candidates = {
      parse: () => timed(() => parseFile(findLanguage(path), text, Number.POSITIVE_INFINITY)),
      invert: (n) => timed(() => invertTests({ path, text, seed: String(n) })),
    }
    await alternate(2, candidates)
    const { parse, invert } = medians(await alternate(rounds, candidates))
    const about = { value: `${round(invert)} ms`, baseline: `${round(parse)} ms`, ratio: round(invert / parse) }
    lines.push(line(`twins of ${TESTS} tests, ${findLanguage(path)}`, { ...about, goal: `≤ ${RATIO_MAX}` }))
  }
  return { lines }
}
