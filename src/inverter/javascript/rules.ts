import type { LeftReason, RuleName } from '../types.js'

/**
 * How a JavaScript assertion is inverted. Arguments are counted from 0. To support another library, add its methods to
 * a table below, its modules to `modules.ts`, and fixtures to `test/inverter/javascript-fixtures.ts`.
 */
export type Rule =
  /** The expected value is changed. `apart`: to one that nothing can contain; `far`: beyond any tolerance. */
  | { readonly turn: 'expected'; readonly at: number; readonly how: 'value' | 'apart' | 'far' }
  /** Arguments that a function was called with, from `at` on: one of them is changed. */
  | { readonly turn: 'calls'; readonly at: number }
  /** A comparison that must not hold: the expected value becomes the actual one. */
  | { readonly turn: 'same' }
  /** The bound of a comparison is moved past the actual value. */
  | { readonly turn: 'bound'; readonly to: 'over' | 'under' }
  /** The actual value is negated. */
  | { readonly turn: 'truth' }
  /** The actual value is replaced: by one that fails, or after `not` by one for which the matcher holds. */
  | { readonly turn: 'actual'; readonly fails: string; readonly holds: string }
  /** The actual value is changed, because its expected value is stored elsewhere. */
  | { readonly turn: 'snapshot'; readonly isStoredInline: boolean }
  /** The function, or promise, that has to fail is replaced by one that does not, or the other way round. */
  | { readonly turn: 'call'; readonly to: 'quiet' | 'loud' | 'settled' | 'broken'; readonly expected: boolean }
  /** Another method is called. */
  | { readonly turn: 'opposite'; readonly method: string }
  /** The chain gets, or loses, its `not`. */
  | { readonly turn: 'not' }
  | { readonly turn: 'leave'; readonly reason: LeftReason }

export type RuleTable = Readonly<Record<string, Rule>>

const makeValueRule = (at: number): Rule => ({ turn: 'expected', at, how: 'value' })
const makeApartRule = (at: number): Rule => ({ turn: 'expected', at, how: 'apart' })
const makeFarRule = (at: number): Rule => ({ turn: 'expected', at, how: 'far' })
const makeCallsRule = (at: number): Rule => ({ turn: 'calls', at })
const makeActualRule = (fails: string, holds: string): Rule => ({ turn: 'actual', fails, holds })
const call = (to: 'quiet' | 'loud' | 'settled' | 'broken', expected = false): Rule => ({ turn: 'call', to, expected })
const makeOppositeRule = (method: string): Rule => ({ turn: 'opposite', method })
const leave = (reason: LeftReason): Rule => ({ turn: 'leave', reason })
const SAME: Rule = { turn: 'same' }
const OVER: Rule = { turn: 'bound', to: 'over' }
const UNDER: Rule = { turn: 'bound', to: 'under' }
const TRUTH: Rule = { turn: 'truth' }
const NOT: Rule = { turn: 'not' }
const SNAPSHOT: Rule = { turn: 'snapshot', isStoredInline: false }
const INLINE_SNAPSHOT: Rule = { turn: 'snapshot', isStoredInline: true }
const NOTHING = leave('asserts_nothing')
const TYPES = leave('checks_types_only')

function makeRuleTable(names: string, rule: Rule): RuleTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]))
}

/** node:assert, the context of node:test (`t.assert`), uvu/assert. */
export const NODE_ASSERT: RuleTable = {
  ...makeRuleTable('equal strictEqual deepEqual deepStrictEqual partialDeepStrictEqual is', makeValueRule(1)),
  ...makeRuleTable('notEqual notStrictEqual notDeepEqual notDeepStrictEqual', SAME),
  ...makeRuleTable('ok assert', TRUTH),
  match: makeApartRule(1),
  doesNotMatch: { turn: 'opposite', method: 'match' },
  throws: call('quiet', true),
  rejects: call('settled', true),
  doesNotThrow: call('loud'),
  doesNotReject: call('broken'),
  ifError: makeActualRule('new Error($word)', 'null'),
  snapshot: SNAPSHOT,
  fileSnapshot: SNAPSHOT,
  fail: NOTHING,
}

