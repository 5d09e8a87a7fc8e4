import { findUnproved, isConstant } from '../conditions.js'
import type { Syntax } from '../parse.js'
import { areSame, getField, insert, listNamedChildren, replace, walk, wrap } from '../syntax.js'
import type { Edit, LeftReason, RuleName, Site } from '../types.js'
import { COMPARISONS, MOCK, PYTEST, type Rule, UNITTEST } from './rules.js'
import { stepOf } from './steps.js'

type Turn = Site['turn']

/** Every assertion of a file, outer ones first. */
export function* findSites(root: Syntax, text: string): Generator<Site> {
  const imported = readPytestNames(root)
  let slot = 0
  for (const node of walk(root)) {
    slot += 1
    const found =
      node.type === 'assert_statement'
        ? readAssert(node, slot)
        : node.type === 'call'
          ? readCall(node, imported, slot)
          : []
    for (const site of found) yield { ...site, step: stepOf(node, text) }
  }
}

/** Names imported by `from pytest import raises`. */
function readPytestNames(root: Syntax): ReadonlySet<string> {
  const statements = listNamedChildren(root).filter(
    (node) => node.type === 'import_from_statement' && getField(node, 'module_name')?.text === 'pytest',
  )
  return new Set(statements.flatMap((node) => listNamedChildren(node).map(({ text }) => text)))
}

function* readAssert(node: Syntax, slot: number): Generator<Site> {
  const [condition] = listNamedChildren(node)
  if (condition === undefined) return
  const parts = splitAnd(condition)
  for (const [index, part] of parts.entries()) {
    const { turn: only, sign } = turnCondition(part, slot * 100 + index)
    const isPart = parts.length > 1 && 'edits' in only
    const turn = isPart ? { ...only, edits: [...wrap(part, '$seen(', ')'), ...only.edits] } : only
    yield { start: part.start, end: part.end, line: part.line, library: 'assert', assertion: `assert${sign}`, turn }
  }
}

function unwrap(node: Syntax): Syntax {
  const [inner] = listNamedChildren(node)
  return node.type === 'parenthesized_expression' && inner !== undefined ? unwrap(inner) : node
}

/** The parts of `a and b`: each has to hold. */
function splitAnd(node: Syntax): readonly Syntax[] {
  const inner = unwrap(node)
  const isAnd = inner.type === 'boolean_operator' && inner.children.some(({ type }) => type === 'and')
  return isAnd ? listNamedChildren(inner).flatMap(splitAnd).slice(0, 99) : [node]
}

function turnCondition(part: Syntax, slot: number): { readonly turn: Turn; readonly sign: string } {
  const inner = unwrap(part)
  const operands = inner.type === 'comparison_operator' ? listNamedChildren(inner) : []
  const sign = inner.children.filter(({ isNamed }) => !isNamed).map(({ text }) => text)
  const kind = findAskedClass(inner)
  if (kind !== null) return { turn: { rule: 'expected', edits: wrap(kind, '$kind(', ')') }, sign: ' isinstance' }
  const comparison = operands.length === 2 ? COMPARISONS[sign.join(' ')] : undefined
  const [left, right] = operands
  if (comparison === undefined || left === undefined || right === undefined) {
    const unproved = findUnproved(part, true)
    const turn: Turn = unproved === null ? { rule: 'truth', edits: wrap(part, '$flip(', ')') } : { left: unproved }
    return { turn, sign: '' }
  }
  if (comparison.rule === 'expected' && areSame(left, right))
    return { turn: { left: 'same_on_both_sides' }, sign: ` ${sign.join(' ')}` }
  const unproved = comparison.rule === 'expected' ? findUnprovedValue(left, right) : null
  if (unproved !== null) return { turn: { left: unproved }, sign: ` ${sign.join(' ')}` }
  return {
    turn: { rule: comparison.rule, edits: compare(comparison.helper, left, right, slot) },
    sign: ` ${sign.join(' ')}`,
  }
}

/** Why comparing with a literal proves nothing: see `conditions.ts`. */
function findUnprovedValue(left: Syntax | undefined, right: Syntax | undefined): LeftReason | null {
  if (left === undefined || right === undefined) return null
  if (isConstant(left) && isConstant(right)) return 'asserts_nothing'
  const [truth, condition] = /^(?:true|false)$/.test(left.type) ? [left, right] : [right, left]
  return /^(?:true|false)$/.test(truth.type) ? findUnproved(condition, truth.type === 'true') : null
}

