import { expect, it } from 'vitest'
import { matchesTest } from '../../src/checks/red-green/red-criteria.js'
import { inspectRedFile, isTestIn } from '../../src/checks/red-green/red-files.js'
import type { Contract } from '../../src/core/contract/contract.js'
import type { ObservedRun } from '../../src/core/evidence/observed-run.js'
import type { WorkTree } from '../../src/tree/work-tree.js'

const TEXT = "describe('parse', () => {\n  it('reads a size', () => assert.equal(parse('1kb'), 1024))\n})\n"
const tree = { read: async () => Buffer.from(TEXT), hash: async () => 'x' } as unknown as WorkTree
// The default patterns of a contract.
const contract = {
  commands: new Map(),
  tests: { patterns: ['tests/**', '**/*.test.*', '**/*.spec.*', '**/__tests__/**'] },
} as unknown as Contract
// Mocha does not say in which file a test is.
const run = {
  tests: [{ id: 'parse > reads a size', status: 'failed', file: null, message: 'TypeError: parse is not a function' }],
  loadFailures: [],
} as unknown as ObservedRun

it.each([
  ['test/utils.js', true],
  ['packages/size/test/parse.js', true],
  ['spec/parse.js', true],
  ['tests/parse.js', true],
  ['src/parse.test.js', true],
  ['src/parse.js', false],
  ['latest/parse.js', false],
])('[REQ-RED-3] a failure without a file is one of %s by its name: %s', async (path, isTest) => {
  const red = await inspectRedFile({ contract, tree, start: null, baseline: null }, run, path)
  expect(red.isTest).toBe(isTest)
  expect(red.failing).toEqual(isTest ? ['parse > reads a size'] : [])
})

it.each([
  ['carts.SumTest > adds', 'src/test/java/carts/SumTest.java', true],
  ['carts.SumTest$Empty > is nothing', 'src/test/java/carts/SumTest.java', true],
  ['carts.SumTest > adds', 'app/src/test/kotlin/Sums.kt', true],
  ['carts.SumTest > adds', 'src/test/java/shop/SumTest.java', false],
  ['carts.OtherSumTest > adds', 'src/test/java/carts/SumTest.java', false],
  ['SumTest > adds', 'src/test/java/carts/OtherSumTest.java', false],
  ['carts.Sum > adds', 'app/src/test/kotlin/Sums.kt', false],
])('[REQ-MATRIX-1] the class of %s is in %s: %s', (id, path, isIn) => {
  const text = 'package carts\n\nclass SumTest {\n}\n'
  expect(isTestIn({ id, status: 'passed', file: null, message: null }, path, text)).toBe(isIn)
})

it.each([
  ['test_cart.CartTest.test_other', 'tests/test_cart.py', false],
  ['test_cart.Other.test_sum', 'tests/test_cart.py', false],
  ['test_carts.CartTest.test_sum', 'tests/test_cart.py', false],
  ['b.test_cart.CartTest.test_sum', 'tests/a/test_cart.py', false],
  ['cart.CartTest.test_sum', 'tests/test_cart.py', false],
  ['test_cart.CartTest.test_sum', 'tests/test_cart.py', true],
  ['a.test_cart.CartTest.test_sum', 'tests/a/test_cart.py', true],
  ['tests.test_cart.CartTest.test_sum', 'tests/test_cart.py', true],
])('[REQ-RED-3] unittest names %s from the folder where it starts; it is in %s: %s', (id, path, isIn) => {
  const text = 'class CartTest(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(total([]), 0)\n'
  expect(isTestIn({ id, status: 'passed', file: null, message: null }, path, text)).toBe(isIn)
})

it('[REQ-RED-1] the name of a parametrized test means all its cases, and no other test', () => {
  const id = 'tests/test_cart.py::TestCart::test_sum[2-3]'
  for (const pattern of ['test_sum', 'test_sum[2-3]', id, 'tests/test_cart.py::TestCart::test_sum', 'test_s*'])
    expect(matchesTest(pattern, id), pattern).toBe(true)
  for (const pattern of ['test_su', 'test_sum[3-2]', 'sum', 'test_sums'])
    expect(matchesTest(pattern, id), pattern).toBe(false)
})

