import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasAssertions } from '../../src/checks/test-files/assertions.js'
import { openHelperFiles } from '../../src/checks/test-files/helper-files.js'
import { countMarks, findNewMarks } from '../../src/checks/test-files/test-marks.js'
import { openWorkTree } from '../../src/tree/work-tree.js'
import { contractOf, phase } from '../core/world.js'
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
  // No assertion at all, in each language.
  ['a_test.go', 'func TestA(t *testing.T) {}'],
  ['a_test.go', 'func TestA(t *testing.T) { t.Log(add(1, 2)) }'],
  ['a_test.go', 'func TestA(t *testing.T) { if add(1, 2) != 3 { t.Log("no") } }'],
  ['a_test.go', 'func TestA(t *testing.T) { if false { t.Fatal("no") }; add(1, 2) }'],
  ['a_test.go', 'func TestA(t *testing.T) { if t == nil { t.Fatal("no") }; add(1, 2) }'],
  ['a_test.go', 'func TestA(t *testing.T) { add(1, 2); // if add(1, 2) != 3 { t.Fatal() }\n}'],
  ['a_test.go', 'func TestA(t *testing.T) { s := `if add(1, 2) != 3 { t.Fatal() }`; _ = s }'],
  ['a_test.go', 'func TestA(t *testing.T) { check(t, add(1, 2)) }\nfunc check(t *testing.T, got int) { t.Log(got) }'],
  ['a_test.go', 'func TestA(t *testing.T) { newServer(t).Add(1, 2) }'],
  ['a_test.go', 'func TestA(t *testing.T) { require.Equal(t, 1, 1) }'],
  ['a_test.go', 'func TestA(t *testing.T) { switch { default: t.Log(add(1, 2)) } }'],
  ['a_test.go', 'func ExampleAdd() { fmt.Println(add(1, 2)) }'],
  ['test_a.py', 'def test_a(): pass'],
  ['test_a.py', 'def test_a(): add(1)'],
  ['test_a.py', 'def test_a(): print(add(1))'],
  ['test_a.py', 'def test_a(): assert True'],
  ['test_a.py', 'def test_a():\n    if add(1) != 2:\n        print("no")'],
  ['test_a.py', 'def test_a():\n    if False:\n        raise AssertionError'],
  ['test_a.py', 'def test_a():\n    text = "assert add(1) == 2"\n    add(text)'],
  ['test_a.py', 'def check(got):\n    print(got)\n\ndef test_a():\n    check(add(1))'],
  ['test_a.py', 'def assert_two(got):\n    print(got)\n\ndef test_a():\n    assert_two(add(1))'],
  ['test_a.py', 'def unused(got):\n    if got != 2:\n        raise AssertionError\n\ndef test_a():\n    add(1)'],
  ['tests/a.rs', '#[test]\nfn a() {}'],
  ['tests/a.rs', '#[test]\nfn a() { add(1); }'],
  ['tests/a.rs', '#[test]\nfn a() { assert_eq!(vec![1], vec![1]); add(1); }'],
  ['tests/a.rs', '#[test]\nfn a() { println!("{}", add(1)); }'],
  ['tests/a.rs', '#[test]\nfn a() { if add(1) != 2 { println!("no") } }'],
  ['tests/a.rs', '#[test]\nfn a() { if false { panic!() } add(1); }'],
  ['tests/a.rs', '#[test]\nfn a() { /* assert_eq!(add(1), 2) */ let s = "assert_eq!(add(1), 2)"; add(s); }'],
  ['tests/a.rs', 'fn check(got: i32) { println!("{got}") }\n#[test]\nfn a() { check(add(1)); }'],
  [
    'src/lib.rs',
    'pub fn add(a: i32) -> i32 { assert!(a > 0); a + 1 }\n#[cfg(test)]\nmod tests { #[test]\nfn a() { add(1); } }',
  ],
  ['a.test.js', "test('x', () => { add(1) })"],
  ['a.test.js', "test('x', () => { add(expect.objectContaining({ a })) })"],
  ['a.test.js', "test('x', () => { console.log(add(1)) })"],
  ['a.test.js', "test('x', () => { if (add(1) !== 2) console.log('no') })"],
  ['a.test.js', "test('x', () => { if (false) throw new Error(); add(1) })"],
  ['a.test.js', "test('x', () => { add(() => { throw new Error() }) })"],
  ['a.test.js', "function check(got) { console.log(got) }\ntest('x', () => { check(add(1)) })"],
  ['a.test.js', "function assertTwo(got) { console.log(got) }\ntest('x', () => { assertTwo(add(1)) })"],
  ['a.test.js', "function unused(got) { if (got !== 2) throw new Error() }\ntest('x', () => { add(1) })"],
  ['a.test.ts', "test('x', () => { const got: number = add(1); void got })"],
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
  // What people write in each language.
  ['a_test.go', 'func TestMean(t *testing.T) { if got := Mean([]int{1, 2, 6}); got != 3 { t.Errorf("got %d", got) } }'],
  ['a_test.go', 'func TestA(t *testing.T) { if !reflect.DeepEqual(got(), []int{2}) { t.Error("no") } }'],
  ['a_test.go', 'func TestA(t *testing.T) { if err := f(); err != nil { if x := g(); x { h(x) }\n t.Fatal(err) } }'],
  ['a_test.go', 'func TestA(t *testing.T) { t.Run("a", func(tt *testing.T) { if f() != 1 { tt.Fatal("no") } }) }'],
  ['a_test.go', 'func check(tb testing.TB, got int) { tb.Helper(); if got != 1 { tb.Fatal(got) } }'],
  ['a_test.go', 'func TestA(t *testing.T) { switch got := f().(type) { case int: default: t.Fatal(got) } }'],
  ['a_test.go', 'func TestA(t *testing.T) { switch f() { case 1: default: t.Fatal("no") } }'],
  ['a_test.go', 'func TestA(t *testing.T) { select { case <-done(): case <-time.After(9): t.Fatal("late") } }'],
  ['a_test.go', 'func TestA(t *testing.T) { for _, x := range f() { if x == 1 { return } }\n t.Fatal("none") }'],
  ['a_test.go', 'func TestA(t *testing.T) { serve(func() { t.Error("was called") }) }'],
  ['a_test.go', 'func TestA(t *testing.T) { check(t.Errorf, f()) }'],
  ['a_test.go', 'func TestA(t *testing.T) { testhelp.Get(t, "/a").HasStatus(200) }'],
  ['a_test.go', 'import . "example.org/check"\nfunc Test(t *testing.T) { TestingT(t) }'],
  ['a_test.go', 'func (s *S) TestA(c *C) { c.Assert(f(), Equals, 1) }'],
  ['a_test.go', 'func ExampleAdd() {\n\tfmt.Println(Add(1, 2))\n\t// Output: 3\n}'],
  ['a_test.go', 'func ExampleAdd() {\n\tfmt.Println(Add(1, 2))\n\t// Unordered output:\n\t// 3\n}'],
  ['test_a.py', 'def test_a(): assert f() == 1'],
  ['test_a.py', 'def test_a():\n    for x in f(): assert x == 1'],
  ['test_a.py', 'def test_a():\n    x = f(); assert x'],
  ['test_a.py', 'def test_a():\n    if f() != 1: raise AssertionError("no")'],
  [
    'test_a.py',
    'def test_a():\n    try:\n        f()\n    except ValueError:\n        pass\n    else:\n        pytest.fail("no")',
  ],
  ['test_a.py', 'def test_a():\n    try:\n        f()\n        assert False\n    except ValueError:\n        pass'],
  ['test_a.py', 'def test_a():\n    np.testing.assert_allclose(f(), [1, 2])'],
  ['test_a.py', 'def check(got):\n    if got != 1:\n        raise ValueError\n\ndef test_a():\n    check(f())'],
  ['tests/a.rs', '#[test]\nfn a() { if add(1) != 2 { panic!("no") } }'],
  ['tests/a.rs', '#[test]\nfn a() { if add(1) != 2 { let x = 1; panic!("no {x}") } }'],
  ['tests/a.rs', '#[test]\nfn a() { match add(1) { 2 => {} other => panic!("{other}") } }'],
  ['tests/a.rs', '#[test]\nfn a() { let Some(_) = find(1) else { panic!("none") }; }'],
  ['tests/a.rs', '#[test]\nfn a() { let vec = add(1); assert_eq!(vec, vec![2]); }'],
  ['tests/a.rs', 'fn assert_send<T: Send>() {}\n#[test]\nfn a() { assert_send::<Sum>(); }'],
  ['tests/a.rs', '#[test]\n#[should_panic]\nfn a() { add(1); }'],
  ['tests/a.rs', '#[test]\nfn a() { parse("x").unwrap_err(); }'],
  ['tests/a.rs', 'proptest! { #[test]\nfn a(x in 0..9) { prop_assert_eq!(add(x), x + 1); } }'],
  ['tests/a.rs', '#[test]\nfn ui() { let t = trybuild::TestCases::new(); t.compile_fail("tests/ui/*.rs"); }'],
  ['a.test.js', "test('x', () => { if (add(1) !== 2) throw new Error('no') })"],
  ['a.test.js', "test('x', () => { if (add(1) !== 2) { const e = 1; throw new Error(e) } })"],
  ['a.test.js', "test('x', () => { switch (add(1)) { case 2: break; default: throw new Error('no') } })"],
  ['a.test.js', "function check(got) { if (got !== 2) throw new Error('no') }\ntest('x', () => { check(add(1)) })"],
  ['a.test.js', "test('x', () => { try { add(1) } catch (e) { return }\n assert.fail() })"],
  ['a.test.js', "test('x', (t) => { const p = plan(t); p.equal(add(1), 2) })"],
  ['a.test.js', 'expect(2).toBe(add(1))'],
  [
    'a.test.js',
    "new RuleTester().run('rule', rule, {})\nconst ruleTester = new RuleTester()\nruleTester.run('rule', rule, {})",
  ],
  ['a.test.ts', "test('x', async () => { await page.waitForSelector('text=a') })"],
  ['a.test.ts', "test('x', () => { expectTypeOf(add(1)).toEqualTypeOf<number>() })"],
  ['a.test.tsx', "test('x', () => { expect(render(<A />)).toMatchSnapshot() })"],
  ['ATest.java', 'assertEquals(2, add(1));'],
  ['a_test.cc', 'EXPECT_EQ(add(1), 2);'],
]

