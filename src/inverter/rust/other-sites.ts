import { findDependence } from '../failing.js'
import { namesValue } from '../names-value.js'
import type { Syntax } from '../parse.js'
import { getField, walk } from '../syntax.js'
import type { Site } from '../types.js'
import { FUNCTIONS, isTestCode } from './tests.js'

const ASSERTING = /(?:^|_)(?:assert|expect|verify|check|ensure)|^eqnice/
const PANICS = /^(?:(?:std|core)::)?(?:panic|unreachable|todo|unimplemented)$|(?:^|::)(?:bail|exit)$/
/** Methods that panic unless the value is as expected. */
const PANICKING = /^(?:expect|expect_err|unwrap_err|unwrap_none|expect_none|assert\w*)$/

/** Assertions that cannot be turned, found by their name or by their place. */
export function* findOtherSites(root: Syntax, path: string): Generator<Site> {
  const own = listOwnMacros(root)
  for (const node of walk(root)) {
    if (!['macro_invocation', 'call_expression', 'identifier'].includes(node.type)) continue
    const site = readSite(node, own)
    if (site !== null && isTestCode(node, path)) yield site
  }
}

function makeSite(node: Pick<Syntax, 'start' | 'end' | 'line'>, assertion: string, isAbout: boolean): Site {
  const left = isAbout ? 'no_rule' : 'asserts_nothing'
  return {
    start: node.start,
    end: node.end,
    line: node.line,
    library: 'std',
    assertion,
    turn: { left },
    isByPlace: true,
  }
}

function readSite(node: Syntax, own: ReadonlySet<string>): Site | null {
  if (node.type === 'macro_invocation') return readMacro(node, own)
  return node.type === 'call_expression' ? readCall(node) : readTokens(node)
}

function readMacro(node: Syntax, own: ReadonlySet<string>): Site | null {
  const path = getField(node, 'macro')?.text ?? ''
  const name = path.replace(/^.*::/, '')
  if (PANICS.test(path)) return makeSite(node, name, findDependence(node, FUNCTION_RULES) !== null)
  if (own.has(name) || !ASSERTING.test(name)) return null
  const body = node.children.find(({ type }) => type === 'token_tree')
  return makeSite(node, name, body !== undefined && namesValue(body))
}

const FUNCTION_RULES = { types: FUNCTIONS, isPartOfTest: () => false }

/** `result.unwrap_err()`, `command.assert()`, `check_sum(got)` */
function readCall(node: Syntax): Site | null {
  const callee = getField(node, 'function')
  if (callee?.type === 'field_expression') {
    const method = getField(callee, 'field')?.text ?? ''
    const value = getField(callee, 'value')
    return value !== null && PANICKING.test(method) ? makeSite(node, method, namesValue(value)) : null
  }
  if (/(?:^|::)TestCases::new$/.test(callee?.text ?? '')) return makeSite(node, 'TestCases', true)
  // `assert_send::<Error>()`: the compiler decides.
  const typed = callee?.type === 'generic_function' ? (getField(callee, 'function')?.text ?? '') : ''
  if (/(?:^|::)_?(?:assert|require|is_)/.test(typed)) return makeSite(node, typed, true)
  const name = (callee?.text ?? '').replace(/^.*::/s, '')
  const list = getField(node, 'arguments')
  return list !== null && /^(?:assert|expect|verify)/.test(name) ? makeSite(node, name, namesValue(list)) : null
}

// `prop_assert!(…)` in the arguments of a macro, or in the definition of one; methods are there without a tree.
function readTokens(node: Syntax): Site | null {
  if (node.parent?.type !== 'token_tree') return null
  const siblings = node.parent.children
  const at = siblings.indexOf(node)
  const isMacro = siblings[at + 1]?.text === '!' && ASSERTING.test(node.text)
  const isMethod = siblings[at - 1]?.text === '.' && PANICKING.test(node.text)
  if (!isMacro && !isMethod) return null
  const body = siblings[at + (isMacro ? 2 : 1)]
  if (body?.type !== 'token_tree') return null
  return makeSite({ start: node.start, end: body.end, line: node.line }, node.text, isMethod || namesValue(body))
}

function listOwnMacros(root: Syntax): ReadonlySet<string> {
  return new Set(
    walk(root)
      .filter(({ type }) => type === 'macro_definition')
      .map((node) => getField(node, 'name')?.text ?? ''),
  )
}
