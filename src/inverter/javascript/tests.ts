import type { Syntax } from '../parse.js'
import { findAround, getField, listNamedChildren, walk } from '../syntax.js'
import type { TestRange } from '../test-range.js'
import type { Binding } from './modules.js'

export const FUNCTIONS = [
  'arrow_function',
  'function_expression',
  'function',
  'function_declaration',
  'method_definition',
]
const CALLBACKS = ['arrow_function', 'function_expression', 'function']
const TEST = /^(test|it|specify|tape|tap)$/
// Functions of the project that make tests, `dbTest`, and the `t` of tap; but `supertest` makes none. A name tells.
const NAMED_TEST = /^(t|\w+[tT]est)$/
const SUITE = /^(describe|suite|context)$/

/** The first word of the call: `it` of `it.each(rows)('adds', fn)`. */
function getFirstWord(callee: Syntax | null): string {
  let node = callee
  while (node !== null && node.type !== 'identifier')
    node = getField(node, 'object') ?? getField(node, 'function') ?? null
  return node?.text ?? ''
}

function findCallback(call: Syntax): Syntax | null {
  return listNamedChildren(getField(call, 'arguments')).find(({ type }) => CALLBACKS.includes(type)) ?? null
}

function findKind(call: Syntax): 'test' | 'suite' | null {
  if (call.type !== 'call_expression' || findCallback(call) === null) return null
  const callee = getField(call, 'function')
  const word = getFirstWord(callee)
  const method = callee?.type === 'member_expression' ? (getField(callee, 'property')?.text ?? '') : ''
  if (/^(before|after|use|mock|each$)/.test(method)) return null
  if (SUITE.test(word) || SUITE.test(method)) return 'suite'
  if (goesOnFromCall(callee)) return null
  const hasName = /string/.test(listNamedChildren(getField(call, 'arguments'))[0]?.type ?? '')
  return TEST.test(word) || (NAMED_TEST.test(word) && hasName) ? 'test' : null
}

// `supertest(app).get('/').end(fn)`: whatever made the first value, `end` makes no test.
function goesOnFromCall(callee: Syntax | null): boolean {
  for (let node = callee; node?.type === 'member_expression'; ) {
    node = getField(node, 'object')
    if (node?.type === 'call_expression') return true
  }
  return false
}

function getTestName(call: Syntax): string {
  const [first = null] = listNamedChildren(getField(call, 'arguments'))
  return readName(first) ?? `(line ${call.line})`
}

// `'adds ' + value` is named `adds %s`, like one that a runner fills in; null for a name without any text.
function readName(node: Syntax | null): string | null {
  if (node === null) return null
  if (/string/.test(node.type)) return node.text.slice(1, -1)
  if (node.type !== 'binary_expression' || getField(node, 'operator')?.text !== '+') return null
  const [left, right] = [readName(getField(node, 'left')), readName(getField(node, 'right'))]
  return left === null && right === null ? null : `${left ?? '%s'}${right ?? '%s'}`
}

export function findTests(root: Syntax): readonly TestRange[] {
  const found: TestRange[] = []
  for (const node of walk(root)) {
    if (findKind(node) !== 'test') continue
    const names = [getTestName(node)]
    for (let around = node.parent; around !== null; around = around.parent)
      if (findKind(around) !== null) names.unshift(getTestName(around))
    const body = findTestBody(findCallback(node))
    const range = { name: names.join(' > '), line: node.line, start: node.start, end: node.end }
    found.push(body === null ? range : { ...range, body: { start: body.start, end: body.end } })
  }
  return found
}

/** Whether a test runs this function. */
export function isTestFunction(node: Syntax): boolean {
  const call = node.parent?.parent ?? null
  return call !== null && findKind(call) === 'test' && findCallback(call) === node
}

/** The statements of a function; null for an expression body. */
export function findTestBody(callback: Syntax | null): Syntax | null {
  const body = getField(callback, 'body')
  return body?.type === 'statement_block' ? body : null
}

/** Whether there is no function between this statement and the function of its test. */
export function isDirectlyInTest(node: Syntax): boolean {
  const around = findAround(node, FUNCTIONS)
  const call = around?.parent?.parent
  return call != null && findKind(call) === 'test'
}

/** The first parameter of every function passed to a test of a known library, or to a test within one. */
export function readHandles(root: Syntax, bindings: ReadonlyMap<string, Binding>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const [library] = [...bindings.values()].filter(({ role }) => role === 'test').map((binding) => binding.library)
  for (const [name, binding] of bindings)
    if (binding.library === 'tap' && binding.imported === 'default') found.set(name, 'tap')
  for (const node of walk(root)) {
    if (node.type !== 'call_expression') continue
    const name = findParameter(findCallback(node))
    if (name === null) continue
    const word = getFirstWord(getField(node, 'function'))
    const binding = bindings.get(word)
    const known =
      binding?.role === 'test' ? binding.library : (found.get(word) ?? (TEST.test(word) ? library : undefined))
    if (known !== undefined) found.set(name, known)
    else if (findKind(node) === 'test') found.set(name, 'test')
  }
  return found
}

function findParameter(callback: Syntax | null): string | null {
  const first = getField(callback, 'parameter') ?? listNamedChildren(getField(callback, 'parameters'))[0] ?? null
  const name = first?.type === 'required_parameter' ? getField(first, 'pattern') : first
  return name?.type === 'identifier' ? name.text : null
}
