import type { Fixture, FixtureSuite } from './fixture.js'

const PYTHON_CODE = `def add(a, b):
    return a + b
def boom():
    raise ValueError("bad input")
class Point:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return isinstance(other, Point) and other.x == self.x`

const ASSERT: readonly Fixture[] = [
  ['assert add(1, 2) == 3', 'assert ==', 'expected'],
  ['assert 3 == add(1, 2)', 'assert ==', 'expected'],
  ['assert (add(1, 2) == 3), "sum"', 'assert ==', 'expected'],
  ['assert add(1, 2) != 4', 'assert !=', 'expected_is_actual'],
  ['assert add(1, 2) < 4', 'assert <', 'bound'],
  ['assert add(1, 2) <= 3', 'assert <=', 'bound'],
  ['assert add(1, 2) > 1', 'assert >', 'bound'],
  ['got = add(1, 2); assert got == got', 'assert ==', { left: 'same_on_both_sides' }],
  ['got = [add(1, 2)]; assert got[0] == got[0]', 'assert ==', { left: 'same_on_both_sides' }],
  ["assert 'b' >= 'a'", 'assert >=', 'bound'],
  ['assert 2 in [1, 2, 3]', 'assert in', 'expected_apart'],
  ["assert 'b' in 'abc'", 'assert in', 'expected_apart'],
  ['assert 5 not in [1]', 'assert', 'truth'],
  ['assert add(1, 2) is not None', 'assert', 'truth'],
  ['assert add(1, 2)', 'assert', 'truth'],
  ['assert not add(0, 0)', 'assert', 'truth'],
  ['assert add(1, 2) == 3 or add(0, 1) == 7', 'assert', { left: 'joined_conditions' }],
  ['assert add(1, 2) == 3 or True', 'assert', { left: 'joined_conditions' }],
  ['assert not (add(1, 2) != 3 and False)', 'assert', { left: 'joined_conditions' }],
  ['assert (add(1, 2) == 3 if add(1, 1) else True)', 'assert', { left: 'joined_conditions' }],
  ['assert bool(add(1, 2) == 3 or True)', 'assert', { left: 'joined_conditions' }],
  ['assert (add(1, 2) == 3 or True) is True', 'assert', { left: 'joined_conditions' }],
  ['assert (add(1, 2) == 3 or True) is not False', 'assert', { left: 'joined_conditions' }],
  ['assert (add(1, 2) == 3) is True', 'assert', 'truth'],
  ['assert (add(1, 2) == 3 or True) == True', 'assert ==', { left: 'joined_conditions' }],
  ['assert not (add(0, 0) or add(1, -1))', 'assert', 'truth'],
  ['assert add(1, 2) or None', 'assert', 'truth'],
  ['assert True', 'assert', { left: 'asserts_nothing' }],
  ['assert 1 == 1', 'assert ==', { left: 'asserts_nothing' }],
  ['assert 0 < add(1, 2) < 5', 'assert', 'truth'],
  ['assert isinstance(3, int)', 'assert isinstance', 'expected'],
  ["assert add('a', 'b') == 'ab'", 'assert ==', 'expected'],
  ['assert [1] + [2] == [1, 2]', 'assert ==', 'expected'],
  ['assert (1, 2) == (1, 2)', 'assert ==', 'expected'],
  ['assert [] == list()', 'assert ==', 'expected'],
  ["assert {'a': [1, {'b': None}]} == {'a': [1, {'b': None}]}", 'assert ==', 'expected'],
  ['assert {1, 2} == {2, 1}', 'assert ==', 'expected'],
  ['assert Point(1) == Point(1)', 'assert ==', 'expected'],
  ['assert add(0.5, 0.25) == 0.75', 'assert ==', 'expected'],
  ['assert add(0, 10 ** 30) == 1000000000000000000000000000000', 'assert ==', 'expected'],
  ["assert float('inf') == 1e400", 'assert ==', 'expected'],
  ["assert add(b'a', b'b') == b'ab'", 'assert ==', 'expected'],
  ['assert datetime.date(2020, 1, 1) == datetime.date(2020, 1, 1)', 'assert ==', 'expected'],
  ['assert (add(1, 1) ==\n        2)', 'assert ==', 'expected'],
  ['add(1, 2)', null],
]

