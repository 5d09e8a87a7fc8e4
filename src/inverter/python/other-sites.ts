import { findDependence, listOwnFunctions } from '../failing.js'
import { listValueNames, namesValue } from '../names-value.js'
import type { Syntax } from '../parse.js'
import { getField, listNamedChildren, walk } from '../syntax.js'
import type { Site } from '../types.js'
import { FUNCTIONS } from './tests.js'

const ASSERTING = /^_?(?:[aA]ssert|expect|verify)/
const FAILS = /^(?:fail|exit)$/
const OF_LIBRARY: ReadonlySet<string> = new Set(['self', 'cls', 'pytest', 'np', 'numpy', 'pd', 'pandas', 'testing'])

/** Assertions that cannot be turned, found by their name or by their place. */
export function* findOtherSites(root: Syntax): Generator<Site> {
  const own = listOwnFunctions(root, FUNCTIONS)
  const names = countNames(root)
  for (const node of walk(root)) {
    const site =
      node.type === 'raise_statement' || (node.type === 'assert_statement' && !namesValue(node))
        ? readRaise(node, names)
        : node.type === 'call'
          ? (readFailure(node) ?? readCall(node, own))
          : null
    if (site !== null) yield site
  }
}

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

const FUNCTION_RULES = { types: FUNCTIONS, isPartOfTest: () => false }

/** `if got != 3: raise …` and `else: assert False`, also in a function that the file uses elsewhere. */
function readRaise(node: Syntax, names: ReadonlyMap<string, number>): Site | null {
  const dependence = findDependence(node, FUNCTION_RULES)
  const isFailure = node.type === 'assert_statement' && /^assert\s*\(?(?:False|0|not True)\b/.test(node.text)
  if (dependence !== 'branch' && !(isFailure && dependence === 'error')) return null
  if (node.type === 'assert_statement' && !isFailure) return null
  return isUnused(node, names) ? null : makeSite(node, node.type === 'raise_statement' ? 'raise' : 'assert')
}

/** Whether it is in a function that nothing runs: no test, no fixture, and not named elsewhere in the file. */
function isUnused(node: Syntax, names: ReadonlyMap<string, number>): boolean {
  for (let around = node.parent; around !== null; around = around.parent) {
    if (around.type !== 'function_definition' || around.parent?.type === 'decorated_definition') continue
    const name = getField(around, 'name')?.text ?? ''
    if (names.get(name) === 1 && !/^test|^setUp|^tearDown/.test(name)) return true
  }
  return false
}

function countNames(root: Syntax): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { type, text } of walk(root)) if (type === 'identifier') counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** `pytest.fail()`, `self.fail()` and `sys.exit(1)` where something decides. */
function readFailure(node: Syntax): Site | null {
  const callee = getField(node, 'function')
  const name = getField(callee, 'attribute')?.text ?? callee?.text ?? ''
  if (!FAILS.test(name)) return null
  return makeSite(node, name, findDependence(node, FUNCTION_RULES) === null ? 'asserts_nothing' : 'no_rule')
}

function readCall(node: Syntax, own: ReadonlyMap<string, Syntax>): Site | null {
  const callee = getField(node, 'function')
  const object = getField(callee, 'object')
  const name = getField(callee, 'attribute')?.text ?? callee?.text ?? ''
  if (callee === null || !ASSERTING.test(name)) return null
  if (own.has(name) && (object === null || /^(?:self|cls)$/.test(object.text))) return null
  const isAbout = listNamedChildren(getField(node, 'arguments')).some((arg) => namesValue(arg))
  const isCalledOnValue = object !== null && listValueNames(object).some(({ text }) => !OF_LIBRARY.has(text))
  return makeSite(node, name, isAbout || isCalledOnValue ? 'no_rule' : 'asserts_nothing')
}
