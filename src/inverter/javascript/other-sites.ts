import { findDependence, listOwnFunctions } from '../failing.js'
import { listValueNames, namesValue } from '../names-value.js'
import type { Syntax } from '../parse.js'
import { getField, walk } from '../syntax.js'
import type { Site } from '../types.js'
import { listArguments, readMember, type Scope } from './nodes.js'
import { AVA, NODE_ASSERT, TAP } from './rules.js'
import { FUNCTIONS, isTestFunction } from './tests.js'

/** What libraries and helpers of a project call their assertions. */
const ASSERTING = /^(?:[aA]ssert|expect|verify|(?:EXPECT|ASSERT|REQUIRE|CHECK)(?:_|$))/
/** Methods that throw unless the page has what they look for. */
const FINDS = /^(?:(?:find|get)(?:All)?By[A-Z]\w*|waitFor(?:Selector|URL|Text)?)$/
/** Methods of objects that a library makes: `const p = plan(t); p.equal(got, 3)`. */
const COMPARES = /^(?:not)?(?:[eE]qual|(?:[sS]trict|[dD]eep|[dD]eepStrict|[lL]oose)Equal|same|throws|rejects)$/
const FAILS = /^(?:fail|bail)(?:$|[A-Z_])/
/** Objects that belong to a library: calling them says nothing about the code under test. */
const OF_LIBRARY: ReadonlySet<string> = new Set([
  ...['this', 't', 'assert', 'Assert', 'chai', 'test', 'strict', 'expect', 'vi', 'jest', 'sinon', 'Promise'],
])

/** Assertions that cannot be turned, found by their name or by their place. */
export function* findOtherSites(root: Syntax, scope: Scope): Generator<Site> {
  const own = listOwnFunctions(root, FUNCTIONS)
  const functions = { types: FUNCTIONS, isPartOfTest: (node: Syntax) => isPartOfTest(node) }
  const names = countNames(root)
  for (const node of walk(root)) {
    const site =
      node.type === 'throw_statement'
        ? readThrow(node, functions, names)
        : node.type === 'call_expression'
          ? (readFailure(node, functions) ?? readCall(node, scope, own))
          : node.type === 'member_expression' && getField(node, 'property')?.text === 'should'
            ? makeSite(node, 'should')
            : null
    if (site !== null) yield site
  }
}

type Functions = Parameters<typeof findDependence>[1]

function makeSite(node: Syntax, assertion: string, left: 'no_rule' | 'asserts_nothing' = 'no_rule'): Site {
  return {
    start: node.start,
    end: node.end,
    line: node.line,
    library: 'assert',
    assertion,
    turn: { left },
    isByPlace: true,
  }
}

// The callbacks of tests, of hooks and of the functions around them, and those that are called at once.
function isPartOfTest(node: Syntax): boolean {
  if (isTestFunction(node)) return true
  const around = node.parent
  return around?.type === 'parenthesized_expression' && around.parent?.type === 'call_expression'
}

/** `if (got !== 3) throw …`, also in a function that the file calls or exports. */
function readThrow(node: Syntax, functions: Functions, names: ReadonlyMap<string, number>): Site | null {
  if (findDependence(node, functions) !== 'branch') return null
  for (let around = node.parent; around !== null; around = around.parent) {
    const name = around.type === 'function_declaration' ? getField(around, 'name')?.text : undefined
    if (name !== undefined && names.get(name) === 1 && around.parent?.type !== 'export_statement') return null
  }
  return makeSite(node, 'throw')
}

function countNames(root: Syntax): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { type, text } of walk(root)) if (type === 'identifier') counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** `assert.fail()`, `t.fail()`, `done(error)` and `process.exit(1)` where a condition decides. */
function readFailure(node: Syntax, functions: Functions): Site | null {
  const callee = getField(node, 'function')
  const name = readMember(callee)?.name ?? callee?.text ?? ''
  const isExit = callee?.text === 'process.exit' && listArguments(node)[0]?.text !== '0'
  if (!isExit && !FAILS.test(name)) return null
  return makeSite(node, name, findDependence(node, functions) === null ? 'asserts_nothing' : 'no_rule')
}

function readCall(node: Syntax, scope: Scope, own: ReadonlyMap<string, Syntax>): Site | null {
  const callee = getField(node, 'function')
  const words = readWords(callee)
  if (callee === null || (words.length === 1 && own.has(words[0] ?? ''))) return null
  if (!isNamedAssertion(words) && !isByUse(node, words)) return null
  const isAbout = listArguments(node).some((arg) => namesValue(arg)) || isCalledOnValue(callee, scope)
  return makeSite(node, words.at(-1) ?? '', isAbout ? 'no_rule' : 'asserts_nothing')
}

function isNamedAssertion(words: readonly string[]): boolean {
  const [first = '', second = ''] = words
  // `expect.objectContaining(row)` is a part of an expected value.
  if (first === 'expect' && words.length > 1) return false
  return words.some((word) => ASSERTING.test(word)) || (words.length === 2 && isHandleMethod(first, second))
}

/** Calls that fail the test by themselves: alone in their statement, or of a tester. */
function isByUse(node: Syntax, words: readonly string[]): boolean {
  const last = words.at(-1) ?? ''
  if (/[tT]ester$/.test(words[0] ?? '') && last === 'run') return true
  if (words.length === 1 || !isStatement(node)) return false
  return FINDS.test(last) || (COMPARES.test(last) && listArguments(node).length > 1)
}

function isStatement({ parent }: Syntax): boolean {
  const around = parent?.type === 'await_expression' ? parent.parent : parent
  return around?.type === 'expression_statement'
}

/** `['assert', 'deepEqual']` of `assert.deepEqual`; a call in between is left out: `expect(a).toBe`. */
function readWords(callee: Syntax | null): readonly string[] {
  const words: string[] = []
  let node = callee
  while (node !== null) {
    const member = readMember(node)
    if (member === null) break
    words.unshift(member.name)
    node = member.object
  }
  return node?.type === 'identifier' || node?.type === 'this' ? [node.text, ...words] : ['', ...words]
}

// `t.is(got, 3)` in a function that gets the `t` of a test.
function isHandleMethod(object: string, method: string): boolean {
  return object === 't' && (method in AVA || method in TAP || method in NODE_ASSERT)
}

/** `response.expect(200)` asserts something about the response, whatever its argument is. */
function isCalledOnValue(callee: Syntax, { handles, bindings }: Scope): boolean {
  const member = readMember(callee)
  if (member === null) return false
  const isOfLibrary = (name: string): boolean => OF_LIBRARY.has(name) || handles.has(name) || bindings.has(name)
  return listValueNames(member.object).some(({ text }) => !isOfLibrary(text))
}