const PYTEST: readonly Fixture[] = [
  ['assert 0.1 + 0.2 == pytest.approx(0.3)', 'assert ==', 'expected'],
  ['with pytest.raises(ValueError): boom()', 'raises', 'expected_apart'],
  ['with pytest.raises(ValueError, match="bad"): boom()', 'raises', 'expected_apart'],
  ['with pytest.raises(ValueError, match="bad|worse"): boom()', 'raises', 'expected_apart'],
  ['with pytest.raises(ValueError, match=re.compile("(?i)BAD")): boom()', 'raises', 'expected_apart'],
  ['with raises((ValueError, KeyError)): boom()', 'raises', 'expected_apart'],
  ['pytest.raises(ValueError, boom)', 'raises', 'expected_apart'],
  ['with pytest.warns(UserWarning): warnings.warn("careful")', 'warns', 'expected_apart'],
  ['pytest.warns(UserWarning, lambda: warnings.warn("old"))', 'warns', 'expected_apart'],
  ['with pytest.deprecated_call(): warnings.warn("old", DeprecationWarning)', 'deprecated_call', 'expected_apart'],
  [
    'with pytest.deprecated_call(match="old"): warnings.warn("old", DeprecationWarning)',
    'deprecated_call',
    'expected_apart',
  ],
  ['pytest.deprecated_call(lambda: warnings.warn("old", DeprecationWarning))', 'deprecated_call', 'expected_apart'],
  ['m = Mock(); m(1); m.assert_called_once_with(1)', 'assert_called_once_with', 'expected'],
  ['m = Mock(); m(a=1); m.assert_called_with(a=1)', 'assert_called_with', 'expected'],
  ['m = Mock(); m(); m.assert_called_with()', 'assert_called_with', 'expected'],
  ['m = Mock(); m.x.assert_not_called()', 'assert_not_called', 'negated'],
  ['m = Mock(); m.x(); m.x.assert_called()', 'assert_called', 'negated'],
]

const UNITTEST: readonly Fixture[] = [
  ['self.assertEqual(add(1, 2), 3)', 'assertEqual', 'expected'],
  ['self.assertNotEqual(add(1, 2), 4)', 'assertNotEqual', 'expected_is_actual'],
  ['self.assertTrue(add(1, 2))', 'assertTrue', 'truth'],
  ['self.assertFalse(add(0, 0))', 'assertFalse', 'truth'],
  ['self.assertTrue(add(1, 2) == 3 or True)', 'assertTrue', { left: 'joined_conditions' }],
  ['self.assertFalse(add(1, 2) != 3 and False)', 'assertFalse', { left: 'joined_conditions' }],
  ['self.assertEqual(add(1, 2) == 3 or True, True)', 'assertEqual', { left: 'joined_conditions' }],
  ['self.assertEqual(1, 1)', 'assertEqual', { left: 'asserts_nothing' }],
  ['with self.assertLogs("add"): logging.getLogger("add").error("wrong")', 'assertLogs', 'negated'],
  ['with self.assertNoLogs("add"): add(1, 2)', 'assertNoLogs', 'negated'],
  ['with self.assertRaises(ValueError): boom()', 'assertRaises', 'expected_apart'],
  ['self.assertRaises(ValueError, boom)', 'assertRaises', 'expected_apart'],
  ['self.assertRaisesRegex(ValueError, "bad", boom)', 'assertRaisesRegex', 'expected_apart'],
  ['with self.assertWarns(UserWarning): warnings.warn("careful")', 'assertWarns', 'expected_apart'],
  ['self.assertIsNone(None)', 'assertIsNone', 'actual'],
  ['self.assertIsNotNone(3)', 'assertIsNotNone', 'actual'],
  ['self.assertIn(1, [1])', 'assertIn', 'expected_apart'],
  ['self.assertNotIn(2, [1])', 'assertNotIn', 'expected_is_actual'],
  ['self.assertIsInstance(1, (int, str))', 'assertIsInstance', 'expected'],
  ['self.assertNotIsInstance(1, str)', 'assertNotIsInstance', 'expected'],
  ['self.assertAlmostEqual(0.1 + 0.2, 0.3)', 'assertAlmostEqual', 'expected_far'],
  ['self.assertAlmostEqual(104, 100, delta=9)', 'assertAlmostEqual', 'expected_far'],
  ['self.assertNotAlmostEqual(0.1, 0.3)', 'assertNotAlmostEqual', 'expected_is_actual'],
  ['self.assertGreater(2, 1)', 'assertGreater', 'bound'],
  ['self.assertLessEqual(1, 1)', 'assertLessEqual', 'bound'],
  ['self.assertRegex("abc", "b|c")', 'assertRegex', 'expected_apart'],
  ['self.assertNotRegex("abc", "z")', 'assertNotRegex', 'expected'],
  ['self.assertCountEqual([1, 2], [2, 1])', 'assertCountEqual', 'expected_apart'],
  ["self.assertDictEqual({'a': 1}, {'a': 1})", 'assertDictEqual', 'expected'],
  ['self.assertIs([None][0], None)', 'assertIs', 'expected'],
  ['self.assertEqual(*[1, 1])', 'assertEqual', { left: 'spread_arguments' }],
  ['self.assertEqual(first=1, second=1)', 'assertEqual', { left: 'missing_arguments' }],
]

