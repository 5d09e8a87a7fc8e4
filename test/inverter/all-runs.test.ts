import { describe, expect, it } from 'vitest'
import { invertTests } from '../../src/inverter/invert-tests.js'
import { depth } from '../depth.js'
import { writeSuite } from './fixture.js'
import { expectSameVerdicts, expectTwinsToHold, type Runner, runFile } from './run-suite.js'
import { COMMONJS, GO, has, NODE, PYTEST, RUST, UNITTEST, VITEST } from './runners.js'

const SEEDS = Array.from({ length: depth(1, 6) }, (_, index) => `seed ${index}`)
const RUNNERS: readonly { readonly runner: Runner; readonly isThere: boolean }[] = [
  { runner: COMMONJS, isThere: true },
  { runner: PYTEST, isThere: has('python3', '-c', 'import pytest') },
  { runner: GO, isThere: has('go', 'version') },
  { runner: RUST, isThere: has('cargo', '--version') },
]

for (const { runner, isThere } of RUNNERS)
  describe.skipIf(!isThere)(`${runner.suite.name}${isThere ? '' : ' (not installed)'}`, () => {
    it.each(SEEDS)(
      '[REQ-INVERT-6] an honest suite passes unturned and fails turned, and tests without assertion survive (%s)',
      (seed) => expectTwinsToHold(runner, seed),
      300_000,
    )
  })

describe('broken code under test', () => {
  const inJavaScript = (text: string): string =>
    text.replace('=> a + b\n', '=> a + b + 1\n').replace('=> a + b', '=> a + b + 1')
  const inPython = (text: string): string => text.replace('return a + b', 'return a + b + 1')

  it('[REQ-INVERT-7] the unturned twin has the verdicts of the original in node:test', () =>
    expectSameVerdicts(NODE, inJavaScript))
  it('[REQ-INVERT-7] the unturned twin has the verdicts of the original in vitest', () =>
    expectSameVerdicts(VITEST, inJavaScript))
  it.skipIf(!has('python3', '-c', 'import pytest'))(
    '[REQ-INVERT-7] the unturned twin has the verdicts of the original in pytest',
    () => expectSameVerdicts(PYTEST, inPython),
  )
  it.skipIf(!has('python3', '--version'))(
    '[REQ-INVERT-7] the unturned twin has the verdicts of the original in unittest',
    () => expectSameVerdicts(UNITTEST, inPython),
  )
})

describe('forged comparisons', () => {
  // The code under test: what is compared has to come from code, since literals alone are left as they are.
  const GIVE = 'const give = (value) => value\n'
  const judge = async (runner: Runner, text: string): Promise<readonly [string | undefined, string | undefined]> => {
    const inversion = await invertTests({ path: runner.suite.path, text, seed: 'forged' })
    if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
    expect(inversion.leftAlone).toEqual([])
    return [
      runFile(runner, inversion.unturned).get('case_0')?.status,
      runFile(runner, inversion.turned).get('case_0')?.status,
    ]
  }

  it.each([
    [
      'an equality that always holds',
      `import assert from 'node:assert'\nimport test from 'node:test'\n${GIVE}assert.equal = () => {}\ntest('case_0', () => { assert.equal(give(1), 2) })\n`,
    ],
    [
      'an exit before the assertion',
      `import assert from 'node:assert'\nimport test from 'node:test'\n${GIVE}test('case_0', () => { return; assert.equal(give(1), 2) })\n`,
    ],
    [
      'an error that is swallowed',
      `import assert from 'node:assert'\nimport test from 'node:test'\n${GIVE}test('case_0', () => { try { assert.equal(give(1), 2) } catch {} })\n`,
    ],
  ])('[REQ-INVERT-8] %s survives the turned run', async (_, text) => {
    expect(await judge(NODE, text)).toEqual(['passed', 'passed'])
  })

  it.each([
    ['a matcher that always passes', 'expect.extend({ toBe: () => ({ pass: true }) })', 'expect(give(1)).toBe(2)'],
    [
      'a matcher that knows about not',
      'expect.extend({ toBeTruthy() { return { pass: !this.isNot } } })',
      'expect(give(0)).toBeTruthy()',
    ],
    [
      'an equality tester that always agrees',
      'expect.addEqualityTesters([() => true])',
      'expect(give({ a: 1 })).toEqual({ a: 2 })',
    ],
  ])('[REQ-INVERT-8] %s survives the turned run', async (_, forgery, code) => {
    const text = `import { expect, it } from 'vitest'\n${GIVE}${forgery}\nit('case_0', () => { ${code} })\n`
    expect(await judge(VITEST, text)).toEqual(['passed', 'passed'])
  })

  it.skipIf(!has('python3', '-c', 'import pytest'))(
    '[REQ-INVERT-8] an object that equals everything survives the turned run',
    async () => {
      const always =
        'class Same:\n    def __eq__(self, other): return True\n    def __ge__(self, other): return True\n    def __ne__(self, other): return True\n'
      for (const code of ['Same() == 3', '3 == Same()', 'Same() >= 3', 'Same() != 3'])
        expect(await judge(PYTEST, `${always}def test_case_0():\n    assert ${code}\n`), code).toEqual([
          'passed',
          'passed',
        ])
    },
  )
})

