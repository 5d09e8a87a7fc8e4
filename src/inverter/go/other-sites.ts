import { findDependence, listOwnFunctions } from '../failing.js'
import { namesValue } from '../names-value.js'
import type { Syntax } from '../parse.js'
import { getField, listNamedChildren, walk } from '../syntax.js'
import type { Helper, Site } from '../types.js'
import { FAILING } from './rules.js'
import { parseSelector, type Scope } from './scope.js'
import { FUNCTIONS } from './tests.js'

const HANDLE = /(?:^|\.)(?:t|tb|T\(\)|TB\(\))$/
const PROGRAM_ENDS = /^(?:panic|log\.(?:Fatal|Panic)(?:f|ln)?|os\.Exit)$/
const ASSERTING = /^(?:assert|verify|expect|require|check|must|ensure|test|run|compare|suite)/i
// Functions of the handle that run a function as part of the test.
const RUNS = /\.(?:Run|Fuzz|RunParallel|Cleanup)$/

/** Assertions that cannot be turned, found by their place or by what they are called with. */
export function* findOtherSites(root: Syntax, scope: Scope): Generator<Site> {
  const own = listOwnFunctions(root, FUNCTIONS)
  for (const node of walk(root)) {
    const site =
      node.type === 'call_expression'
        ? (readFailure(node, scope) ?? readCheck(node, scope, own))
        : readFailureValue(node, scope)
    if (site !== null) yield site
  }
}

function makeSite(node: Syntax, assertion: string, left: 'no_rule' | 'asserts_nothing' = 'no_rule'): Site {
  return {
    start: node.start,
    end: node.end,
    line: node.line,
    library: 'testing',
    assertion,
    turn: { left },
    isByPlace: true,
  }
}

/** `t.Fatal()` wherever a test gets there by the value of something: `switch got { default: t.Fatal() }`. */
function readFailure(node: Syntax, scope: Scope): Site | null {
  const callee = getField(node, 'function')
  const selector = parseSelector(callee)
  const isFailure =
    selector !== null && FAILING.includes(selector.name) && isHandle(selector.object, scope)
      ? true
      : PROGRAM_ENDS.test(callee?.text ?? '') && isBesideHandle(node, scope)
  if (!isFailure) return null
  const dependence = findDependence(node, {
    types: FUNCTIONS,
    isPartOfTest: isPartOfTest,
    isIgnored: (name) => scope.handles.has(name),
  })
  return makeSite(node, selector?.name ?? 'panic', dependence === null ? 'asserts_nothing' : 'no_rule')
}

function isHandle(object: Syntax, { handles }: Scope): boolean {
  return handles.has(object.text) || HANDLE.test(object.text)
}

// A function with a handle, or inside one.
function isBesideHandle(node: Syntax, { typed }: Scope): boolean {
  for (let around = node.parent; around !== null; around = around.parent) {
    if (!FUNCTIONS.includes(around.type)) continue
    const parameters = listNamedChildren(getField(around, 'parameters'))
    const names = parameters.flatMap((parameter) => listNamedChildren(parameter)).map(({ text }) => text)
    if (names.some((name) => typed.has(name))) return true
    if (/^Example/.test(getField(around, 'name')?.text ?? '')) return true
  }
  return false
}

function isPartOfTest(node: Syntax): boolean {
  if (node.type !== 'func_literal') return false
  const call = node.parent?.type === 'argument_list' ? node.parent.parent : node.parent
  if (call?.type !== 'call_expression') return false
  const callee = getField(call, 'function')
  return callee === node || RUNS.test(callee?.text ?? '')
}

/**
 * `check.Sum(t, got, 3)`: the handle is passed on to a function of a package. For one of this package its own text
 * decides.
 */
function readCheck(node: Syntax, scope: Scope, own: ReadonlyMap<string, Syntax>): Site | null {
  const callee = getField(node, 'function')
  const selector = parseSelector(callee)
  const name = selector?.name ?? callee?.text ?? ''
  const args = listNamedChildren(getField(node, 'arguments'))
  const others = args.filter((arg) => !isHandle(arg, scope))
  if (own.has(name) || (selector === null && !scope.hasDotImport)) return null
  if (others.length === args.length) return selector === null ? null : readNamedCheck(node, selector, others, scope)
  const statement = findChain(node)
  if (statement.parent?.type !== 'expression_statement' && !ASSERTING.test(name)) return null
  const isAbout = statement !== node || others.some((arg) => namesValue(arg, (word) => scope.handles.has(word)))
  if (!isAbout && (others.length > 0 || !ASSERTING.test(name))) return null
  return makeSite(node, name)
}

/** Functions of other files of the package that get the handle of a test: `checkSum(t, got, 3)`. */
export function findHelpers(root: Syntax, part: Syntax, scope: Scope): readonly Helper[] {
  const own = listOwnFunctions(root, FUNCTIONS)
  return walk(part).flatMap((node): readonly Helper[] => {
    const callee = node.type === 'call_expression' ? getField(node, 'function') : null
    const name = callee?.type === 'identifier' ? callee.text : ''
    if (name === '' || own.has(name)) return []
    const getsHandle = listNamedChildren(getField(node, 'arguments')).some((arg) => isHandle(arg, scope))
    return getsHandle ? [{ module: '.', name }] : []
  })
}

/** `get(t, path).hasStatus(200)` of `get(t, path)`. */
function findChain(call: Syntax): Syntax {
  let top = call
  while (/^(?:selector|call)_expression$/.test(top.parent?.type ?? '') && top.parent?.start === call.start)
    top = top.parent
  return top
}

/** `check(t.Errorf, got)`: the function that fails the test is passed on. */
function readFailureValue(node: Syntax, scope: Scope): Site | null {
  const selector = node.parent?.type === 'argument_list' ? parseSelector(node) : null
  if (selector === null || !FAILING.includes(selector.name) || !isHandle(selector.object, scope)) return null
  return makeSite(node, selector.name)
}

/** `c.Assert(got, Equals, 3)`, `mock.AssertExpectations()` */
function readNamedCheck(
  node: Syntax,
  { name, object }: { readonly name: string; readonly object: Syntax },
  args: readonly Syntax[],
  { handles }: Scope,
): Site | null {
  if (!/^(?:[aA]ssert|[eE]xpect|EXPECT$)/.test(name)) return null
  const isAbout = [object, ...args].some((arg) => namesValue(arg, (word) => handles.has(word)))
  return isAbout ? makeSite(node, name) : null
}