/**
 * The class in `isinstance(value, Class)`. If it were negated, a replaced `isinstance` that always agrees would fail
 * like an honest one.
 */
function findAskedClass(call: Syntax): Syntax | null {
  const isAsking = call.type === 'call' && getField(call, 'function')?.text === 'isinstance'
  const given = isAsking ? listNamedChildren(getField(call, 'arguments')) : []
  return given.length === 2 && given.every(({ type }) => !/splat|keyword/.test(type)) ? (given[1] ?? null) : null
}

function compare(helper: string, left: Syntax, right: Syntax, slot: number): readonly Edit[] {
  if (helper === 'value') {
    const expected = chooseExpected(left, right)
    return expected === right ? changeExpected(left, right, slot) : wrap(expected, '$value(', ')')
  }
  if (helper === 'apart') return wrap(left, '$apart(', ')')
  return [...wrap(left, `$keep(${slot}, `, ')'), ...wrap(right, `$${helper}(${slot}, `, ')')]
}

const LITERALS = /^(integer|float|string|concatenated_string|true|false|none|list|tuple|set|dictionary|unary_operator)$/

const PLAIN = /^(integer|float|string|concatenated_string|true|false|none|unary_operator)$/

/** Which part of an expected value is changed depends on the actual one, which is known before it. */
function changeExpected(actual: Syntax, expected: Syntax, slot: number): readonly Edit[] {
  if (PLAIN.test(unwrap(expected).type)) return wrap(expected, '$value(', ')')
  return [...wrap(actual, `$keep(${slot}, `, ')'), ...wrap(expected, '$value(', `, ${slot})`)]
}

/** The side that is written down, else the one that calls nothing, else the right one. */
function chooseExpected(left: Syntax, right: Syntax): Syntax {
  const sides = [right, left]
  const callsNothing = (side: Syntax): boolean => !walk(side).some(({ type }) => /^(call|await)$/.test(type))
  return sides.find((side) => LITERALS.test(unwrap(side).type)) ?? sides.find(callsNothing) ?? right
}

function* readCall(node: Syntax, imported: ReadonlySet<string>, slot: number): Generator<Site> {
  const callee = getField(node, 'function')
  const found = callee === null ? null : findRule(callee, imported)
  if (found === null || callee === null) return
  const { library, name, rule } = found
  const turn = turnCall({ rule, slot: slot * 100, callee, list: getField(node, 'arguments'), name })
  yield { start: node.start, end: node.end, line: node.line, library, assertion: name, turn }
}

interface FoundRule {
  readonly library: string
  readonly name: string
  readonly rule: Rule
}

function findRule(callee: Syntax, imported: ReadonlySet<string>): FoundRule | null {
  if (callee.type === 'identifier') {
    const rule = imported.has(callee.text) ? PYTEST[callee.text] : undefined
    return rule === undefined ? null : { library: 'pytest', name: callee.text, rule }
  }
  const name = getField(callee, 'attribute')?.text ?? ''
  const object = getField(callee, 'object')?.text ?? ''
  const tables = [
    { library: 'pytest', rule: object === 'pytest' ? PYTEST[name] : undefined },
    { library: 'unittest', rule: /^(self|cls|testcase|case|tc|test_case)$/.test(object) ? UNITTEST[name] : undefined },
    { library: 'unittest.mock', rule: MOCK[name] },
  ]
  for (const { library, rule } of tables) if (rule !== undefined) return { library, name, rule }
  return /^self$|^cls$/.test(object) && /^assert[A-Z]/.test(name)
    ? { library: 'unittest', name, rule: { turn: 'leave', reason: 'no_rule' } }
    : null
}

interface Call {
  readonly rule: Rule
  readonly slot: number
  readonly callee: Syntax
  readonly list: Syntax | null
  readonly name: string
}

