import { findUnproved } from '../conditions.js'
import type { Syntax } from '../parse.js'
import { getField, insert, listNamedChildren, walk, wrap } from '../syntax.js'
import type { Edit, Site } from '../types.js'
import { readExpectChain } from './expect-chain.js'
import { type Binding, readBindings } from './modules.js'
import { listArguments, makeSite, readMember, type Scope } from './nodes.js'
import { AVA, CHAI_ASSERT, NODE_ASSERT, type RuleTable, TAP } from './rules.js'
import { stepOf, stepOfIf } from './steps.js'
import { isDirectlyInTest, readHandles } from './tests.js'
import { type Assertion, pickMethod, turnAssertion } from './turn.js'

export function readScope(root: Syntax): Scope {
  const bindings = readBindings(root)
  const libraries = new Set([...bindings.values()].map(({ library }) => library))
  return { bindings, handles: readHandles(root, bindings), libraries }
}

/** Every assertion of a file, outer ones first. */
export function* findSites(root: Syntax, scope: Scope): Generator<Site> {
  let slot = 0
  for (const node of walk(root)) {
    slot += 1
    const site = readSite(node, scope, slot)
    if (site !== null) yield site
  }
}

function readSite(node: Syntax, scope: Scope, slot: number): Site | null {
  if (node.type === 'if_statement') return readIfThrow(node)
  const chain = readExpectChain(node, scope, slot)
  if (chain !== null) return chain
  if (node.type !== 'call_expression') return null
  return readSupertest(node, scope) ?? readTypeCheck(node) ?? readAssertCall(node, scope, slot)
}

interface Method {
  readonly library: string
  readonly table: RuleTable
  readonly name: string
  readonly object: Syntax | null
}

function readAssertCall(node: Syntax, scope: Scope, slot: number): Site | null {
  const callee = getField(node, 'function')
  const method = callee === null ? null : readMethod(callee, scope)
  if (method === null || callee === null) return null
  const place = { start: node.start, end: node.end, line: node.line, library: method.library, assertion: method.name }
  const rule = method.table[method.name]
  // `t.plan`, `t.end` and the like are not assertions.
  if (rule === undefined) return method.library in HANDLE_TABLES ? null : { ...place, turn: { left: 'no_rule' } }
  const args = listArguments(node)
  const { object, name } = method
  const assertion: Assertion = {
    ...{ name, rule, actual: args[0] ?? null, args, expectedAt: 1, slot },
    ...{ isNot: false, isAsync: false, negate: null },
    rename: object === null ? null : (other) => pickMethod(object, callee, [name, other]),
  }
  const step = stepOf(node, { ...place, isAsync: false })
  return { ...place, turn: turnAssertion(assertion), step }
}

const ANY_ASSERT: RuleTable = { ...CHAI_ASSERT, ...NODE_ASSERT }
const WHOLE = new Set(['default', '*', 'strict', 'assert'])

function readMethod(callee: Syntax, scope: Scope): Method | null {
  if (callee.type === 'identifier') return readBareFunction(callee.text, scope)
  const member = readMember(callee)
  if (member === null) return null
  const source = readAssertObject(member.object, scope)
  return source === null ? null : { ...source, name: member.name, object: member.object }
}

function readBareFunction(name: string, scope: Scope): Method | null {
  const binding = scope.bindings.get(name)
  if (binding === undefined)
    return name === 'assert' ? { library: assertLibrary(scope), table: ANY_ASSERT, name: 'ok', object: null } : null
  const table = findRuleTable(binding)
  if (table === null) return null
  const { library, imported } = binding
  if (WHOLE.has(imported)) return { library, table, name: 'ok', object: null }
  return imported in table ? { library, table, name: imported, object: null } : null
}

