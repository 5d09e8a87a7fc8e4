import { describe, expect, it } from 'vitest'
import { invertTests } from '../../src/inverter/invert-tests.js'
import { type Runner, runFile } from './run-suite.js'
import { has, PYTEST, UNITTEST, VITEST } from './runners.js'

/** Tests in which a part of what is compared lies, and honest ones of the same kind. */
interface Lies {
  readonly head: string
  readonly write: (name: string, body: string) => string
  readonly lies: readonly string[]
  readonly sound: readonly string[]
}
const SEEDS = ['one', 'two', 'three']

async function expectFound(runner: Runner, { head, write, lies, sound }: Lies, seed: string): Promise<void> {
  const bodies = [...lies, ...sound]
  const text = `${head}${bodies.map((body, index) => write(`case_${index}`, body)).join('')}`
  const inversion = await invertTests({ path: runner.suite.path, text, seed })
  if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
  expect(inversion.leftAlone).toEqual([])
  const run = (twin: string): readonly (readonly [string, string])[] => {
    const outcomes = runFile(runner, twin)
    return bodies.map((body, index) => [body, outcomes.get(`case_${index}`)?.status ?? 'missing'])
  }
  expect(run(inversion.unturned)).toEqual(bodies.map((body) => [body, 'passed']))
  expect(run(inversion.turned)).toEqual([...lies.map((one) => [one, 'passed']), ...sound.map((one) => [one, 'failed'])])
}

const WITH_VITEST: Lies = {
  head: `import { expect, it, vi } from 'vitest'
const like = (holds) => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: holds, toString: () => 'any' })
const any = like(() => true)
const trap = new Proxy({ id: 1, total: any }, { getOwnPropertyDescriptor() { throw new Error('no') } })
const give = (value) => value
const call = (...given) => { const done = vi.fn(); done(...given); return done }
`,
  write: (name, body) => `it('${name}', () => { ${body} })\n`,
  lies: [
    "expect({ id: 1, name: 'Ada', tags: ['a'], total: any }).toEqual({ id: 1, name: 'Ada', tags: ['a'], total: 19.99 })",
    'expect({ id: 1, list: [1, { deep: any }, 3] }).toEqual({ id: 1, list: [1, { deep: 2 }, 3] })',
    'expect([1, 2, 3, any, 5]).toEqual([1, 2, 3, 4, 5])',
    "expect({ id: 1, name: 'Ada', total: any }).toMatchObject({ id: 1, name: 'Ada', total: 19.99 })",
    'const wanted = { id: 1, b: 2, total: 19.99 }; expect({ id: 1, b: 2, total: any }).toStrictEqual(wanted)',
    "expect(call(null, 'a', any)).toHaveBeenCalledWith(null, 'a', 'Ada')",
    "expect(call('x', { id: 1, total: any })).toHaveBeenNthCalledWith(1, 'x', { id: 1, total: 2 })",
    "expect(like((other) => /^\\d{4}-\\d\\d-\\d\\d$/.test(other))).toEqual('2024-01-15')",
    "expect(like((other) => /^[0-9a-f]{8}$/.test(other))).toEqual('00dead00')",
    "expect(like((other) => Object.keys(other).join() === 'id,name')).toEqual({ id: 1, name: 'Ada' })",
    'expect(like((other) => other.length === 2)).toEqual([1, 2])',
    'class Money { #n; constructor(n) { this.#n = n } }; expect(new Money(5)).toEqual(new Money(4))',
  ],
  sound: [
    "expect({ id: 1, name: 'Ada', total: 19.99 }).toEqual({ id: 1, name: expect.any(String), total: 19.99 })",
    'class User { get name() { return this.first } first = "Ada" }; expect(new User()).toMatchObject({ name: "Ada" })',
    'class None {}; expect(new None()).toStrictEqual(new None())',
    'expect(new Map([[1, 2]])).toEqual(new Map([[1, 2]]))',
    "expect(new URL('http://a/')).toEqual(new URL('http://a/'))",
    'expect(new Proxy({ id: 1, total: 2 }, {})).toEqual({ id: 1, total: 2 })',
    "const done = call('a'); done('b'); done('c'); expect(done).toHaveBeenCalledWith('a')",
    'const done = call(1); done(2); done(3); expect(done).toHaveBeenCalledWith(2)',
    'const done = call(); expect(done).toHaveBeenCalledWith()',
    "expect(call('a', { id: 1 })).toHaveBeenCalledWith('a', expect.objectContaining({ id: 1 }))",
    'expect([undefined, null, NaN]).toEqual([undefined, null, NaN])',
    "expect(give('--- ---')).toEqual('--- ---')",
  ],
}