describe('what a test asserts', () => {
  it.each(HOLLOW)('[REQ-DIFF-2] %s with %j asserts nothing', async (path, text) => {
    expect(await hasAssertions(path, text)).toBe(false)
  })

  it.each(REAL)('[REQ-DIFF-2] %s with %j asserts something', async (path, text) => {
    expect(await hasAssertions(path, text)).toBe(true)
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
  ])('[REQ-DIFF-2] a long file of nothing but %s is read in seconds', async (_name, part) => {
    const text = `it${part.repeat(LONG_FILE_CHARS / part.length)}`
    const start = performance.now()
    await hasAssertions('a.test.js', text)
    await hasAssertions('test_a.py', text)
    countMarks('a.test.js', text)
    countMarks('test_a.py', text)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})

const CHECK = 'func checkTwo(t *testing.T, got int) {\n\tif got != 2 {\n\t\tt.Fatal(got)\n\t}\n}\n'
const PYTHON_CHECK = 'def check_two(got):\n    if got != 2:\n        raise AssertionError(got)\n'
const SCRIPT_CHECK = "export function checkTwo(got) { if (got !== 2) throw new Error('no') }\n"
const RUST_CHECK = 'pub fn check_two(got: i32) { assert_eq!(got, 2); }\n'
const HELPERS = [
  ['pkg/a_test.go', 'func TestA(t *testing.T) { checkTwo(t, add(1)) }', 'pkg/help_test.go', CHECK],
  ['tests/test_a.py', 'from .help import check_two\n\ndef test_a(): check_two(add(1))', 'tests/help.py', PYTHON_CHECK],
  ['tests/test_a.py', 'from tests import help\n\ndef test_a(): help.check_two(add(1))', 'tests/help.py', PYTHON_CHECK],
  [
    'tests/a.test.js',
    "import { checkTwo } from './help.js'\nit('a', () => checkTwo(add(1)))",
    'tests/help.js',
    SCRIPT_CHECK,
  ],
  [
    'tests/a.test.ts',
    "import * as help from './help'\nit('a', () => help.checkTwo(add(1)))",
    'tests/help.ts',
    SCRIPT_CHECK,
  ],
  ['tests/a.rs', 'mod help;\n#[test]\nfn a() { help::check_two(add(1)); }', 'tests/help.rs', RUST_CHECK],
] as const

/** A helper of the same name that never fails, in each language. */
const NEVER_FAILS: Readonly<Record<string, string>> = {
  go: `${CHECK.replace('checkTwo', 'checkThree')}func checkTwo(t *testing.T, got int) { t.Log(got) }\n`,
  py: `${PYTHON_CHECK.replace('check_two', 'check_three')}\ndef check_two(got):\n    print(got)\n`,
  js: `${SCRIPT_CHECK.replace('checkTwo', 'checkThree')}export function checkTwo(got) { console.log(got) }\n`,
  ts: `${SCRIPT_CHECK.replace('checkTwo', 'checkThree')}export function checkTwo(got) { console.log(got) }\n`,
  rs: `${RUST_CHECK.replace('check_two', 'check_three')}pub fn check_two(got: i32) { println!("{got}"); }\n`,
}

describe('what a test asserts through a helper of another file', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'phaselock-assertions-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, text: string) => {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const ask = (path: string, text: string) => {
    const contract = contractOf([phase('A')])
    return hasAssertions(path, text, openHelperFiles({ contract, tree: openWorkTree(root) }))
  }

  it.each(HELPERS)(
    '[REQ-DIFF-6] %s with %j asserts something if the helper in %s does',
    async (path, text, helper, check) => {
      write(helper, check)
      expect(await ask(path, text)).toBe(true)
    },
  )

  it.each(HELPERS)(
    '[REQ-DIFF-6] %s with %j asserts nothing if the helper in %s never fails',
    async (path, text, helper) => {
      write(helper, NEVER_FAILS[helper.split('.').at(-1) ?? ''] ?? '')
      expect(await ask(path, text)).toBe(false)
    },
  )

  it.each(HELPERS)('[REQ-DIFF-6] %s with %j asserts nothing if there is no helper', async (path, text) => {
    expect(await ask(path, text)).toBe(false)
  })

  it('[REQ-DIFF-6] code under test is no helper, whatever it throws', async () => {
    write('src/add.js', SCRIPT_CHECK)
    expect(await ask('tests/a.test.js', "import { checkTwo } from '../src/add.js'\nit('a', () => checkTwo(1))")).toBe(
      false,
    )
  })

  it('[REQ-DIFF-6] helpers that use each other are read once', async () => {
    write('tests/help.js', "import { b } from './more.js'\nexport const a = (got) => b(got)\n")
    write('tests/more.js', "import { a } from './help.js'\nexport const b = (got) => a(got)\n")
    expect(await ask('tests/a.test.js', "import { a } from './help.js'\nit('a', () => a(add(1)))")).toBe(false)
    write('tests/more.js', "export const b = (got) => { if (got !== 2) throw new Error('no') }\n")
    expect(await ask('tests/a.test.js', "import { a } from './help.js'\nit('a', () => a(add(1)))")).toBe(true)
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