export const PYTEST_SUITE: FixtureSuite = {
  ...{ name: 'pytest', library: '', path: 'test_suite.py', fixtures: [...ASSERT, ...PYTEST] },
  preamble: `"""What is tested."""\nfrom __future__ import annotations\nimport datetime\nimport re\nimport warnings\nfrom unittest.mock import Mock\nimport pytest\nfrom pytest import raises\n${PYTHON_CODE}`,
  wrap: (code, name) => `def test_${name}():\n    ${code}`,
}

export const UNITTEST_SUITE: FixtureSuite = {
  ...{ name: 'unittest', library: '', path: 'test_suite.py', fixtures: [...ASSERT, ...UNITTEST] },
  preamble: `# A comment.\nimport datetime\nimport logging\nimport unittest\nimport warnings\n${PYTHON_CODE}\nclass Cases(unittest.TestCase):`,
  end: "if __name__ == '__main__':\n    unittest.main()\n",
  wrap: (code, name) => `    def test_${name}(self):\n        ${code}`,
}

const GO: readonly Fixture[] = [
  ['if Add(1, 2) != 3 {\n\t\tt.Errorf("got %d", Add(1, 2))\n\t}', 'if fail', 'literal'],
  ['if Add(-1, 0) != -1 {\n\t\tt.Error("wrong")\n\t}', 'if fail', 'literal'],
  ['if Name() != "add" {\n\t\tt.Error("wrong")\n\t}', 'if fail', 'literal'],
  ['var small uint8 = 255\n\tif small != 255 {\n\t\tt.Error("wrong")\n\t}', 'if fail', 'literal'],
  [
    'got, want := Add(1, 2), 3\n\tif got != want {\n\t\tt.Errorf("got %d, want %d", got, want)\n\t}',
    'if fail',
    'negated',
  ],
  ['_, err := Div(1, 1)\n\tif err != nil {\n\t\tt.Fatalf("error %v", err.Error())\n\t}', 'if fail', 'negated'],
  ['_, err := Div(1, 0)\n\tif err == nil {\n\t\tt.Fatal("no error")\n\t}\n\t_ = err.Error()', 'if fail', 'negated'],
  [
    'got, err := func() (*int, error) {\n\t\tif Add(1, 2) != 3 {\n\t\t\tt.Error("wrong")\n\t\t\treturn nil, errors.New("wrong")\n\t\t}\n\t\treturn new(int), nil\n\t}()\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif *got != 0 {\n\t\tt.Error("wrong")\n\t}',
    'if fail',
    'literal',
  ],
  ['if diff := Diff(1, 1); diff != "" {\n\t\tt.Error(diff)\n\t}', 'if fail', 'literal'],
  ['if !reflect.DeepEqual([]int{1}, []int{1}) {\n\t\tt.Error("wrong")\n\t}', 'if fail', 'negated'],
  ['if Add(1, 1) == 2 {\n\t\tt.Log("fine")\n\t} else {\n\t\tt.Error("wrong")\n\t}', 'if fail', 'negated'],
  ['switch got := Add(1, 1); {\n\tcase got != 2:\n\t\tt.Error("wrong")\n\t}', 'case fail', 'negated'],
  ['if Add(1, 1) == 2 {\n\t\treturn\n\t}\n\tt.Fatal("wrong")', 'return or fail', 'negated'],
  [
    't.Run("inner", func(t *testing.T) {\n\t\tif Add(1, 1) != 2 {\n\t\t\tt.Error("wrong")\n\t\t}\n\t})',
    'if fail',
    'literal',
  ],
  [
    'done := make(chan bool)\n\tgo func() {\n\t\tif Add(1, 1) != 2 {\n\t\t\tt.Error("wrong")\n\t\t}\n\t\tclose(done)\n\t}()\n\t<-done',
    'if fail',
    { left: 'not_on_test_goroutine' },
  ],
  ['if got := Add(1, 2); got != got {\n\t\tt.Error("wrong")\n\t}', 'if fail', { left: 'same_on_both_sides' }],
  [
    'if got := []int{Add(1, 2)}; got[0] != got[0] {\n\t\tt.Error("wrong")\n\t}',
    'if fail',
    { left: 'same_on_both_sides' },
  ],
  ['if Add(1, 2) != Add(1, 2) {\n\t\tt.Error("wrong")\n\t}', 'if fail', { left: 'same_on_both_sides' }],
  ['if got := Add(1, 2); got != 3 && t == nil {\n\t\tt.Error("wrong")\n\t}', 'if fail', { left: 'joined_conditions' }],
  ['if got := Add(1, 2); (got != 3 && got > 9) {\n\t\tt.Error("wrong")\n\t}', 'if fail', { left: 'joined_conditions' }],
  ['if Add(1, 2) == 3 || true {\n\t} else {\n\t\tt.Error("wrong")\n\t}', 'if fail', { left: 'joined_conditions' }],
  ['if Add(1, 2) == 3 || true {\n\t\treturn\n\t}\n\tt.Fatal("wrong")', 'return or fail', { left: 'joined_conditions' }],
  [
    'switch got := Add(1, 1); {\n\tcase got != 2 && t == nil:\n\t\tt.Error("wrong")\n\t}',
    'case fail',
    { left: 'joined_conditions' },
  ],
  ['if false {\n\t\tt.Error("wrong")\n\t}', 'if fail', { left: 'asserts_nothing' }],
  ['if got := Add(1, 2); got != 3 || got > 9 {\n\t\tt.Error("wrong")\n\t}', 'if fail', 'negated'],
  ['Add(1, 2)', null],
]

