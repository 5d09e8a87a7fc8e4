import { hasAlternatives } from '../conditions.js'
import type { LiteralChange } from '../literals.js'
import type { Syntax } from '../parse.js'
import { findAround, getField, insert, listNamedChildren, replace, walk, wrap } from '../syntax.js'
import type { Edit, LeftReason, Site } from '../types.js'
import { changeLiteral } from './literal.js'
import { FAILING } from './rules.js'
import { parseSelector, type Scope } from './scope.js'
import { readTestify } from './testify.js'

export function* findSites(root: Syntax, scope: Scope): Generator<Site> {
  for (const node of walk(root)) {
    const site = readSite(node, scope)
    if (site !== null) yield site
  }
}

function readSite(node: Syntax, scope: Scope): Site | null {
  if (node.type === 'if_statement') return readIf(node, scope) ?? readReturnOrFail(node, scope)
  if (node.type === 'expression_case') return readCase(node, scope)
  if (node.type === 'comment') return readOutput(node, scope)
  return node.type === 'call_expression' ? readTestify(node, scope) : null
}

/** The name of the test's handle, if the statement fails the test. */
function findFailingHandle(statement: Syntax, { handles }: Scope): string | null {
  const call = statement.type === 'expression_statement' ? listNamedChildren(statement)[0] : undefined
  const selector = call?.type === 'call_expression' ? parseSelector(getField(call, 'function')) : null
  if (selector === null || !FAILING.includes(selector.name) || !handles.has(selector.object.text)) return null
  return selector.object.text
}

function listStatements(block: Syntax | null): readonly Syntax[] {
  return listNamedChildren(block).flatMap((node) => (node.type === 'statement_list' ? listNamedChildren(node) : [node]))
}

function findFailingBlock(block: Syntax | null, scope: Scope): string | null {
  if (block?.type !== 'block') return null
  for (const statement of listStatements(block)) {
    const handle = findFailingHandle(statement, scope) ?? findFailingBranches(statement, scope)
    if (handle !== null) return handle
  }
  return null
}

function findFailingBranches(statement: Syntax, scope: Scope): string | null {
  if (statement.type !== 'if_statement' || getField(statement, 'alternative') === null) return null
  const handle = findFailingBlock(getField(statement, 'alternative'), scope)
  return handle === null ? null : findFailingBlock(getField(statement, 'consequence'), scope)
}

function makeSite(node: Syntax, assertion: string, library = 'testing'): Omit<Site, 'turn'> {
  return { start: node.start, end: node.end, line: node.line, library, assertion }
}

// The test stops where it fails: later code was written for values that passed the check, and a panic ends every test.
function stop(at: number, handle: string, { typed }: Scope): Edit {
  return insert(at, ` ${handle}.${typed.has(handle) ? 'Fatal("assertion failed")' : 'FailNow()'}; `)
}

function readIf(node: Syntax, scope: Scope): Site | null {
  const condition = getField(node, 'condition')
  const then = getField(node, 'consequence')
  const other = getField(node, 'alternative')
  const [thenFails, otherFails] = [findFailingBlock(then, scope), findFailingBlock(other, scope)]
  if (condition === null || (thenFails === null) === (otherFails === null)) return null
  const place = makeSite(node, 'if fail')
  if (isInGoroutine(node)) return { ...place, turn: { left: 'not_on_test_goroutine' } }
  if (comparesWithItself(condition)) return { ...place, turn: { left: 'same_on_both_sides' } }
  const unproved = findUnproved(condition, scope, thenFails === null)
  if (unproved !== null) return { ...place, turn: { left: unproved } }
  const literal = thenFails === null ? null : changeCompared(condition, scope.change)
  if (literal !== null) return { ...place, turn: { rule: 'literal', edits: literal } }
  const block = thenFails === null ? other : then
  const handle = thenFails ?? otherFails
  if (block === null || handle === null) return null
  const edits: Edit[] = [...wrap(condition, '!(', ')'), stop(block.start + 1, handle, scope)]
  // If another inverted assertion changed the value, later code would panic: a test that failed before stays failed.
  const guards = other === null && scope.typed.has(handle) && /[!=]= ?nil$/.test(condition.text)
  if (guards) edits.push({ ...insert(node.end, ` else { ${handle}.SkipNow() }`), closes: true })
  return { ...place, turn: { rule: 'negated', edits } }
}

/**
 * Why turning the condition would prove nothing: it holds no value that code could have made (`false`, `t == nil`), or
 * the test fails only when several conditions meet, which may never happen (`got != 5 && t == nil`).
 */
