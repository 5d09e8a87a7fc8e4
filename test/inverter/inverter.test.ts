import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { invertTests } from '../../src/inverter/invert-tests.js'
import type { Inversion, RewrittenFile } from '../../src/inverter/types.js'
import { depth } from '../depth.js'
import { type Fixture, type FixtureSuite, nameFixture, writeSuite } from './fixture.js'
import * as javascript from './javascript-fixtures.js'
import * as others from './other-fixtures.js'

const SUITES: readonly FixtureSuite[] = [...Object.values(javascript), ...Object.values(others)]

async function rewrite(path: string, text: string, seed = 'seed'): Promise<RewrittenFile> {
  const inversion = await invertTests({ path, text, seed })
  if (inversion.outcome !== 'rewritten') throw new Error(`${inversion.reason}: ${text}`)
  return inversion
}

function countLines(text: string): number {
  return text.split('\n').length
}

describe.each(SUITES.map((suite) => [suite.name, suite] as const))('%s', (_, suite) => {
  it.each(suite.fixtures.map((fixture) => [fixture[0], fixture] as const))(
    '[REQ-INVERT-1] %s',
    async (code, fixture) => {
      const inversion = await invertTests({ path: suite.path, text: writeSuite(suite, [fixture]), seed: 'seed' })
      const [, assertion, expected] = fixture
      const all = [...inversion.turnedAssertions, ...inversion.leftAlone]
      if (assertion === null) {
        expect(inversion.outcome === 'not_judged' && inversion.reason).toBe('no_known_assertion')
        expect(all).toEqual([])
        return
      }
      expect(all[0]).toMatchObject({
        assertion,
        ...(typeof expected === 'string' ? { rule: expected } : { reason: expected?.left }),
      })
      expect(all[0]?.test).toMatch(new RegExp(`${nameFixture(0)}$`))
      expect(writeSuite(suite, [fixture]).split('\n')[(all[0]?.line ?? 0) - 1], code).toContain(
        firstLine(fixture, all[0]?.assertion ?? ''),
      )
      if (suite.library !== '' && assertion !== 'if throw') expect(inversion.libraries).toContain(suite.library)
    },
  )

  it('[REQ-INVERT-2] both texts have the lines of the original, and only the lines of assertions differ', async () => {
    const text = writeSuite(suite)
    const { unturned, turned, turnedAssertions } = await rewrite(suite.path, text)
    const before = text.split('\n')
    for (const twin of [unturned, turned]) {
      const after = twin.split('\n')
      expect(countLines(twin)).toBe(countLines(text))
      const changed = before.filter((line, index) => line !== after[index])
      expect(changed.length).toBeLessThan(turnedAssertions.length * 4 + 2)
      for (const { line } of turnedAssertions) expect(before.length).toBeGreaterThanOrEqual(line)
    }
  })

  it('[REQ-INVERT-3] the same seed gives the same twins, another seed other ones', async () => {
    const text = writeSuite(suite)
    const first = await rewrite(suite.path, text)
    expect(await rewrite(suite.path, text)).toEqual(first)
    expect((await rewrite(suite.path, text, 'another')).turned).not.toBe(first.turned)
  })
})

function firstLine([code]: Fixture, assertion: string): string {
  const lines = code.split('\n')
  return lines.find((line) => line.includes(assertion)) === undefined ? '' : (lines[0] ?? '').slice(0, 0)
}

describe('twins', () => {
  const twinSuites = SUITES.filter(({ path }) => !/\.(go|rs)$/.test(path))
  it.each(twinSuites.map((suite) => [suite.name, suite] as const))(
    '[REQ-INVERT-3] the twins of %s are the same but for random names and one number',
    async (_, suite) => {
      const { unturned, turned, areTwins } = await rewrite(suite.path, writeSuite(suite))
      expect(areTwins).toBe(true)
      expect(unturned).not.toBe(turned)
      expect(withoutNames(unturned)).toBe(withoutNames(turned))
    },
  )

  it.each([
    [
      'test/sum.test.mjs',
      "import assert from 'node:assert/strict'\ntest('adds', () => {\n  const name = 'Ada'\n  assert.deepEqual(sum(4711, 0.125), [4722, name, { left: 'Grace' }])\n})\n",
    ],
    ['test/sum.test.ts', "test('adds', () => { expect(sum(4711, 0.125)).toEqual([4722, { left: 'Grace' }]) })\n"],
    ['test_sum.py', "def test_adds():\n    name = 'Ada'\n    assert total(4711, 0.125) == [4722, name, 'Grace']\n"],
  ])('[REQ-INVERT-10] what %s expects stands in neither twin', async (path, text) => {
    const { unturned, turned } = await rewrite(path, text)
    for (const twin of [unturned, turned]) expect(twin).not.toMatch(/4711|4722|0\.125|Ada|Grace/)
    expect(unturned).toContain('adds')
  })

  it('[REQ-INVERT-10] names of tests and modules, keys, types and functions that may be sent elsewhere stay as they are', async () => {
    const lines = [
      "vi.mock('./clock.js')",
      "test('adds', async () => {",
      "  const { sum } = await import('./sum.js')",
      "  const kind = 'round' as const",
      "  await page.evaluate(() => send('text'))",
      "  expect(sum({ 'left': 1 })).toBe(2)",
      '})',
    ]
    const { unturned } = await rewrite('test/sum.test.ts', `${lines.join('\n')}\n`)
    for (const text of ["'./clock.js'", "'adds'", "'./sum.js'", "'round'", "'text'", "'left'"])
      expect(unturned).toContain(text)
  })

  it('[REQ-INVERT-3] which twin is the turned one does not follow from the order of the constants', async () => {
    const { path } = javascript.NODE_SUITE
    const larger = await Promise.all(
      Array.from({ length: 40 }, async (__, index) => {
        const { unturned, turned } = await rewrite(
          path,
          writeSuite(javascript.NODE_SUITE, javascript.NODE_SUITE.fixtures.slice(0, 4)),
          `seed ${index}`,
        )
        return constantOf(turned) > constantOf(unturned)
      }),
    )
    const count = larger.filter(Boolean).length
    expect(count).toBeGreaterThan(8)
    expect(count).toBeLessThan(32)
  })
})

