import type { LeftReason, RuleName } from '../types.js'

/**
 * How a Python assertion is inverted; arguments are counted from 0. Fixtures are in `test/inverter/python-fixtures.ts`.
 */
export type Rule =
  /** An argument is passed through a helper. */
  | { readonly turn: 'argument'; readonly at: number; readonly helper: string; readonly rule: RuleName }
  /** The first argument is kept, and the second one is passed through a helper that knows it. */
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

const makeArgumentRule = (helper: string, at: number, rule: RuleName): Rule => ({ turn: 'argument', at, helper, rule })
const makeValueRule = (at: number): Rule => makeArgumentRule('value', at, 'expected')
const makeApartRule = (at: number): Rule => makeArgumentRule('apart', at, 'expected_apart')
const makePairRule = (helper: string, rule: RuleName): Rule => ({ turn: 'pair', helper, rule })
const makeOppositeRule = (method: string): Rule => ({ turn: 'opposite', method })
const SAME = makePairRule('kept', 'expected_is_actual')
const OVER = makePairRule('over', 'bound')
const UNDER = makePairRule('under', 'bound')
const TRUTH = makeArgumentRule('flip', 0, 'truth')
const NO_RULE: Rule = { turn: 'leave', reason: 'no_rule' }

function makeRuleTable(names: string, rule: Rule): RuleTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]))
}

/** Methods of unittest.TestCase, on `self` or `cls`. */
export const UNITTEST: RuleTable = {
  ...makeRuleTable(
    'assertEqual assertEquals assertListEqual assertDictEqual assertTupleEqual assertSetEqual',
    makeValueRule(1),
  ),
  ...makeRuleTable('assertSequenceEqual assertMultiLineEqual assertIs', makeValueRule(1)),
  assertCountEqual: makeApartRule(1),
  assertAlmostEqual: makeArgumentRule('far', 1, 'expected_far'),
  ...makeRuleTable('assertNotEqual assertNotEquals assertNotAlmostEqual assertIsNot', SAME),
  ...makeRuleTable('assertTrue assertFalse', TRUTH),
  assertIn: makeApartRule(0),
  assertNotIn: makePairRule('holder', 'expected_is_actual'),
  assertIsNone: { turn: 'actual', fails: '$word' },
  assertIsNotNone: { turn: 'actual', fails: 'None' },
  assertIsInstance: makeArgumentRule('kind', 1, 'expected'),
  assertNotIsInstance: makeArgumentRule('anything', 1, 'expected'),
  ...makeRuleTable('assertGreater assertGreaterEqual', OVER),
  ...makeRuleTable('assertLess assertLessEqual', UNDER),
  ...makeRuleTable('assertRegex assertRaisesRegex assertWarnsRegex', makeArgumentRule('regex', 1, 'expected_apart')),
  assertNotRegex: makeArgumentRule('open', 1, 'expected'),
  assertRaises: { turn: 'regex', method: 'assertRaisesRegex' },
  assertWarns: { turn: 'regex', method: 'assertWarnsRegex' },
  assertLogs: makeOppositeRule('assertNoLogs'),
  assertNoLogs: makeOppositeRule('assertLogs'),
  ...makeRuleTable('assertStartsWith assertEndsWith assertHasAttr', NO_RULE),
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
  ...makeRuleTable('assert_called_with assert_called_once_with assert_any_call assert_has_calls assert_awaited_with', {
    turn: 'called_with',
  }),
  assert_awaited_once_with: { turn: 'called_with' },
  assert_called: makeOppositeRule('assert_not_called'),
  assert_called_once: makeOppositeRule('assert_not_called'),
  assert_not_called: makeOppositeRule('assert_called'),
  assert_awaited: makeOppositeRule('assert_not_awaited'),
  assert_awaited_once: makeOppositeRule('assert_not_awaited'),
  assert_not_awaited: makeOppositeRule('assert_awaited'),
}

/** How the comparison of an `assert` statement is inverted. Everything else is negated as a whole. */
export const COMPARISONS: Readonly<Record<string, { readonly rule: RuleName; readonly helper: string }>> = {
  '==': { rule: 'expected', helper: 'value' },
  '!=': { rule: 'expected_is_actual', helper: 'kept' },
  '<': { rule: 'bound', helper: 'under' },
  '<=': { rule: 'bound', helper: 'under' },
  '>': { rule: 'bound', helper: 'over' },
  '>=': { rule: 'bound', helper: 'over' },
  in: { rule: 'expected_apart', helper: 'apart' },
}

/** Modules whose assertions have no rules. */
export const OTHER_LIBRARIES: readonly string[] = [
  ...['numpy.testing', 'pandas.testing', 'hamcrest', 'assertpy', 'sure', 'expects', 'torch.testing', 'testfixtures'],
]