/** chai's assert. */
export const CHAI_ASSERT: RuleTable = {
  ...makeRuleTable('equal strictEqual deepEqual deepStrictEqual eql lengthOf typeOf propertyVal isA', makeValueRule(1)),
  ...makeRuleTable('notEqual notStrictEqual notDeepEqual', SAME),
  ...makeRuleTable(
    'sameMembers sameDeepMembers sameOrderedMembers sameDeepOrderedMembers include deepInclude',
    makeApartRule(1),
  ),
  ...makeRuleTable(
    'includeMembers includeDeepMembers match property hasAllKeys hasAnyKeys containsAllKeys',
    makeApartRule(1),
  ),
  ...makeRuleTable('nestedInclude nestedProperty ownInclude instanceOf hasAllDeepKeys', makeApartRule(1)),
  ...makeRuleTable('closeTo approximately', makeFarRule(1)),
  ...makeRuleTable('ok assert isOk isNotOk isTrue isFalse notOk', TRUTH),
  ...makeRuleTable('isAbove isAtLeast', OVER),
  ...makeRuleTable('isBelow isAtMost', UNDER),
  ...makeRuleTable('throws throw Throw', call('quiet', true)),
  isRejected: call('settled'),
  rejects: call('settled', true),
  isFulfilled: call('broken'),
  propertyVal: makeValueRule(2),
  nestedPropertyVal: makeValueRule(2),
  deepPropertyVal: makeValueRule(2),
  oneOf: makeActualRule('$word', 'void 0'),
  isNull: makeActualRule('void 0', 'null'),
  isNotNull: makeActualRule('null', 'void 0'),
  isUndefined: makeActualRule('null', 'void 0'),
  isDefined: makeActualRule('void 0', 'null'),
  exists: makeActualRule('null', '1'),
  notExists: makeActualRule('1', 'null'),
  isNaN: makeActualRule('1', 'NaN'),
  isNotNaN: makeActualRule('NaN', '1'),
  doesNotThrow: call('loud'),
  ...makeRuleTable('isArray isObject isBoolean isFunction', makeActualRule('$word', 'null')),
  ...makeRuleTable('isString isNumber', makeActualRule('null', '1')),
  notInclude: makeOppositeRule('include'),
  notDeepInclude: makeOppositeRule('deepInclude'),
  notMatch: makeOppositeRule('match'),
  notInstanceOf: makeOppositeRule('instanceOf'),
  notTypeOf: makeOppositeRule('typeOf'),
  notProperty: makeOppositeRule('property'),
  isNotArray: makeOppositeRule('isArray'),
  isNotObject: makeOppositeRule('isObject'),
  isNotString: makeOppositeRule('isString'),
  isNotNumber: makeOppositeRule('isNumber'),
  isNotFunction: makeOppositeRule('isFunction'),
  isEmpty: makeOppositeRule('isNotEmpty'),
  isNotEmpty: makeOppositeRule('isEmpty'),
  isFrozen: makeOppositeRule('isNotFrozen'),
  isNotFrozen: makeOppositeRule('isFrozen'),
  fail: NOTHING,
}

/** tape and tap, on the first parameter of a test. */
export const TAP: RuleTable = {
  ...makeRuleTable(
    'equal equals is strictEqual strictEquals deepEqual deepEquals same strictSame looseEqual',
    makeValueRule(1),
  ),
  ...makeRuleTable('deepLooseEqual isEqual isEquivalent isDeeply strictDeepEqual has hasStrict', makeValueRule(1)),
  ...makeRuleTable('notEqual notEquals not isNot notStrictEqual notDeepEqual notSame strictNotSame isNotEqual', SAME),
  ...makeRuleTable('ok true assert notOk false notok', TRUTH),
  match: makeApartRule(1),
  type: makeApartRule(1),
  doesNotMatch: makeOppositeRule('match'),
  notMatch: makeOppositeRule('match'),
  throws: call('quiet', true),
  rejects: call('settled', true),
  doesNotThrow: call('loud'),
  resolves: call('broken'),
  ...makeRuleTable('error ifError ifErr', makeActualRule('new Error($word)', 'null')),
  matchSnapshot: SNAPSHOT,
  pass: NOTHING,
  fail: NOTHING,
}

/** ava, on the first parameter of a test. */
export const AVA: RuleTable = {
  ...makeRuleTable('is deepEqual like', makeValueRule(1)),
  ...makeRuleTable('not notDeepEqual', SAME),
  ...makeRuleTable('true false truthy falsy assert', TRUTH),
  regex: makeApartRule(1),
  notRegex: makeOppositeRule('regex'),
  throws: call('quiet', true),
  throwsAsync: call('settled', true),
  notThrows: call('loud'),
  notThrowsAsync: call('broken'),
  snapshot: SNAPSHOT,
  pass: NOTHING,
  fail: NOTHING,
}

