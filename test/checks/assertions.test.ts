import { describe, expect, it } from 'vitest'
import { hasAssertions } from '../../src/checks/test-files/assertions.js'
import { countMarks, findNewMarks } from '../../src/checks/test-files/test-marks.js'
import { depth } from '../depth.js'

const LONG_FILE_CHARS = depth(200_000, 1_000_000)

const HOLLOW: readonly (readonly [path: string, text: string])[] = [
  ['a.test.js', "test('x', () => {})"],
  ['a.test.js', '// expect(add(1)).toBe(2)'],
  ['a.test.js', '/* assert.equal(add(1), 2) */'],
  ['a.test.js', "const text = 'assert.equal(add(1), 2)'"],
  ['a.test.js', 'const text = `\nassert.equal(add(1), 2)\n`'],
  ['a.test.js', 'assert(true)'],
  ['a.test.js', 'assert.ok(true)'],
  ['a.test.js', 'assert.equal(1, 1)'],
  ['a.test.js', 'expect(true).toBe(true)'],
  ['a.test.js', 'expect(1 + 1).toEqual(2)'],
  ['a.test.js', "expect('a').toBe('a')"],
  ['a.test.js', 'expect(() => {}).not.toThrow()'],
  ['a.test.js', 'expect.assertions(1)'],
  ['a.test.js', "import { equal } from 'node:assert'\nequal(1, 1)"],
  ['a.test.js', 'const it = /expect(a)/'],
  ['test_a.py', 'def test_a():\n    assert 1 == 1'],
  ['test_a.py', 'def test_a():\n    assert True'],
  ['test_a.py', 'def test_a():\n    # assert add(1) == 2\n    pass'],
  ['test_a.py', 'def test_a():\n    """\n    assert add(1) == 2\n    """'],
  ['test_a.py', 'class T(TestCase):\n    def test_a(self):\n        self.assertEqual(1, 1)'],
  ['test_a.py', 'assert (1 == 1)'],
  ['a.rs', '#[test]\nfn a() { assert!(true); assert_eq!(1, 1); }'],
  ['a_test.go', 'func TestA(t *testing.T) { add(1, 2) }'],
]

const REAL: readonly (readonly [path: string, text: string])[] = [
  ['a.test.js', 'assert.equal(add(1), 2)'],
  ['a.test.js', 'assert(add(1) === 2)'],
  ['a.test.js', 'expect(add(1)).toBe(2)'],
  ['a.test.js', 'expect(true).toBe(true)\nexpect(add(1)).toBe(2)'],
  ['a.test.js', "import { equal as same } from 'node:assert/strict'\nsame(add(1), 2)"],
  ['a.test.js', "const { strictEqual } = require('assert')\nstrictEqual(add(1), 2)"],
  ['a.test.js', "import is from 'node:assert'\nis.equal(add(1), 2)"],
  ['a.test.js', "await request(app).get('/').expect(200)"],
  ['a.test.js', 'assert.throws(() => add())'],
  ['a.test.js', 't.deepEqual(add(1), [2])'],
  ['a.test.js', 't.assert.equal(add(1), 2)'],
  ['a.test.js', 'add(1).should.equal(2)'],
  ['a.test.js', "it('does not', () => { const a = \"don't\"; expect(a.add(1)).toBe(2) })"],
  ['a.test.js', "const quote = /'/\nexpect(add(1)).toBe(2)"],
  ['test_a.py', 'def test_a():\n    assert add(1) == 2'],
  ['test_a.py', 'def test_a():\n    assert (add(1) == 2)'],
  ['test_a.py', 'with pytest.raises(ValueError):\n    add()'],
  ['test_a.py', 'self.assertEqual(add(1), 2)'],
  ['test_a.py', 'mock.assert_called_once()'],
  ['a.rs', "fn a<'a>() { assert_eq!(add(1), 2); }"],
  ['a_test.go', 'if got := add(1); got != 2 { t.Errorf("no") }'],
  ['a_test.go', 'require.Equal(t, 2, add(1))'],
  ['ATest.java', 'assertEquals(2, add(1));'],
  ['a_test.cc', 'EXPECT_EQ(add(1), 2);'],
]

describe('what a test asserts', () => {
  it.each(HOLLOW)('[REQ-DIFF-2] %s with %j asserts nothing', (path, text) => {
    expect(hasAssertions(path, text)).toBe(false)
  })

  it.each(REAL)('[REQ-DIFF-2] %s with %j asserts something', (path, text) => {
    expect(hasAssertions(path, text)).toBe(true)
  })

  it.each([
    ['imports', 'import '],
    ['modules', "import a from 'assert'\n"],
    ['chains', 'assert.'],
    ['calls', 'assert('],
    ['slashes', '(/ '],
    ['tests', 'test.'],
    ['blanks', ' '],
    ['quotes', '"\n'],
  ])('[REQ-DIFF-2] a long file of nothing but %s is read in seconds', (_name, part) => {
    const text = `it${part.repeat(LONG_FILE_CHARS / part.length)}`
    const start = performance.now()
    hasAssertions('a.test.js', text)
    hasAssertions('test_a.py', text)
    countMarks('a.test.js', text)
    countMarks('test_a.py', text)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})

describe('tests that are left out', () => {
  it.each([
    ['a.test.js', 'it.only("a", f)', 'it.only'],
    ['a.test.js', 'describe.only("a", f)', 'describe.only'],
    ['a.test.js', 'test.concurrent.only("a", f)', 'test.concurrent.only'],
    ['a.test.js', 'test["only"]("a", f)', 'test['],
    ['a.test.js', 'test.todo("a")', 'test.todo'],
    ['a.test.js', 'test.fails("a", f)', 'test.fails'],
    ['a.test.js', 'test("a", { skip: true }, f)', 'skip:'],
    ['a.test.js', 'fit("a", f)', 'fit'],
    ['a.test.js', 'xdescribe("a", f)', 'xdescribe'],
    ['a.test.js', 't.skip()', 't.skip'],
    ['test_a.py', '@pytest.mark.skip\ndef test_a(): pass', 'pytest.mark.skip'],
    ['test_a.py', '@pytest.mark.skipif(True, reason="x")', 'pytest.mark.skipif'],
    ['test_a.py', '@pytest.mark.xfail', 'pytest.mark.xfail'],
    ['test_a.py', '@unittest.skip("x")', '@unittest.skip'],
    ['test_a.py', 'self.skipTest("x")', 'skipTest'],
    ['a.rs', '#[ignore]', '#[ignore'],
    ['a_test.go', 't.Skip("x")', 't.Skip'],
  ])('[REQ-DIFF-5] %s with %j is told as %s, and only when it came', (path, text, mark) => {
    const marks = { [path]: countMarks(path, text) }
    expect(findNewMarks({}, marks)).toContain(`${path} (${mark})`)
    expect(findNewMarks({ [path]: {} }, marks)).toContain(`${path} (${mark})`)
    expect(findNewMarks(marks, marks)).toEqual([])
  })

  it('[REQ-DIFF-5] words in comments and texts, and names that only look alike, leave nothing out', () => {
    expect(
      countMarks('a.test.js', "// it.only\nconst a = 'test.skip('; await page.fit(); list.only(); reader.skip(3)"),
    ).toEqual({})
    expect(countMarks('test_a.py', '# pytest.mark.skip\na = "unittest.skip(x)"\nreader.skip_lines(2)')).toEqual({})
  })
})