function findRuleTable({ role, imported }: Binding): RuleTable | null {
  if (role === 'assert') return NODE_ASSERT
  if (role === 'chai') return imported === 'expect' || imported === 'should' ? null : CHAI_ASSERT
  return role === 'expect' && imported === 'assert' ? CHAI_ASSERT : null
}

function assertLibrary({ libraries }: Scope): string {
  return ['node:assert', 'chai', 'vitest'].find((library) => libraries.has(library)) ?? 'assert'
}

function readAssertObject(object: Syntax, scope: Scope): Omit<Method, 'name' | 'object'> | null {
  if (object.type === 'identifier') return readNamedObject(object.text, scope)
  const member = readMember(object)
  if (member === null || !['assert', 'strict'].includes(member.name)) return null
  const owner = member.object.type === 'identifier' ? member.object.text : ''
  if (scope.bindings.get(owner)?.role === 'chai') return { library: 'chai', table: CHAI_ASSERT }
  if (scope.bindings.get(owner)?.role === 'assert') return { library: 'node:assert', table: NODE_ASSERT }
  return scope.handles.has(owner) ? { library: 'node:test', table: NODE_ASSERT } : null
}

const HANDLE_TABLES: Readonly<Record<string, RuleTable>> = { tape: TAP, tap: TAP, ava: AVA }

function readNamedObject(name: string, scope: Scope): Omit<Method, 'name' | 'object'> | null {
  const handle = scope.handles.get(name)
  const handleTable = handle === undefined ? undefined : HANDLE_TABLES[handle]
  if (handle !== undefined && handleTable !== undefined) return { library: handle, table: handleTable }
  const binding = scope.bindings.get(name)
  if (binding === undefined) return name === 'assert' ? { library: assertLibrary(scope), table: ANY_ASSERT } : null
  const table = findRuleTable(binding)
  if (table === null || !WHOLE.has(binding.imported)) return null
  return binding.role === 'chai' && binding.imported !== 'assert' ? null : { library: binding.library, table }
}

function readSupertest(node: Syntax, scope: Scope): Site | null {
  const member = readMember(getField(node, 'function'))
  if (member?.name !== 'expect' || ![...scope.bindings.values()].some(({ role }) => role === 'supertest')) return null
  const [first, second] = listArguments(node)
  if (first === undefined || /function|spread/.test(first.type)) return null
  if (first.type === 'identifier' && /^(done|cb|callback|next|end)$/.test(first.text)) return null
  const isHeader = first.type === 'string' && second !== undefined && !/function/.test(second.type)
  const edits = isHeader ? wrap(second, '$apart(', ')') : wrap(first, '$value(', ')')
  const rule = isHeader ? 'expected_apart' : 'expected'
  const place = makeSite(node, 'supertest', 'expect')
  return { ...place, turn: { rule, edits }, step: stepOf(node, { ...place, isAsync: true }) }
}

function readTypeCheck(node: Syntax): Site | null {
  const callee = getField(node, 'function')
  if (callee?.type !== 'identifier' || !['expectTypeOf', 'assertType'].includes(callee.text)) return null
  return { ...makeSite(node, 'vitest', callee.text), turn: { left: 'checks_types_only' } }
}

// `if (wrong) throw new Error()` in the body of a test itself.
function readIfThrow(node: Syntax): Site | null {
  const then = getField(node, 'consequence')
  const condition = getField(node, 'condition')
  const throws = then?.type === 'throw_statement' || listNamedChildren(then)[0]?.type === 'throw_statement'
  if (!throws || condition === null || !isDirectlyInTest(node)) return null
  const unproved = findUnproved(condition, false)
  if (unproved !== null) return { ...makeSite(node, 'throw', 'if throw'), turn: { left: unproved } }
  const closing: Edit = { ...insert(condition.end, ')'), closes: true }
  return {
    ...makeSite(node, 'throw', 'if throw'),
    turn: { rule: 'truth', edits: [insert(condition.start, '($flip'), closing] },
    step: stepOfIf(node),
  }
}
