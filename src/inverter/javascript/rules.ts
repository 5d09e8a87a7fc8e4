import type { LeftReason, RuleName } from '../types.js'

/**
 * How an assertion of JavaScript is turned around. Arguments are counted from 0. To support another library, add its methods to
 * a table below, its modules to `modules.ts`, and fixtures to `test/inverter/javascript-fixtures.ts`.
 */
export type Rule =
  /** The expected value is changed. `apart`: to one that nothing can contain; `far`: beyond any tolerance. */
  | { readonly turn: 'expected'; readonly at: number; readonly how: 'value' | 'apart' | 'far' }
  /** A comparison that must not hold: the expected value becomes the actual one. */
  | { readonly turn: 'same' }
  /** The bound of a comparison is moved past the actual value. */
  | { readonly turn: 'bound'; readonly to: 'over' | 'under' }
  /** The actual value is negated. */
  | { readonly turn: 'truth' }
  /** The actual value is replaced: by one that fails, or behind `not` by one for which the matcher holds. */
  | { readonly turn: 'actual'; readonly fails: string; readonly holds: string }
  /** The actual value is changed, as its expected value is stored elsewhere. */
  | { readonly turn: 'snapshot'; readonly isStoredInline: boolean }
  /** The function, or promise, that has to fail is replaced by one that does not, or the other way round. */
  | { readonly turn: 'call'; readonly to: 'quiet' | 'loud' | 'settled' | 'broken'; readonly expected: boolean }
  /** Another method is called. */
  | { readonly turn: 'opposite'; readonly method: string }
  /** The chain gets, or loses, its `not`. */
  | { readonly turn: 'not' }
  | { readonly turn: 'leave'; readonly reason: LeftReason }

export type RuleTable = Readonly<Record<string, Rule>>

const value = (at: number): Rule => ({ turn: 'expected', at, how: 'value' })
const apart = (at: number): Rule => ({ turn: 'expected', at, how: 'apart' })
const far = (at: number): Rule => ({ turn: 'expected', at, how: 'far' })
const actual = (fails: string, holds: string): Rule => ({ turn: 'actual', fails, holds })
const call = (to: 'quiet' | 'loud' | 'settled' | 'broken', expected = false): Rule => ({ turn: 'call', to, expected })
const opposite = (method: string): Rule => ({ turn: 'opposite', method })
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

function eachOf(names: string, rule: Rule): RuleTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]))
}

/** node:assert, the context of node:test (`t.assert`), uvu/assert. */
export const NODE_ASSERT: RuleTable = {
  ...eachOf('equal strictEqual deepEqual deepStrictEqual partialDeepStrictEqual is', value(1)),
  ...eachOf('notEqual notStrictEqual notDeepEqual notDeepStrictEqual', SAME),
  ...eachOf('ok assert', TRUTH),
  match: apart(1),
  doesNotMatch: { turn: 'opposite', method: 'match' },
  throws: call('quiet', true),
  rejects: call('settled', true),
  doesNotThrow: call('loud'),
  doesNotReject: call('broken'),
  ifError: actual('new Error($word)', 'null'),
  snapshot: SNAPSHOT,
  fileSnapshot: SNAPSHOT,
  fail: NOTHING,
}

/** chai's assert. */
export const CHAI_ASSERT: RuleTable = {
  ...eachOf('equal strictEqual deepEqual deepStrictEqual eql lengthOf typeOf propertyVal isA', value(1)),
  ...eachOf('notEqual notStrictEqual notDeepEqual', SAME),
  ...eachOf('sameMembers sameDeepMembers sameOrderedMembers sameDeepOrderedMembers include deepInclude', apart(1)),
  ...eachOf('includeMembers includeDeepMembers match property hasAllKeys hasAnyKeys containsAllKeys', apart(1)),
  ...eachOf('nestedInclude nestedProperty ownInclude instanceOf hasAllDeepKeys', apart(1)),
  ...eachOf('closeTo approximately', far(1)),
  ...eachOf('ok assert isOk isNotOk isTrue isFalse notOk', TRUTH),
  ...eachOf('isAbove isAtLeast', OVER),
  ...eachOf('isBelow isAtMost', UNDER),
  ...eachOf('throws throw Throw', call('quiet', true)),
  isRejected: call('settled'),
  rejects: call('settled', true),
  isFulfilled: call('broken'),
  propertyVal: value(2),
  nestedPropertyVal: value(2),
  deepPropertyVal: value(2),
  oneOf: actual('$word', 'void 0'),
  isNull: actual('void 0', 'null'),
  isNotNull: actual('null', 'void 0'),
  isUndefined: actual('null', 'void 0'),
  isDefined: actual('void 0', 'null'),
  exists: actual('null', '1'),
  notExists: actual('1', 'null'),
  isNaN: actual('1', 'NaN'),
  isNotNaN: actual('NaN', '1'),
  doesNotThrow: call('loud'),
  ...eachOf('isArray isObject isBoolean isFunction', actual('$word', 'null')),
  ...eachOf('isString isNumber', actual('null', '1')),
  notInclude: opposite('include'),
  notDeepInclude: opposite('deepInclude'),
  notMatch: opposite('match'),
  notInstanceOf: opposite('instanceOf'),
  notTypeOf: opposite('typeOf'),
  notProperty: opposite('property'),
  isNotArray: opposite('isArray'),
  isNotObject: opposite('isObject'),
  isNotString: opposite('isString'),
  isNotNumber: opposite('isNumber'),
  isNotFunction: opposite('isFunction'),
  isEmpty: opposite('isNotEmpty'),
  isNotEmpty: opposite('isEmpty'),
  isFrozen: opposite('isNotFrozen'),
  isNotFrozen: opposite('isFrozen'),
  fail: NOTHING,
}