function turnCall(call: Call): Turn {
  const { rule } = call
  if (rule.turn === 'leave') return { left: rule.reason }
  const all = listNamedChildren(call.list)
  if (all.some(({ type }) => /splat/.test(type))) return { left: 'spread_arguments' }
  if (rule.turn === 'opposite') return { rule: nameRule(rule), edits: pickMethod(call.callee, call.name, rule.method) }
  const positional = all.filter(({ type }) => type !== 'keyword_argument')
  if (nameRule(rule) === 'expected' && areSame(positional[0], positional[1])) return { left: 'same_on_both_sides' }
  const unproved = findUnprovedCall(call, positional)
  if (unproved !== null) return { left: unproved }
  const edits = editCall(call, all, positional)
  return edits === null ? { left: 'missing_arguments' } : { rule: nameRule(rule), edits }
}

function findUnprovedCall({ rule, name }: Call, [first, second]: readonly Syntax[]): LeftReason | null {
  if (rule.turn !== 'argument') return null
  if (rule.rule === 'truth') return findUnproved(first, name !== 'assertFalse')
  return rule.helper === 'value' && rule.at === 1 ? findUnprovedValue(first, second) : null
}

export function nameRule(rule: Rule): RuleName {
  if (rule.turn === 'argument' || rule.turn === 'pair') return rule.rule
  if (rule.turn === 'regex' || rule.turn === 'match') return 'expected_apart'
  if (rule.turn === 'opposite') return 'negated'
  return rule.turn === 'actual' ? 'actual' : 'expected'
}

function editCall(call: Call, all: readonly Syntax[], positional: readonly Syntax[]): readonly Edit[] | null {
  const { rule, slot, callee, name } = call
  const [first, second] = positional
  switch (rule.turn) {
    case 'argument': {
      const at = positional[rule.at]
      if (at === undefined) return null
      const isCompared = rule.helper === 'value' && first !== undefined && at === second
      return isCompared ? changeExpected(first, second, slot) : wrap(at, `$${rule.helper}(`, ')')
    }
    case 'pair':
      if (first === undefined || second === undefined) return null
      return [...wrap(first, `$keep(${slot}, `, ')'), ...wrap(second, `$${rule.helper}(${slot}, `, ')')]
    case 'actual':
      return first === undefined ? null : wrap(first, '$pick(', `, ${rule.fails})`)
    case 'regex': {
      const method = getField(callee, 'attribute')
      if (first === undefined || method === null) return null
      return [replace(method, rule.method), { ...insert(first.end, ", $pick('', $word)"), closes: true }]
    }
    case 'match':
      return name === 'deprecated_call' ? editDeprecated(call.list, all, first) : editMatch(name, all, [first, second])
    case 'called_with': {
      const given = first ?? getField(all[0], 'value')
      return given === null ? pickMethod(callee, name, 'assert_not_called') : wrap(given, '$value(', ')')
    }
    default:
      return null
  }
}

// pytest.raises(E), pytest.raises(E, match='…'), pytest.raises(E, function, …)
function editMatch(
  name: string,
  all: readonly Syntax[],
  [first, second]: readonly (Syntax | undefined)[],
): readonly Edit[] | null {
  if (second !== undefined) return name === 'raises' ? wrap(second, '$quiet(', ')') : callNothing(second)
  const match = all.find((node) => getField(node, 'name')?.text === 'match')
  const pattern = getField(match, 'value')
  if (pattern !== null) return wrap(pattern, '$regex(', ')')
  return first === undefined ? null : [{ ...insert(first.end, ', match=$pick(None, $word)'), closes: true }]
}

function callNothing(routine: Syntax): readonly Edit[] {
  return wrap(routine, '$pick(', ', lambda *_, **__: None)')
}

// pytest.deprecated_call(), pytest.deprecated_call(match='…'), pytest.deprecated_call(function, …)
function editDeprecated(
  list: Syntax | null,
  all: readonly Syntax[],
  first: Syntax | undefined,
): readonly Edit[] | null {
  if (first !== undefined) return callNothing(first)
  if (all.length > 0) return editMatch('deprecated_call', all, [])
  return list === null ? null : [insert(list.start + 1, 'match=$pick(None, $word)')]
}

function pickMethod(callee: Syntax, name: string, other: string): readonly Edit[] {
  const object = getField(callee, 'object')
  if (object === null) return []
  return [
    insert(callee.start, 'getattr('),
    { start: object.end, end: callee.end, text: `, $pick('${name}', '${other}'))` },
  ]
}
