import type { Syntax } from './parse.js'
import { getField, listNamedChildren, walk } from './syntax.js'
import type { LeftReason } from './types.js'

/**
 * Why negating a condition proves nothing: it names no value that code could have made (`true`, `1 === 1`), or it has
 * the wanted outcome as soon as one of several parts does, and one of them may always do (`got === 5 || true`).
 */
export function findUnproved(condition: Syntax | null | undefined, wanted: boolean): LeftReason | null {
  if (condition == null) return null
  if (isConstant(condition)) return 'asserts_nothing'
  return hasAlternatives(condition, wanted) ? 'joined_conditions' : null
}

const PARENTHESES = /^(?:parenthesized_expression|as_expression|satisfies_expression|non_null_expression)$/
const CHOICES = /^(?:ternary_expression|conditional_expression)$/

/** `a || b` and `c ? a : b` where it has to hold, `a && b` where it must not. */
export function hasAlternatives(condition: Syntax, wanted: boolean): boolean {
  const [first] = listNamedChildren(condition)
  if (first === undefined) return false
  if (PARENTHESES.test(condition.type)) return hasAlternatives(first, wanted)
  if (CHOICES.test(condition.type)) return true
  if (isNegation(condition)) return hasAlternatives(first, !wanted)
  const converted = findConverted(condition)
  if (converted !== null) return hasAlternatives(converted, wanted)
  const compared = findComparedTruth(condition)
  if (compared !== null) return hasAlternatives(compared.condition, compared.isTrue === wanted)
  const joint = readJoint(condition)
  if (joint === null) return false
  // `found ?? false` holds only if `found` does.
  const parts = listNamedChildren(condition).filter(({ type, text }) => !isNeutral(joint, type, text))
  if (parts.length === 1 || joint !== (wanted ? 'or' : 'and'))
    return parts.every((part) => hasAlternatives(part, wanted))
  return true
}

function isNegation({ type, children }: Syntax): boolean {
  return type === 'not_operator' || (type === 'unary_expression' && children[0]?.text === '!')
}

/** The value in `Boolean(value)` and `bool(value)`. */
function findConverted(call: Syntax): Syntax | null {
  if (!/^(?:Boolean|bool)$/.test(getField(call, 'function')?.text ?? '')) return null
  const given = listNamedChildren(getField(call, 'arguments'))
  return given.length === 1 ? (given[0] ?? null) : null
}

const EQUALITY = /^(?:[!=]==?|is(?: not)?)$/

/** The condition in `condition === true`, `condition is not False`, and whether it has to hold for that. */
function findComparedTruth(comparison: Syntax): { readonly condition: Syntax; readonly isTrue: boolean } | null {
  const [left, right] = listNamedChildren(comparison)
  const sign = comparison.children.filter(({ isNamed }) => !isNamed).map(({ text }) => text)
  if (left === undefined || right === undefined || !EQUALITY.test(sign.join(' '))) return null
  const isEqual = !/^!|not/.test(sign.join(' '))
  const [condition, truth] = readTruth(left) === null ? [left, readTruth(right)] : [right, readTruth(left)]
  return truth === null ? null : { condition, isTrue: truth === isEqual }
}

/** What a literal says: `true`, `False`, `!0`; null if it is something else. */
export function readTruth({ text }: Syntax): boolean | null {
  if (/^(?:true|True|false|False)$/.test(text)) return /^[tT]/.test(text)
  const [, signs = '', digit] = /^(!{1,9})([01])$/.exec(text) ?? []
  return digit === undefined ? null : (digit === '1') === (signs.length % 2 === 0)
}

function readJoint(condition: Syntax): 'or' | 'and' | null {
  if (!/^(?:binary_expression|boolean_operator)$/.test(condition.type)) return null
  const sign = condition.children.find(({ isNamed }) => !isNamed)?.text ?? ''
  if (/^(?:\|\||\?\?|or)$/.test(sign)) return 'or'
  return /^(?:&&|and)$/.test(sign) ? 'and' : null
}

function isNeutral(joint: 'or' | 'and', type: string, text: string): boolean {
  return joint === 'or' ? /^(?:false|null|undefined|none)$/.test(type) : type === 'true' && /^true$/i.test(text)
}

const LITERAL =
  /^(?:number|integer|float|string|string_fragment|string_start|string_content|string_end|escape_sequence|template_string|true|false|null|undefined|none)$/
const OPERATION =
  /^(?:parenthesized_expression|unary_expression|unary_operator|not_operator|binary_expression|binary_operator|boolean_operator|comparison_operator)$/

/** Whether an expression consists of plain literals. */
export function isConstant(expression: Syntax): boolean {
  return walk(expression).every(({ isNamed, type }) => !isNamed || LITERAL.test(type) || OPERATION.test(type))
}