/** tape and tap, on the first parameter of a test. */
export const TAP: RuleTable = {
  ...eachOf('equal equals is strictEqual strictEquals deepEqual deepEquals same strictSame looseEqual', value(1)),
  ...eachOf('deepLooseEqual isEqual isEquivalent isDeeply strictDeepEqual has hasStrict', value(1)),
  ...eachOf('notEqual notEquals not isNot notStrictEqual notDeepEqual notSame strictNotSame isNotEqual', SAME),
  ...eachOf('ok true assert notOk false notok', TRUTH),
  match: apart(1),
  type: apart(1),
  doesNotMatch: opposite('match'),
  notMatch: opposite('match'),
  throws: call('quiet', true),
  rejects: call('settled', true),
  doesNotThrow: call('loud'),
  resolves: call('broken'),
  ...eachOf('error ifError ifErr', actual('new Error($word)', 'null')),
  matchSnapshot: SNAPSHOT,
  pass: NOTHING,
  fail: NOTHING,
}

/** ava, on the first parameter of a test. */
export const AVA: RuleTable = {
  ...eachOf('is deepEqual like', value(1)),
  ...eachOf('not notDeepEqual', SAME),
  ...eachOf('true false truthy falsy assert', TRUTH),
  regex: apart(1),
  notRegex: opposite('regex'),
  throws: call('quiet', true),
  throwsAsync: call('settled', true),
  notThrows: call('loud'),
  notThrowsAsync: call('broken'),
  snapshot: SNAPSHOT,
  pass: NOTHING,
  fail: NOTHING,
}

/** Matchers of jest and vitest. One that no table names is turned by `not`. */
export const JEST: RuleTable = {
  ...eachOf('toBe toEqual toStrictEqual toMatchObject toHaveLength toBeInstanceOf toBeTypeOf toSatisfy', value(0)),
  ...eachOf('toHaveBeenCalledTimes toHaveReturnedTimes toBeCalledTimes toReturnTimes', value(0)),
  ...eachOf('toHaveBeenCalledWith toBeCalledWith toHaveBeenLastCalledWith lastCalledWith', value(0)),
  ...eachOf('toHaveReturnedWith toHaveLastReturnedWith toHaveBeenCalledExactlyOnceWith toHaveResolvedWith', value(0)),
  ...eachOf('toHaveBeenNthCalledWith nthCalledWith toHaveNthReturnedWith toHaveNthResolvedWith', value(1)),
  ...eachOf('toContain toContainEqual toMatch', apart(0)),
  ...eachOf('toThrow toThrowError', call('quiet', true)),
  toHaveProperty: apart(-1),
  toBeCloseTo: far(0),
  ...eachOf('toBeGreaterThan toBeGreaterThanOrEqual', OVER),
  ...eachOf('toBeLessThan toBeLessThanOrEqual', UNDER),
  ...eachOf('toBeTruthy toBeFalsy', TRUTH),
  toBeNull: actual('void 0', 'null'),
  toBeUndefined: actual('null', 'void 0'),
  toBeDefined: actual('void 0', 'null'),
  toBeNullable: actual('1', 'null'),
  toBeNaN: actual('1', 'NaN'),
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
  ...eachOf('equal equals eq eql eqls a an lengthOf length', value(0)),
  ...eachOf('include includes contain contains members keys key match matches string respondTo', apart(0)),
  ...eachOf('satisfy satisfies instanceof instanceOf rejectedWith', value(0)),
  ...eachOf('property ownProperty haveOwnProperty ownPropertyDescriptor', apart(-1)),
  ...eachOf('throw throws Throw', call('quiet', true)),
  ...eachOf('closeTo approximately', far(0)),
  ...eachOf('above gt greaterThan least gte', OVER),
  ...eachOf('below lt lessThan most lte', UNDER),
  ...eachOf('ok', TRUTH),
  ...eachOf('within oneOf change changes increase decrease by fulfilled rejected become', NOT),
  ...eachOf('called calledOnce calledTwice calledWith calledOnceWith calledWithExactly callCount', NOT),
  ...eachOf('arguments extensible sealed frozen finite iterable numeric function', NOT),
  true: actual('false', 'true'),
  false: actual('true', 'false'),
  null: actual('void 0', 'null'),
  undefined: actual('null', 'void 0'),
  NaN: actual('1', 'NaN'),
  exist: actual('null', '1'),
  exists: actual('null', '1'),
  empty: actual('$word', '""'),
}

/** What each rule is called in the list of what was turned. */
export function nameRule(rule: Rule): RuleName | null {
  switch (rule.turn) {
    case 'expected':
      return rule.how === 'value' ? 'expected' : rule.how === 'apart' ? 'expected_apart' : 'expected_far'
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