function findUnproved(condition: Syntax, { handles }: Scope, wanted: boolean): LeftReason | null {
  if (hasAlternatives(condition, wanted)) return 'joined_conditions'
  const names = [...walk(condition)].filter(({ type }) => type === 'identifier').map(({ text }) => text)
  return names.every((name) => handles.has(name) || /^(?:true|false|nil)$/.test(name)) ? 'asserts_nothing' : null
}

/** `got != got`, `Add(1, 2) != Add(1, 2)` */
function comparesWithItself(condition: Syntax): boolean {
  const [left, right] = [getField(condition, 'left'), getField(condition, 'right')]
  const isComparison = /^[!=]=$/.test(getField(condition, 'operator')?.text ?? '')
  return (
    isComparison &&
    /^(?:identifier|call_expression|selector_expression|index_expression)$/.test(left?.type ?? '') &&
    left?.text === right?.text
  )
}

/** `got != 3`, `!got.Equal(Point{X: 3})` */
function changeCompared(condition: Syntax, change: LiteralChange): readonly Edit[] | null {
  if (condition.type === 'unary_expression') return changeArgument(getField(condition, 'operand'), change)
  if (condition.type !== 'binary_expression' || getField(condition, 'operator')?.text !== '!=') return null
  return changeLiteral(getField(condition, 'right'), change) ?? changeLiteral(getField(condition, 'left'), change)
}

// Only values of structs: changed map keys or list numbers could break the compilation.
function changeArgument(call: Syntax | null, change: LiteralChange): readonly Edit[] | null {
  if (call?.type !== 'call_expression' || parseSelector(getField(call, 'function'))?.name !== 'Equal') return null
  for (const given of listNamedChildren(getField(call, 'arguments'))) {
    const isStruct = given.type === 'composite_literal' && getField(given, 'type')?.type === 'type_identifier'
    const values = isStruct
      ? listNamedChildren(getField(given, 'body')).map((child) => listNamedChildren(child).at(-1) ?? child)
      : [given]
    for (const value of values.map((one) => (one.type === 'literal_element' ? listNamedChildren(one)[0] : one))) {
      const edits = changeLiteral(value, change)
      if (edits !== null) return edits
    }
  }
  return null
}

function isInGoroutine(node: Syntax): boolean {
  return findAround(node, ['go_statement']) !== null
}

/** `if right { return }; t.Error()` */
function readReturnOrFail(node: Syntax, scope: Scope): Site | null {
  const condition = getField(node, 'condition')
  const leaves = /^(return|continue|break)_statement$/.test(
    listStatements(getField(node, 'consequence')).at(-1)?.type ?? '',
  )
  const siblings = listNamedChildren(node.parent)
  const next = siblings[siblings.indexOf(node) + 1]
  if (condition === null || !leaves || getField(node, 'alternative') !== null || next === undefined) return null
  const handle = findFailingHandle(next, scope)
  if (handle === null) return null
  if (isInGoroutine(node)) return { ...makeSite(node, 'return or fail'), turn: { left: 'not_on_test_goroutine' } }
  const unproved = findUnproved(condition, scope, true)
  if (unproved !== null) return { ...makeSite(node, 'return or fail'), turn: { left: unproved } }
  const edits = [...wrap(condition, '!(', ')'), stop(next.start, handle, scope)]
  return { ...makeSite(node, 'return or fail'), turn: { rule: 'negated', edits } }
}

/** `switch { case got != want: t.Error() }` */
function readCase(node: Syntax, scope: Scope): Site | null {
  if (node.parent?.type !== 'expression_switch_statement' || getField(node.parent, 'value') !== null) return null
  const value = getField(node, 'value')
  const conditions = listNamedChildren(value)
  const [condition] = conditions
  const body = listStatements(node).filter((statement) => statement !== value)
  const handle = body.map((statement) => findFailingHandle(statement, scope)).find((name) => name !== null) ?? null
  const [first] = body
  if (condition === undefined || conditions.length !== 1 || handle === null || first === undefined) return null
  const unproved = findUnproved(condition, scope, false)
  if (unproved !== null) return { ...makeSite(node, 'case fail'), turn: { left: unproved } }
  const edits = [...wrap(condition, '!(', ')'), stop(first.start, handle, scope)]
  return { ...makeSite(node, 'case fail'), turn: { rule: 'negated', edits } }
}

/** The `// Output:` of an example. */
function readOutput(node: Syntax, { change }: Scope): Site | null {
  if (!/^\/\/\s*(unordered )?output:/i.test(node.text) || findAround(node, ['function_declaration']) === null)
    return null
  return {
    ...makeSite(node, 'example output'),
    isByPlace: true,
    turn: { rule: 'literal', edits: [replace(node, `${node.text} ${change.word}`)] },
  }
}