it.each([
  [
    'tests.test_cart.CartTest.test_sum',
    ['test_*', 'test_sum', 'CartTest.test_sum', 'test_cart.CartTest.test_sum', 'CartTest.*'],
  ],
  ['tests/test_cart.py::CartTest::test_sum', ['test_sum', 'CartTest::test_sum', 'CartTest.test_sum', 'CartTest::*']],
  ['carts.CartTest > sums', ['sums', 'CartTest.sums', 'CartTest#sums', 'CartTest > sums', 'carts.CartTest > sums']],
  [
    'a cart > when empty > costs 1.5',
    ['costs 1.5', 'when empty > costs 1.5', 'when empty costs 1.5', 'a cart when empty *'],
  ],
  ['cart::tests::sums #2', ['sums', 'tests::sums']],
])('[REQ-RED-1] %s is named by its last parts, joined as runners do it', (id, patterns) => {
  for (const pattern of patterns) expect(matchesTest(pattern, id), pattern).toBe(true)
})

it.each([
  [
    'tests.test_cart.CartTest.adds',
    ['test_*', 'test_cart*', 'CartTest', 'OtherTest.adds', 'Test.adds', 'dds', 'CartTest.add'],
  ],
  ['tests/test_cart.py::CartTest::adds', ['CartTest', 'Cart*', 'art::adds']],
  ['a cart > when empty > costs 1.5', ['5', 'a cart', 'empty > costs 1.5', 'a cart > costs 1.5']],
])('[REQ-RED-1] %s is not named by other parts or pieces of them', (id, patterns) => {
  for (const pattern of patterns) expect(matchesTest(pattern, id), pattern).toBe(false)
})

it.each([
  ["for (const [n] of rows) it('reads ' + n, () => assert.ok(n))", true],
  ['for (const [n] of rows) it(`reads $' + '{n}`, () => assert.ok(n))', true],
  ['for (const [n] of rows) it(String(n), () => assert.ok(n))', true],
  ["it('writes 1kb', () => assert.ok(1))", false],
  ['for (const [n] of rows) it(`writes $' + '{n}`, () => assert.ok(n))', false],
])('[REQ-TWINS-22] a failure without a file is in a changed file that could make its name: %s', async (text, isIn) => {
  const changed = {
    read: async () => Buffer.from(text),
    hash: async () => 'x',
    list: async () => [],
  } as unknown as WorkTree
  const failed = { ...run, tests: [{ ...run.tests[0], id: 'reads 1kb' }] } as ObservedRun
  const inputs = { contract, tree: changed, start: null, baseline: null }
  const red = await inspectRedFile(inputs, failed, 'tests/parse.js')
  expect(red.failing).toEqual(isIn ? ['reads 1kb'] : [])
})

it.each([
  ["it('reads 1kb', () => 1)", false],
  ['it(`reads 1$' + '{unit}`, () => 1)', false],
  ['it(`$' + '{unit}`, () => 1)', true],
  ["it('writes 1kb', () => 1) // reads 1kb", true],
])('[REQ-TWINS-22] and in no other that explains it better: %s', async (text, isIn) => {
  const texts: Readonly<Record<string, string>> = {
    'tests/parse.js': "for (const n of rows) it('reads ' + n, () => assert.ok(n))",
    'tests/other.js': text,
  }
  const two = {
    read: async (path: string) => Buffer.from(texts[path] ?? ''),
    hash: async () => 'x',
    list: async () => Object.keys(texts).map((path) => ({ path })),
  } as unknown as WorkTree
  const failed = { ...run, tests: [{ ...run.tests[0], id: 'reads 1kb' }] } as ObservedRun
  const red = await inspectRedFile({ contract, tree: two, start: null, baseline: null }, failed, 'tests/parse.js')
  expect(red.failing).toEqual(isIn ? ['reads 1kb'] : [])
})