const ANY = 'class Any:\n    def __eq__(self, other):\n        return True\n\n'
const PYTHON_HEAD = `from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum
import re

${ANY}
class Sub(float):
    def __eq__(self, other):
        return True

class Dated(str):
    def __eq__(self, other):
        return bool(re.fullmatch(r'\\d{4}-\\d\\d-\\d\\d', other))

class Money:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return isinstance(other, Money)

class Above:
    def __gt__(self, other):
        return isinstance(other, int)

Pair = namedtuple('Pair', 'one two')

@dataclass(frozen=True)
class Cash:
    n: int
    note: str = field(default='x', compare=False)

class Keyed:
    def __init__(self, id, name):
        self.id, self.name = id, name
    def __eq__(self, other):
        return isinstance(other, Keyed) and self.id == other.id

class Color(Enum):
    RED = 1

def give(value):
    return value

`
const inPytest = (name: string, body: string): string => `def test_${name}():\n    ${body}\n\n`
const WITH_PYTEST: Lies = {
  head: PYTHON_HEAD,
  write: inPytest,
  lies: [
    "assert {'id': 1, 'name': 'Ada', 'total': Any()} == {'id': 1, 'name': 'Ada', 'total': 19.99}",
    "assert {'id': 1, 'name': 'Ada', 'total': Sub(5)} == {'id': 1, 'name': 'Ada', 'total': 19.99}",
    'assert [1, 2, (3, Any()), 5] == [1, 2, (3, 4), 5]',
    "assert Dated('x') == '2024-01-15'",
    'assert Money(5) == Money(4)',
    "assert {'a': 1, 'b': Money(5)} == {'a': 1, 'b': Money(4)} and Money(1) == Money(2)",
    'assert Pair(1, Any()) == Pair(1, 2) and Any() == Pair(1, 2)',
    'assert Above() > 3',
  ],
  sound: [
    'assert Cash(4) == Cash(4)',
    'assert Keyed(1, 2) == Keyed(1, 3)',
    'assert Pair(1, 2) == Pair(1, 2)',
    'assert Color(1) == Color.RED',
    "assert {'a': [Cash(4)], 'b': None} == {'a': [Cash(4)], 'b': None}",
    "assert give('q') == 'q' and give(b'abc') == b'abc' and give('--') == '--' and give('') == ''",
    'from decimal import Decimal; assert Decimal(5) > 3',
    'assert [1, True, 1.0] == [True, 1, 1]',
    "assert f'{[1, 2][0]}-{1 + 1}' == '1-2'",
  ],
}
const WITH_UNITTEST: Lies = {
  head: `import unittest\n${PYTHON_HEAD}class Tests(unittest.TestCase):\n`,
  write: (name, body) => `    def test_${name}(self):\n        ${body}\n\n`,
  lies: [
    "self.assertEqual({'id': 1, 'name': 'Ada', 'total': Any()}, {'id': 1, 'name': 'Ada', 'total': 19.99})",
    'self.assertListEqual([1, 2, Any()], [1, 2, 4])',
    'self.assertEqual(Money(5), Money(4))',
  ],
  sound: ['self.assertEqual([1, {"a": 2}], [1, {"a": 2}])', 'self.assertEqual(Cash(4), Cash(4))'],
}

describe('a part that lies in an expected value', () => {
  const runners: readonly (readonly [string, Runner, Lies, boolean])[] = [
    ['vitest', VITEST, WITH_VITEST, true],
    ['pytest', PYTEST, WITH_PYTEST, has('python3', '-m', 'pytest', '--version')],
    ['unittest', UNITTEST, WITH_UNITTEST, has('python3', '--version')],
  ]
  for (const [name, runner, lies, isThere] of runners)
    it.skipIf(!isThere).each(SEEDS)(
      `[REQ-INVERT-11] with ${name} survives whatever is chosen at random, and honest tests fail (seed %s)`,
      (seed) => expectFound(runner, lies, seed),
      120_000,
    )
})

describe('a result that equals a range of numbers', () => {
  const bodies = ['expect(like((other) => other < 2)).toEqual(1)', 'expect(like((other) => other > 0)).toEqual(1)']
  const text = `${WITH_VITEST.head}${bodies.map((body, index) => WITH_VITEST.write(`case_${index}`, body)).join('')}`
  it.each([
    [true, ['passed', 'failed']],
    [false, ['failed', 'passed']],
  ])('[REQ-INVERT-12] survives in one of two rounds (numbers become smaller: %s)', async (goesDown, expected) => {
    const inversion = await invertTests({ path: VITEST.suite.path, text, seed: 'range', goesDown })
    if (inversion.outcome !== 'rewritten') throw new Error(inversion.reason)
    const outcomes = runFile(VITEST, inversion.turned)
    expect(bodies.map((_, index) => outcomes.get(`case_${index}`)?.status)).toEqual(expected)
  })
})