/** Matchers of jest and vitest. One that is not listed is inverted with `not`. */
export const JEST: RuleTable = {
  ...makeRuleTable(
    'toBe toEqual toStrictEqual toMatchObject toHaveLength toBeInstanceOf toBeTypeOf toSatisfy',
    makeValueRule(0),
  ),
  ...makeRuleTable('toHaveBeenCalledTimes toHaveReturnedTimes toBeCalledTimes toReturnTimes', makeValueRule(0)),
  ...makeRuleTable('toHaveBeenCalledWith toBeCalledWith toHaveBeenLastCalledWith lastCalledWith', makeCallsRule(0)),
  toHaveBeenCalledExactlyOnceWith: makeCallsRule(0),
  ...makeRuleTable('toHaveBeenNthCalledWith nthCalledWith', makeCallsRule(1)),
  ...makeRuleTable('toHaveReturnedWith toHaveLastReturnedWith toHaveResolvedWith', makeValueRule(0)),
  ...makeRuleTable('toHaveNthReturnedWith toHaveNthResolvedWith', makeValueRule(1)),
  ...makeRuleTable('toContain toContainEqual toMatch', makeApartRule(0)),
  ...makeRuleTable('toThrow toThrowError', call('quiet', true)),
  toHaveProperty: makeApartRule(-1),
  toBeCloseTo: makeFarRule(0),
  ...makeRuleTable('toBeGreaterThan toBeGreaterThanOrEqual', OVER),
  ...makeRuleTable('toBeLessThan toBeLessThanOrEqual', UNDER),
  ...makeRuleTable('toBeTruthy toBeFalsy', TRUTH),
  toBeNull: makeActualRule('void 0', 'null'),
  toBeUndefined: makeActualRule('null', 'void 0'),
  toBeDefined: makeActualRule('void 0', 'null'),
  toBeNullable: makeActualRule('1', 'null'),
  toBeNaN: makeActualRule('1', 'NaN'),
  toMatchSnapshot: SNAPSHOT,
  toMatchFileSnapshot: SNAPSHOT,
  toMatchInlineSnapshot: INLINE_SNAPSHOT,
  toThrowErrorMatchingSnapshot: call('loud'),
  toThrowErrorMatchingInlineSnapshot: call('loud'),
  toEqualTypeOf: TYPES,
  toMatchTypeOf: TYPES,
}

/** Methods and properties of chai's expect and should. */
export const CHAI_EXPECT: RuleTable = {
  ...makeRuleTable('equal equals eq eql eqls a an lengthOf length', makeValueRule(0)),
  ...makeRuleTable(
    'include includes contain contains members keys key match matches string respondTo',
    makeApartRule(0),
  ),
  ...makeRuleTable('satisfy satisfies instanceof instanceOf rejectedWith', makeValueRule(0)),
  ...makeRuleTable('property ownProperty haveOwnProperty ownPropertyDescriptor', makeApartRule(-1)),
  ...makeRuleTable('throw throws Throw', call('quiet', true)),
  ...makeRuleTable('closeTo approximately', makeFarRule(0)),
  ...makeRuleTable('above gt greaterThan least gte', OVER),
  ...makeRuleTable('below lt lessThan most lte', UNDER),
  ...makeRuleTable('ok', TRUTH),
  ...makeRuleTable('within oneOf change changes increase decrease by fulfilled rejected become', NOT),
  ...makeRuleTable('called calledOnce calledTwice calledWith calledOnceWith calledWithExactly callCount', NOT),
  ...makeRuleTable('arguments extensible sealed frozen finite iterable numeric function', NOT),
  true: makeActualRule('false', 'true'),
  false: makeActualRule('true', 'false'),
  null: makeActualRule('void 0', 'null'),
  undefined: makeActualRule('null', 'void 0'),
  NaN: makeActualRule('1', 'NaN'),
  exist: makeActualRule('null', '1'),
  exists: makeActualRule('null', '1'),
  empty: makeActualRule('$word', '""'),
}

/** The name of each rule in the list of inversions. */
export function nameRule(rule: Rule): RuleName | null {
  switch (rule.turn) {
    case 'expected':
      return rule.how === 'value' ? 'expected' : rule.how === 'apart' ? 'expected_apart' : 'expected_far'
    case 'calls':
      return 'expected'
    case 'same':
      return 'expected_is_actual'
    case 'bound':
      return 'bound'
    case 'truth':
      return 'truth'
    case 'actual':
    case 'snapshot':
      return 'actual'
    case 'call':
      return 'call'
    case 'opposite':
    case 'not':
      return 'negated'
    case 'leave':
      return null
  }
}