const CONSTANT = /(_[a-z]{7})(?:: any)? = (\d+); for \(/

function constantOf(text: string): number {
  return Number(CONSTANT.exec(text)?.[2])
}

function withoutNames(text: string): string {
  const names = new Map<string, string>()
  return text
    .replace(/_[a-z]{7}\b/g, (name) => {
      if (!names.has(name)) names.set(name, `name${names.size}`)
      return names.get(name) ?? ''
    })
    .replace(/(name\d+(?:: any)? = )\d+(; for \(|\\n)/, '$1constant$2')
}

describe('what is not judged', () => {
  const reasonOf = (inversion: Inversion): string =>
    inversion.outcome === 'not_judged' ? inversion.reason : 'rewritten'
  const judge = async (path: string, text: string): Promise<Inversion> => invertTests({ path, text, seed: 'seed' })

  it('[REQ-INVERT-4] an unknown language, a large file, nesting without end, text that is not a code', async () => {
    expect(reasonOf(await judge('a.test.rb', 'assert_equal 1, 1'))).toBe('unknown_language')
    expect(reasonOf(await judge('a.test.js', ' '.repeat(1_000_001)))).toBe('too_large')
    expect(reasonOf(await judge('a.test.js', `${'['.repeat(5000)}1${']'.repeat(5000)}`))).toBe('too_deep')
    expect(reasonOf(await judge('a.test.js', '}}}} %% ((('))).toMatch(/not_parsed|no_known_assertion/)
    expect(reasonOf(await judge('a.test.js', ''))).toBe('no_known_assertion')
  })

  it.each([
    ['a.test.js', "import should from 'unexpected'\nshould(1, 'to be', 1)", 'unexpected'],
    ['a.test.js', "expect = require('expect.js')\nit('a', () => { expect(1).to.be(1) })", 'expect.js'],
    ['test_a.py', 'from numpy.testing import assert_allclose\ndef test_a(): assert_allclose(1, 1)', 'numpy.testing'],
    [
      'a_test.go',
      'package a\nimport "github.com/matryer/is"\nfunc TestA(t *testing.T) { is.New(t).Equal(1, 1) }',
      'github.com/matryer/is',
    ],
    ['tests/a.rs', '#[test]\nfn a() { insta::assert_snapshot!(1); }', 'insta'],
  ])('[REQ-INVERT-4] %s with an assertion library without rules names it', async (path, text, library) => {
    const inversion = await judge(path, text)
    expect(reasonOf(inversion)).toBe('no_known_assertion')
    expect(inversion.libraries).toContain(library)
  })

  it('[REQ-INVERT-4] code that is tested is left alone, in Rust too, where it shares a file with tests', async () => {
    const text =
      'fn f(a: i32) { assert!(a > 1); }\n#[cfg(test)]\nmod tests {\n  #[test]\n  fn g() { assert!(ok()); }\n}\n'
    const { turned, turnedAssertions } = await rewrite('src/lib.rs', text)
    expect(turned.split('\n')[0]).toBe('fn f(a: i32) { assert!(a > 1); }')
    expect(turnedAssertions.map(({ test, line }) => [test, line])).toEqual([['tests::g', 5]])
  })

  it('[REQ-INVERT-4] assertions inside of a syntax error are left alone', async () => {
    const text = "import assert from 'assert'\nassert.equal(1, 1)\nfoo( assert.equal(2, 2) %%% @\n"
    const inversion = await judge('a.test.js', text)
    expect(inversion.turnedAssertions.map(({ line }) => line)).not.toContain(3)
  })
})

describe('tests of a file', () => {
  it('[REQ-INVERT-5] names tests with their suites, and the helpers through which they assert', async () => {
    const text = `import { expect, it, describe } from 'vitest'
function check(n) { expect(n).toBe(1) }
describe('outer', () => {
  it('direct', () => { expect(one).toBe(1); expect(two).toBe(2) })
  it('through a helper', () => { check(1) })
  it('nothing', () => {})
})
`
    const { tests } = await rewrite('a.test.ts', text)
    expect(tests.map(({ digest, ...test }) => ({ ...test, hasDigest: /^[0-9a-f]{64}$/.test(digest) }))).toEqual([
      { name: 'outer > direct', line: 4, hasDigest: true, turned: 2, leftAlone: 0, helpers: [] },
      { name: 'outer > through a helper', line: 5, hasDigest: true, turned: 0, leftAlone: 0, helpers: ['check'] },
      { name: 'outer > nothing', line: 6, hasDigest: true, turned: 0, leftAlone: 0, helpers: [] },
    ])
  })

  it('[REQ-INVERT-5] a chain that begins with supertest makes no test, and functions of the project make tests by name', async () => {
    const { tests } = await rewrite(
      'a.spec.js',
      `import assert from 'node:assert'
import supertest from 'supertest'
it('answers', function (done) {
  supertest(app).get('/').end(function (error, response) {
    assert.equal(response.status, 200)
    done()
  })
})
it('serves', (done) => {
  supertest((request, response) => response.end(String(assert.equal(request.url, '/')))).get('/').end(done)
})
dbTest('stores', () => { assert.equal(count(), 1) })
it.each([1, 2])('each %d', (n) => { assert.equal(twice(n), n + n) })
`,
    )
    expect(tests.map(({ name, turned }) => [name, turned])).toEqual([
      ['answers', 1],
      ['serves', 1],
      ['stores', 1],
      ['each %d', 1],
    ])
  })

  it('[REQ-INVERT-5] a test has another digest when its text or a decorator changes, and not for what stands beside it', async () => {
    const body = 'def test_a():\n    assert one == 1\n'
    const digest = async (text: string) => (await rewrite('test_a.py', text)).tests[0]?.digest
    const first = await digest(body)
    expect(await digest(`import sys\n\n${body}\nclass TestB:\n    def test_b(self):\n        assert two == 2\n`)).toBe(
      first,
    )
    expect(await digest(body.replace('== 1', '== 2'))).not.toBe(first)
    expect(await digest(`@skip\n${body}`)).not.toBe(first)
    const go = async (text: string) => (await rewrite('a_test.go', `package a\n${text}`)).tests[0]?.digest
    const own = 'func TestA(t *testing.T) {\n\tif one != 1 {\n\t\tt.Error()\n\t}\n}\n'
    expect(await go(`${own}func TestB(t *testing.T) {}\n`)).toBe(await go(own))
  })

  it('[REQ-INVERT-5] names tests of Python, Go and Rust as their runners do', async () => {
    const python = await rewrite('test_a.py', 'class TestA:\n    def test_b(self):\n        assert one == 1\n')
    expect(python.tests.map(({ name }) => name)).toEqual(['TestA::test_b'])
    const rust = await rewrite('src/lib.rs', '#[cfg(test)]\nmod tests {\n#[test]\nfn a() { assert!(ok()); }\n}\n')
    expect(rust.tests.map(({ name }) => name)).toEqual(['tests::a'])
  })

  it('[REQ-INVERT-5] outerOnly turns only assertions in the function of the test itself, and those behind which it goes on', async () => {
    const step = 'run(() => { expect(three).toBe(3) })'
    const both = await invertTests({
      path: 'a.test.js',
      text: `test('a', () => { ${step} })`,
      seed: 's',
      outerOnly: true,
    })
    expect(both.turnedAssertions).toHaveLength(1)
    const text = "test('a', () => { expect(one).toBe(1); run(() => expect(two).resolves.toBe(2)) })\n"
    const inversion = await invertTests({ path: 'a.test.js', text, seed: 's', outerOnly: true })
    expect(inversion.turnedAssertions).toHaveLength(1)
    expect(inversion.leftAlone.map(({ reason }) => reason)).toEqual(['nested'])
  })
})

describe('any text', () => {
  it('[REQ-INVERT-4] is answered within the bounds and never throws', async () => {
    const paths = ['a.test.js', 'a.test.ts', 'a.test.tsx', 'test_a.py', 'a_test.go', 'tests/a.rs']
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'expect(',
        ').toBe(',
        ')',
        'assert ',
        '==',
        '{',
        '}',
        "'",
        '`${',
        '\n',
        '  ',
        'assert!(',
        'if a != b { t.Error() }',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.array(piece, { maxLength: 30 }), async (path, pieces) => {
        const text = pieces.join('')
        const inversion = await invertTests({ path, text, seed: 's' })
        if (inversion.outcome === 'rewritten')
          expect(countLines(inversion.turned)).toBeGreaterThanOrEqual(countLines(text))
      }),
      { numRuns: depth(80, 300) },
    )
  })
})