export const GO_SUITE: FixtureSuite = {
  ...{ name: 'go test', library: 'testing', path: 'add_test.go', fixtures: GO },
  preamble:
    'package add\n\nimport (\n\t"errors"\n\t"reflect"\n\t"testing"\n)\n\nvar _ = reflect.DeepEqual\nvar _ = errors.New',
  wrap: (code, name) => `func Test_${name}(t *testing.T) {\n\t${code}\n}\n`,
}

const TESTIFY: readonly Fixture[] = [
  ['assert.Equal(t, 3, Add(1, 2))', 'Equal', 'literal'],
  ['assert.Equal(t, []int{1}, []int{1})', 'Equal', 'negated'],
  ['require.NoError(t, nil)', 'NoError', 'negated'],
  ['assert.True(t, Add(1, 1) == 2)', 'True', 'negated'],
  ['assert.True(t, Add(1, 1) == 2 || true)', 'True', { left: 'joined_conditions' }],
  ['assert.False(t, Add(1, 1) != 2 && false)', 'False', { left: 'joined_conditions' }],
  ['assert.Len(t, []int{1}, 1)', 'Len', 'literal'],
  ['assert.Contains(t, []int{1, 2, 3}, 2)', 'Contains', 'negated'],
  ['assert.EqualError(t, errors.New("bad"), "bad")', 'EqualError', 'literal'],
  ['assert.InDelta(t, 1.0, 1.05, 0.1)', 'InDelta', 'negated'],
  ['assert.ElementsMatch(t, []int{1, 2}, []int{2, 1})', 'ElementsMatch', 'negated'],
  ['a := assert.New(t)\n\ta.Contains("abc", "b")', 'Contains', 'negated'],
  ['require.InDelta(t, 1.0, 1.05, 0.1)', 'InDelta', 'negated'],
  ['require.IsType(t, 1, Add(1, 2), "type of %d", 3)', 'IsType', 'negated'],
  ['a := assert.New(t)\n\ta.ElementsMatch([]int{1, 2}, []int{2, 1})', 'ElementsMatch', 'negated'],
  ['want := "bad"\n\ta := require.New(t)\n\ta.EqualErrorf(errors.New("bad"), want, "%d", 1)', 'EqualErrorf', 'negated'],
]