describe('a file that is run as it is', () => {
  it.skipIf(!has('python3', '--version'))('[REQ-INVERT-6] unittest.main() at its end finds the helper', async () => {
    const inversion = await invertTests({ path: UNITTEST.suite.path, text: writeSuite(UNITTEST.suite), seed: 'main' })
    if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
    const direct = { ...UNITTEST, argv: ['python3', 'test_suite.py', '-v'] }
    expect([...runFile(direct, inversion.unturned).values()].every(({ status }) => status === 'passed')).toBe(true)
  })
})

describe('where the helper is put', () => {
  const PYTHON_BODY =
    'def add(a, b):\n    return a + b\nclass Cases(unittest.TestCase):\n    def test_case_0(self):\n        self.assertEqual(add(1, 1), 2)\n'
  const NODE_BODY = "test('case_0', () => { assert.equal(add(1, 1), 2) })\nfunction add(a, b) { return a + b }\n"
  const judge = async (runner: Runner, text: string): Promise<readonly (string | undefined)[]> => {
    const inversion = await invertTests({ path: runner.suite.path, text, seed: 'place' })
    if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
    expect(inversion.leftAlone).toEqual([])
    return [inversion.unturned, inversion.turned].map((twin) => {
      expect(twin.split('\n').findIndex((line) => line.includes('case_0'))).toBe(
        text.split('\n').findIndex((line) => line.includes('case_0')),
      )
      return runFile(runner, twin).get('case_0')?.status
    })
  }

  it.skipIf(!has('python3', '--version')).each([
    ['an import', `import unittest\n${PYTHON_BODY}`],
    ['a docstring of several lines', `"""Docs\nmore"""\nimport unittest\n${PYTHON_BODY}`],
    [
      'a docstring and an import from the future',
      `"""Docs"""  # why\nfrom __future__ import annotations  # now\nimport unittest\n${PYTHON_BODY}`,
    ],
    ['a comment and a compound statement', `# comment\ntry:\n    import unittest\nfinally:\n    pass\n${PYTHON_BODY}`],
    ['an encoding', `#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\nif True:\n    import unittest\n${PYTHON_BODY}`],
    ['a compound statement on the first line', `if True:\n    import unittest\n${PYTHON_BODY}`],
    ['other line ends', `import unittest\n${PYTHON_BODY}`.replaceAll('\n', '\r\n')],
  ])('[REQ-INVERT-2] in Python: %s', async (_, text) => {
    expect(await judge(UNITTEST, text)).toEqual(['passed', 'failed'])
  })

  it.each([
    [
      'comments',
      `// @ts-check\n/** docs */\nimport assert from 'node:assert'\nimport test from 'node:test'\n${NODE_BODY}`,
    ],
    [
      'a directive without semicolon',
      `'use strict'\nimport assert from 'node:assert'\nimport test from 'node:test'\n${NODE_BODY}`,
    ],
    [
      'a program line',
      `#!/usr/bin/env node\nimport assert from 'node:assert'\nimport test from 'node:test'\n${NODE_BODY}`,
    ],
    ['a byte order mark', `\ufeffimport assert from 'node:assert'\nimport test from 'node:test'\n${NODE_BODY}`],
    [
      'other line ends',
      `import assert from 'node:assert'\nimport test from 'node:test'\n${NODE_BODY}`.replaceAll('\n', '\r\n'),
    ],
    [
      'tests awaited while the file loads',
      `import assert from 'node:assert'\nimport test from 'node:test'\nawait ${NODE_BODY}`,
    ],
  ])('[REQ-INVERT-2] in JavaScript: %s', async (_, text) => {
    expect(await judge(NODE, text)).toEqual(['passed', 'failed'])
  })
})
