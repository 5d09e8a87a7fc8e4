import type { Syntax } from '../parse.js'
import { fieldOf, findAround, namedChildren, walk } from '../syntax.js'
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
const TEST = /^(test|it|specify|tape|tap|t|\w*[tT]est)$/
const SUITE = /^(describe|suite|context)$/

/** The first word of what is called: `it` of `it.each(rows)('adds', fn)`. */
function firstWord(callee: Syntax | null): string {
  let node = callee
  while (node !== null && node.type !== 'identifier')
    node = fieldOf(node, 'object') ?? fieldOf(node, 'function') ?? null
  return node?.text ?? ''
}

function callbackOf(call: Syntax): Syntax | null {
  return namedChildren(fieldOf(call, 'arguments')).find(({ type }) => CALLBACKS.includes(type)) ?? null
}

function kindOf(call: Syntax): 'test' | 'suite' | null {
  if (call.type !== 'call_expression' || callbackOf(call) === null) return null
  const callee = fieldOf(call, 'function')
  const word = firstWord(callee)
  const method = callee?.type === 'member_expression' ? (fieldOf(callee, 'property')?.text ?? '') : ''
  if (/^(before|after|use|mock|each$)/.test(method)) return null
  if (SUITE.test(word) || SUITE.test(method)) return 'suite'
  const hasName = /string/.test(namedChildren(fieldOf(call, 'arguments'))[0]?.type ?? '')
  return TEST.test(word) && (hasName || !/^t$/.test(word)) ? 'test' : null
}

function nameOf(call: Syntax): string {
  const [first] = namedChildren(fieldOf(call, 'arguments'))
  return first !== undefined && /string/.test(first.type) ? first.text.slice(1, -1) : `(line ${call.line})`
}

export function findTests(root: Syntax): readonly TestRange[] {
  const found: TestRange[] = []
  for (const node of walk(root)) {
    if (kindOf(node) !== 'test') continue
    const names = [nameOf(node)]
    for (let around = node.parent; around !== null; around = around.parent)
      if (kindOf(around) !== null) names.unshift(nameOf(around))
    const body = bodyOfTest(callbackOf(node))
    const range = { name: names.join(' > '), line: node.line, start: node.start, end: node.end }
    found.push(body === null ? range : { ...range, body: { start: body.start, end: body.end } })
  }
  return found
}

/** Whether this function is the one that a test runs. */
export function isTestFunction(node: Syntax): boolean {
  const call = node.parent?.parent ?? null
  return call !== null && kindOf(call) === 'test' && callbackOf(call) === node
}

/** The statements of a function; null for one that is an expression. */
export function bodyOfTest(callback: Syntax | null): Syntax | null {
  const body = fieldOf(callback, 'body')
  return body?.type === 'statement_block' ? body : null
}

/** Whether no function lies between this statement and the function of its test. */
export function directlyInTest(node: Syntax): boolean {
  const around = findAround(node, FUNCTIONS)
  const call = around?.parent?.parent
  return call != null && kindOf(call) === 'test'
}

/** The first parameter of every function that is given to a test of a known library, or to a test within one. */
export function readHandles(root: Syntax, bindings: ReadonlyMap<string, Binding>): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const [library] = [...bindings.values()].filter(({ role }) => role === 'test').map((binding) => binding.library)
  for (const [name, binding] of bindings)
    if (binding.library === 'tap' && binding.imported === 'default') found.set(name, 'tap')
  for (const node of walk(root)) {
    if (node.type !== 'call_expression') continue
    const name = parameterOf(callbackOf(node))
    if (name === null) continue
    const word = firstWord(fieldOf(node, 'function'))
    const binding = bindings.get(word)
    const known =
      binding?.role === 'test' ? binding.library : (found.get(word) ?? (TEST.test(word) ? library : undefined))
    if (known !== undefined) found.set(name, known)
    else if (kindOf(node) === 'test') found.set(name, 'test')
  }
  return found
}

function parameterOf(callback: Syntax | null): string | null {
  const first = fieldOf(callback, 'parameter') ?? namedChildren(fieldOf(callback, 'parameters'))[0] ?? null
  const name = first?.type === 'required_parameter' ? fieldOf(first, 'pattern') : first
  return name?.type === 'identifier' ? name.text : null
}
