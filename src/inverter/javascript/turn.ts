import { findUnproved, isConstant, readTruth } from '../conditions.js'
import type { Syntax } from '../parse.js'
import { areSame, cut, insert, wrap } from '../syntax.js'
import type { Edit, LeftReason, RuleName } from '../types.js'
import { nameRule, type Rule } from './rules.js'

/** An assertion with everything that a rule can change in it. */
export interface Assertion {
  readonly name: string
  readonly rule: Rule
  readonly actual: Syntax | null
  readonly args: readonly Syntax[]
  /** Which argument is compared with the actual value. */
  readonly expectedAt: number
  /** A number that is unique in the file. */
  readonly slot: number
  readonly isNot: boolean
  /** The assertion is about a promise: its value is not available. */
  readonly isAsync: boolean
  /** Removes or adds the `not` of a chain. */
  readonly negate: readonly Edit[] | null
  /** Calls another method, if it is called on an object. */
  readonly rename: ((method: string) => readonly Edit[]) | null
}

type Turn = { readonly rule: RuleName; readonly edits: readonly Edit[] } | { readonly left: LeftReason }

/** Expected values without parts. Which part of another one is changed depends on the actual value. */
const PLAIN = /^(?:string|number|true|false|null|undefined|template_string|unary_expression|regex)$/

const EQUALITY = new Set(['toBe', 'toEqual', 'toStrictEqual', 'equal', 'equals', 'eq', 'eql', 'eqls'])

export function turnAssertion(assertion: Assertion): Turn {
  const { rule, actual, args } = assertion
  if (rule.turn === 'leave') return { left: rule.reason }
  if ([actual, ...args].some((node) => node?.type === 'spread_element')) return negateOr(assertion, 'spread_arguments')
  const compared = rule.turn === 'expected' && !assertion.isNot ? args[rule.at] : null
  if (compared !== actual && areSame(actual, compared)) return { left: 'same_on_both_sides' }
  const unproved = findUnprovedTruth(assertion)
  if (unproved !== null) return { left: unproved }
  const edits = buildEdits(assertion)
  if (edits !== null && edits !== 'negate') return { rule: nameTurn(assertion), edits }
  return negateOr(assertion, edits === null ? 'missing_arguments' : 'no_rule')
}

/** Why the assertion proves nothing though it fails when it is turned: see `conditions.ts`. */
function findUnprovedTruth({ name, rule, actual, args, isNot }: Assertion): LeftReason | null {
  if (rule.turn === 'truth') return findUnproved(actual, FALSE.test(name) === isNot)
  if (rule.turn === 'actual' && /^(?:true|false)$/.test(rule.fails))
    return findUnproved(actual, (rule.holds === 'true') !== isNot)
  const expected = rule.turn === 'expected' && rule.how === 'value' ? args[rule.at] : undefined
  if (expected === undefined || actual === null || !isConstant(expected)) return null
  if (isConstant(actual) && actual !== expected) return 'asserts_nothing'
  const truth = readTruth(expected)
  return truth === null ? null : findUnproved(actual, truth !== isNot)
}

const FALSE = /^(?:isNotOk|isFalse|notOk|notok|false|falsy|toBeFalsy)$/

function negateOr(assertion: Assertion, left: LeftReason): Turn {
  return assertion.negate === null ? { left } : { rule: 'negated', edits: assertion.negate }
}

function nameTurn(assertion: Assertion): RuleName {
  const { rule, isNot } = assertion
  if (rule.turn === 'expected' && isNot) return 'expected_is_actual'
  if (rule.turn === 'call' && rule.expected && isErrorChanged(assertion)) return 'expected_apart'
  return nameRule(rule) ?? 'negated'
}

// null: an argument is missing. 'negate': only `not` can invert it.
function buildEdits(assertion: Assertion): readonly Edit[] | 'negate' | null {
  const { rule, actual, isNot, isAsync } = assertion
  switch (rule.turn) {
    case 'expected':
      return isNot ? changeToActual(assertion) : changeExpected(assertion, rule.at, rule.how)
    case 'calls':
      return isNot ? 'negate' : changeCalls(assertion, rule.at)
    case 'same':
      return keepActual(assertion, '$kept')
    case 'bound':
      return isNot ? 'negate' : keepActual(assertion, `$${rule.to}`)
    case 'call':
      return changeCall(assertion, rule.to, rule.expected)
    case 'snapshot':
      if (isNot || isAsync) return 'negate'
      return rule.isStoredInline && assertion.args.length === 0 ? null : wrapNode(actual, '$value(', ')')
    case 'truth':
      return isAsync ? 'negate' : wrapNode(actual, '$flip(', ')')
    case 'actual':
      return isAsync ? 'negate' : wrapNode(actual, '$pick(', `, ${isNot ? rule.holds : rule.fails})`)
    case 'opposite':
      return assertion.rename?.(rule.method) ?? 'negate'
    case 'not':
    case 'leave':
      return 'negate'
  }
}

