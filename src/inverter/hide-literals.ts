import type { LanguageRules, SourceFile } from './languages.js'
import type { Syntax } from './parse.js'
import { findAround, getField, isOverlapping, listNamedChildren, replace, walk } from './syntax.js'
import type { TestRange } from './test-range.js'
import type { Edit, Language, Site } from './types.js'

const LETTERS = 'abcdefghijklmnop'
const CHARS_MAX = 200
const DIGITS_MAX = 15

/** Characters that hidden literals may contain: none that would end a string or that helper templates use. */
export const SIGNS = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).filter(
  (sign) => !/["'`\\$#@]/.test(sign),
)

/**
 * Writes numbers and strings of tests as letters that the helper decodes, in both twins. Code under test that searches
 * for the expected value in the text of its test, or among its caller's constants, finds it only in the original.
 */
export function hideLiterals(
  file: SourceFile,
  rules: LanguageRules,
  found: { readonly tests: readonly TestRange[]; readonly sites: readonly Site[]; readonly edits: readonly Edit[] },
): readonly Edit[] {
  const isTyped = file.language === 'typescript' || file.language === 'tsx'
  const sites = new Set(found.sites.map(placeOf))
  const starts = new Set(found.sites.map(({ start }) => start))
  const tests = new Set(found.tests.map(placeOf))
  const changed = found.edits.filter(({ start, end }) => end > start).toSorted((a, b) => a.start - b.start)
  const edits: Edit[] = []
  let at = 0
  for (const node of walk(file.root)) {
    const text = hide(node, file.change.signs)
    if (text === null || !isValue(node, isTyped) || isInFormat(node, file.language)) continue
    if (!isInSite(node, sites, starts) && (isTyped || !isDirectlyIn(node, tests, rules.functions))) continue
    const edit = replace(node, text)
    while ((changed[at]?.end ?? Number.POSITIVE_INFINITY) <= node.start) at += 1
    if (!changed.slice(at, at + 2).some((other) => isOverlapping(other, edit))) edits.push(edit)
  }
  return edits
}

function placeOf({ start, end }: { readonly start: number; readonly end: number }): string {
  return `${start}-${end}`
}

function hide({ type, text }: Syntax, signs: string): string | null {
  if (/^(number|integer|float)$/.test(type))
    return /^(0|[1-9]\d*)(\.\d+)?$/.test(text) && text.length <= DIGITS_MAX ? `$digits('${encode(text, signs)}')` : null
  if (type !== 'string') return null
  const [, , inner = ''] = /^(['"])(.*)\1$/.exec(text) ?? []
  const isPlain = inner !== '' && inner.length <= CHARS_MAX && [...inner].every((sign) => signs.includes(sign))
  return isPlain ? `$shown('${encode(inner, signs)}')` : null
}

function encode(text: string, signs: string): string {
  const indexes = [...text].map((sign) => signs.indexOf(sign))
  return indexes.map((index) => `${LETTERS[index >> 4]}${LETTERS[index % 16]}`).join('')
}

const PLACES = new Set([
  ...['arguments', 'array', 'parenthesized_expression', 'unary_expression'],
  ...['argument_list', 'list', 'tuple', 'set', 'unary_operator', 'comparison_operator', 'keyword_argument'],
])
// In typed languages, a comparison may narrow a type.
const UNTYPED_PLACES = new Set([
  ...['binary_expression', 'ternary_expression', 'variable_declarator', 'assignment_expression', 'return_statement'],
  ...['binary_operator', 'boolean_operator', 'conditional_expression', 'assignment', 'expression_list'],
])
// Runners and bundlers read the arguments of these before they run.
const READ_EARLY = /(?:^|\.)(?:require|import|\w*[mM]ock|\w*Actual|hoisted|resolve)$/

/** Whether any expression with the same value can replace it. */
function isValue(node: Syntax, isTyped: boolean): boolean {
  const { parent } = node
  if (parent === null) return false
  if (parent.type === 'pair') return node.field === 'value'
  if (!PLACES.has(parent.type) && (isTyped || !UNTYPED_PLACES.has(parent.type))) return false
  if (parent.type !== 'arguments' && parent.type !== 'argument_list') return true
  const names =
    listNamedChildren(parent)[0] === node && listNamedChildren(parent).some(({ type }) => /function/.test(type))
  return !names && !READ_EARLY.test(getField(parent.parent, 'function')?.text ?? '')
}

// The range of `expect(actual).toBe(expected)` ends before the parentheses of the matcher.
function isInSite(node: Syntax, sites: ReadonlySet<string>, starts: ReadonlySet<number>): boolean {
  for (let around: Syntax | null = node; around !== null; around = around.parent)
    if (sites.has(placeOf(around)) || (around.type === 'call_expression' && starts.has(around.start))) return true
  return false
}

// Before Python 3.12 a part of an f-string cannot hold the quotes of the string.
function isInFormat(node: Syntax, language: Language): boolean {
  return language === 'python' && findAround(node, ['interpolation']) !== null
}

// A function in a test may be sent elsewhere as text, without the helper.
function isDirectlyIn(node: Syntax, tests: ReadonlySet<string>, functions: readonly string[]): boolean {
  const around = findAround(node, functions)
  return [around, around?.parent?.parent].some((one) => one != null && tests.has(placeOf(one)))
}
