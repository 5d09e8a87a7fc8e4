import type { LeftReason, RuleName } from '../types.js'

/**
 * How an assertion of Python is turned around; arguments are counted from 0. Fixtures are in `test/inverter/python-fixtures.ts`.
 */
export type Rule =
  /** An argument is passed through a helper. */
  | { readonly turn: 'argument'; readonly at: number; readonly helper: string; readonly rule: RuleName }
  /** The first argument is kept, and the second one passed through a helper that knows it. */
  | { readonly turn: 'pair'; readonly helper: string; readonly rule: RuleName }
  /** The actual value is replaced. */
  | { readonly turn: 'actual'; readonly fails: string }
  /** Becomes the form with a regular expression, which matches everything or nothing. */
  | { readonly turn: 'regex'; readonly method: string }
  /** `match=` is added or changed; a function that is called is replaced. */
  | { readonly turn: 'match' }
  /** The first positional or keyword argument is changed. */
  | { readonly turn: 'called_with' }
  | { readonly turn: 'opposite'; readonly method: string }
  | { readonly turn: 'leave'; readonly reason: LeftReason }

export type RuleTable = Readonly<Record<string, Rule>>

const through = (helper: string, at: number, rule: RuleName): Rule => ({ turn: 'argument', at, helper, rule })
const value = (at: number): Rule => through('value', at, 'expected')
const apart = (at: number): Rule => through('apart', at, 'expected_apart')
const pair = (helper: string, rule: RuleName): Rule => ({ turn: 'pair', helper, rule })
const opposite = (method: string): Rule => ({ turn: 'opposite', method })
const SAME = pair('kept', 'expected_is_actual')
const OVER = pair('over', 'bound')
const UNDER = pair('under', 'bound')
const TRUTH = through('flip', 0, 'truth')
const NO_RULE: Rule = { turn: 'leave', reason: 'no_rule' }

function eachOf(names: string, rule: Rule): RuleTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]))
}

/** Methods of unittest.TestCase, on `self` or `cls`. */
export const UNITTEST: RuleTable = {
  ...eachOf('assertEqual assertEquals assertListEqual assertDictEqual assertTupleEqual assertSetEqual', value(1)),
  ...eachOf('assertSequenceEqual assertMultiLineEqual assertIs', value(1)),
  assertCountEqual: apart(1),
  assertAlmostEqual: through('far', 1, 'expected_far'),
  ...eachOf('assertNotEqual assertNotEquals assertNotAlmostEqual assertIsNot', SAME),
  ...eachOf('assertTrue assertFalse', TRUTH),
  assertIn: apart(0),
  assertNotIn: pair('holder', 'expected_is_actual'),
  assertIsNone: { turn: 'actual', fails: '$word' },
  assertIsNotNone: { turn: 'actual', fails: 'None' },
  assertIsInstance: through('kind', 1, 'expected'),
  assertNotIsInstance: through('anything', 1, 'expected'),
  ...eachOf('assertGreater assertGreaterEqual', OVER),
  ...eachOf('assertLess assertLessEqual', UNDER),
  ...eachOf('assertRegex assertRaisesRegex assertWarnsRegex', through('regex', 1, 'expected_apart')),
  assertNotRegex: through('open', 1, 'expected'),
  assertRaises: { turn: 'regex', method: 'assertRaisesRegex' },
  assertWarns: { turn: 'regex', method: 'assertWarnsRegex' },
  assertLogs: opposite('assertNoLogs'),
  assertNoLogs: opposite('assertLogs'),
  ...eachOf('assertStartsWith assertEndsWith assertHasAttr', NO_RULE),
}

/** pytest.raises, pytest.warns and pytest.deprecated_call. */
export const PYTEST: RuleTable = {
  raises: { turn: 'match' },
  warns: { turn: 'match' },
  deprecated_call: { turn: 'match' },
  RaisesGroup: NO_RULE,
}

/** Methods of unittest.mock, on any object. */
export const MOCK: RuleTable = {
  ...eachOf('assert_called_with assert_called_once_with assert_any_call assert_has_calls assert_awaited_with', {
    turn: 'called_with',
  }),
  assert_awaited_once_with: { turn: 'called_with' },
  assert_called: opposite('assert_not_called'),
  assert_called_once: opposite('assert_not_called'),
  assert_not_called: opposite('assert_called'),
  assert_awaited: opposite('assert_not_awaited'),
  assert_awaited_once: opposite('assert_not_awaited'),
  assert_not_awaited: opposite('assert_awaited'),
}

/** How the comparison of an `assert` statement is turned. Everything else is negated as a whole. */
export const COMPARISONS: Readonly<Record<string, { readonly rule: RuleName; readonly helper: string }>> = {
  '==': { rule: 'expected', helper: 'value' },
  '!=': { rule: 'expected_is_actual', helper: 'kept' },
  '<': { rule: 'bound', helper: 'under' },
  '<=': { rule: 'bound', helper: 'under' },
  '>': { rule: 'bound', helper: 'over' },
  '>=': { rule: 'bound', helper: 'over' },
  in: { rule: 'expected_apart', helper: 'apart' },
}

/** Modules that assert in ways that no table knows. */
export const OTHER_LIBRARIES: readonly string[] = [
  ...['numpy.testing', 'pandas.testing', 'hamcrest', 'assertpy', 'sure', 'expects', 'torch.testing', 'testfixtures'],
]