function wrapNode(node: Syntax | null | undefined, before: string, after: string): readonly Edit[] | null {
  return node == null ? null : wrap(node, before, after)
}

function changeExpected(assertion: Assertion, at: number, how: string): readonly Edit[] | null {
  const { actual, args, slot, isAsync } = assertion
  const expected = args[at === -1 ? Math.min(args.length - 1, 1) : at]
  const isKept = how === 'value' && !isAsync && actual !== null && expected !== undefined && actual !== expected
  if (!isKept || PLAIN.test(expected.type)) return wrapNode(expected, `$${how}(`, ')')
  return [...wrap(actual, `$keep(${slot}, `, ')'), ...wrap(expected, '$value(', `, ${slot})`)]
}

// The arguments become a list, so that one of them can be chosen.
function changeCalls({ actual, args, slot, isAsync }: Assertion, at: number): readonly Edit[] | 'negate' | null {
  const [first, last] = [args[at], args.at(-1)]
  if (first === undefined || last === undefined) return null
  if (isAsync || actual === null) return wrap(first, '$apart(', ')')
  const list = wrap({ start: first.start, end: last.end }, `...$called(${slot}, [`, '])')
  return [...wrap(actual, `$keep(${slot}, `, ')'), ...list]
}

function changeToActual(assertion: Assertion): readonly Edit[] | 'negate' | null {
  return EQUALITY.has(assertion.name) ? keepActual(assertion, '$kept') : 'negate'
}

function keepActual(assertion: Assertion, helper: string): readonly Edit[] | 'negate' | null {
  const { actual, args, expectedAt, slot, isAsync } = assertion
  const expected = args[expectedAt]
  if (isAsync) return 'negate'
  if (actual === null || expected === undefined) return null
  return [...wrap(actual, `$keep(${slot}, `, ')'), ...wrap(expected, `${helper}(${slot}, `, ')')]
}

// A string as second argument of `assert.throws` is a message. The value behind a name is unknown.
function isExpectedError(node: Syntax | undefined): boolean {
  if (node === undefined) return false
  return ['regex', 'object', 'new_expression', 'arrow_function', 'function_expression'].includes(node.type)
    ? true
    : /^identifier$|^member_expression$/.test(node.type) && /^(\w+\.)*[A-Z]\w*$/.test(node.text)
}

/** Whether the expected error is changed, rather than the function that throws it. */
function isErrorChanged({ args, expectedAt, isNot, negate }: Assertion): boolean {
  const expected = args[expectedAt]
  return !isNot && expected !== undefined && (negate !== null || isExpectedError(expected))
}

function changeCall(assertion: Assertion, to: string, hasExpected: boolean): readonly Edit[] | 'negate' | null {
  const { actual, args, expectedAt, isNot, isAsync } = assertion
  if (hasExpected && isErrorChanged(assertion)) return wrapNode(args[expectedAt], '$apart(', ')')
  if (isAsync) return 'negate'
  return wrapNode(actual, `$${isNot ? 'loud' : to}(`, ')')
}

/** `$negate(x)` is `x` or `x.not`, `$restore(x)` the opposite. */
export function negateChain(
  root: Syntax,
  not: { readonly object: Syntax; readonly member: Syntax } | null,
): readonly Edit[] {
  if (not === null) return wrap(root, '$negate(', ')')
  return [...wrap(not.object, '$restore(', ')'), cut(not.object.end, not.member.end)]
}

/** `object.method` becomes `object[$pick('method', 'other')]`. */
export function pickMethod(object: Syntax, callee: Syntax, names: readonly [string, string]): readonly Edit[] {
  return [cut(object.end, callee.end), insert(callee.end, `[$pick('${names[0]}', '${names[1]}')]`)]
}