export const TESTIFY_SUITE: FixtureSuite = {
  ...{ name: 'testify', library: 'testify', path: 'add_test.go', fixtures: TESTIFY },
  preamble:
    'package add\n\nimport (\n\t"errors"\n\t"testing"\n\n\t"github.com/stretchr/testify/assert"\n\t"github.com/stretchr/testify/require"\n)\n\nvar _ = errors.New\nvar _ = require.New\nvar _ = assert.New\n',
  wrap: (code, name) => `func Test_${name}(t *testing.T) {\n\t${code}\n}\n`,
}

const RUST: readonly Fixture[] = [
  ['assert_eq!(add(1, 2), 3);', 'assert_eq!', 'literal'],
  ['assert_eq!(add(-1, 0), -1);', 'assert_eq!', 'literal'],
  ['let want = 3; assert_eq!(add(1, 2), want, "sum of {} and {}", 1, 2);', 'assert_eq!', 'negated'],
  ['assert_eq!(Point { x: 1, y: 255 }, Point { x: 1, y: 255 });', 'assert_eq!', 'literal'],
  ['assert_eq!(vec![add(0, 1), 2], vec![1, 2]);', 'assert_eq!', 'literal'],
  ['assert_eq!(checked(9), Err("large".to_string()));', 'assert_eq!', 'literal'],
  ['assert_eq!(255u8, 254 + 1);', 'assert_eq!', 'literal'],
  ['assert_eq!(add(1, 2), add(2, 1));', 'assert_eq!', 'negated'],
  ['assert_ne!(add(1, 2), 4);', 'assert_ne!', 'negated'],
  ['let got = add(1, 2); assert_eq!(got, got);', 'assert_eq!', { left: 'same_on_both_sides' }],
  ['let got = [add(1, 2)]; assert_eq!(got[0], got[0]);', 'assert_eq!', { left: 'same_on_both_sides' }],
  ['assert_eq!(add(1, 2), add(1, 2));', 'assert_eq!', { left: 'same_on_both_sides' }],
  ['assert!(add(1, 2) > 2 && add(0, 0) == 0, "sum");', 'assert!', 'negated'],
  [
    'assert!("1".parse::<i32>().map(|n| n).ok().into_iter().collect::<std::collections::BTreeSet<i32>>().len() == 1);',
    'assert!',
    'negated',
  ],
  [
    'assert!(std::iter::once((1, 2)).collect::<std::collections::HashMap<i32, i32>>().len() == 1, "map");',
    'assert!',
    'negated',
  ],
  ['assert!(add(1, 2) == 3 || true);', 'assert!', { left: 'joined_conditions' }],
  ['assert!((add(1, 2) == 3 || true), "sum");', 'assert!', { left: 'joined_conditions' }],
  ['assert!(!(add(1, 2) != 3 && false));', 'assert!', { left: 'joined_conditions' }],
  ['assert!(!(add(0, 0) == 1 || add(0, 1) == 2));', 'assert!', 'negated'],
  ['assert!(Some(3).or_else(|| None) == Some(add(1, 2)));', 'assert!', 'negated'],
  ['assert!(match add(1, 2) { 3 => true, _ => false });', 'assert!', 'negated'],
  ['assert!(match add(1, 2) { 3 => true, _ => true });', 'assert!', { left: 'joined_conditions' }],
  ['assert!(true);', 'assert!', { left: 'asserts_nothing' }],
  ['if add(1, 1) != 2 && false { panic!("wrong"); }', 'if panic', { left: 'joined_conditions' }],
  ['if add(1, 1) != 2 { panic!("wrong"); }', 'if panic', 'negated'],
  ['macro_rules! same { ($a:expr, $b:expr) => { assert_eq!($a, $b) } } same!(add(1, 2), 3);', 'assert_eq!', 'negated'],
  ['macro_rules! holds { ($a:expr) => { assert!($a == 3, "sum"); } } holds!(add(1, 2));', 'assert!', 'negated'],
  ['macro_rules! run { ($a:block) => { $a } } run!({ assert_ne!(add(1, 2), 4) });', 'assert_ne!', 'negated'],
  ['add(1, 2);', null],
]

export const RUST_SUITE: FixtureSuite = {
  ...{ name: 'cargo test', library: 'std', path: 'tests/suite.rs', fixtures: RUST },
  preamble: 'use add::*;',
  wrap: (code, name) => `#[test]\nfn ${name}() { ${code} }`,
}
