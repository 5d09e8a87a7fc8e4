import type { Syntax } from '../parse.js'
import { getField } from '../syntax.js'
import type { Site } from '../types.js'
import { listArguments, makeSite, readMember, type Scope } from './nodes.js'
import { CHAI_EXPECT, JEST, type Rule } from './rules.js'
import { stepOf } from './steps.js'
import { negateChain, turnAssertion } from './turn.js'

interface Link {
  readonly name: string
  readonly member: Syntax
  readonly object: Syntax
  readonly call: Syntax | null
}

/** `expect(actual).not.toBe(expected)`, `expect(actual).to.equal(expected)`, `actual.should.equal(expected)`. */
export function readExpectChain(node: Syntax, scope: Scope, slot: number): Site | null {
  const start = readStart(node, scope)
  if (start === null) return null
  const links = readLinks(node)
  const place = { ...makeSite(node, start.library, 'expect'), end: (links.at(-1)?.member ?? node).end }
  const last = findMatcher(links)
  if (last === null) return start.isShould ? null : { ...place, turn: { left: 'asserts_nothing' } }
  const before = links.slice(0, links.indexOf(last))
  const not = before.find(({ name }) => name === 'not') ?? null
  const awaited = before.findLast(({ name }) => ['resolves', 'rejects', 'eventually'].includes(name)) ?? null
  const turn = turnAssertion({
    ...{ name: last.name, rule: findRule(last.name), actual: start.actual, expectedAt: 0, slot },
    args: last.call === null ? [] : listArguments(last.call),
    ...{ isNot: not !== null, isAsync: awaited !== null || start.isPolled },
    negate: /Snapshot$/.test(last.name) ? null : negateChain(awaited?.member ?? node, not),
    rename: null,
  })
  const isStored = !/InlineSnapshot$/.test(last.name) || !('left' in turn) || turn.left !== 'missing_arguments'
  const isAsync = awaited !== null || start.isPolled
  const step = stepOf(node, { library: start.library, assertion: last.name, isAsync })
  return { ...place, assertion: last.name, turn: isStored ? turn : { left: 'no_stored_snapshot' }, step }
}

interface Start {
  readonly library: string
  readonly actual: Syntax | null
  readonly isShould: boolean
  readonly isPolled: boolean
}

function readStart(node: Syntax, scope: Scope): Start | null {
  const member = readMember(node)
  if (member?.name === 'should' && node.type === 'member_expression' && scope.libraries.has('chai'))
    return { library: 'chai', actual: null, isShould: true, isPolled: false }
  if (node.type !== 'call_expression') return null
  const callee = getField(node, 'function')
  const library = callee === null ? null : readExpectFunction(callee, scope)
  if (library === null) return null
  const isPolled = readMember(callee)?.name === 'poll'
  return { library, actual: listArguments(node)[0] ?? null, isShould: false, isPolled }
}

/** The library whose `expect` is called, null if it is something else. */
function readExpectFunction(callee: Syntax, scope: Scope): string | null {
  if (callee.type === 'identifier') {
    const binding = scope.bindings.get(callee.text)
    if (binding !== undefined) return isExpect(binding.imported, binding.role) ? binding.library : null
    return callee.text === 'expect' ? expectLibrary(scope) : null
  }
  const member = readMember(callee)
  if (member === null) return null
  if (['soft', 'poll', 'element'].includes(member.name)) return readExpectFunction(member.object, scope)
  if (member.name !== 'expect' || member.object.type !== 'identifier') return null
  if (scope.bindings.get(member.object.text)?.role === 'chai') return 'chai'
  return scope.handles.has(member.object.text) ? expectLibrary(scope) : null
}

function isExpect(imported: string, role: string): boolean {
  return imported === 'expect' || (imported === 'default' && role === 'expect')
}

function expectLibrary({ libraries }: Scope): string {
  return ['vitest', 'chai', 'playwright'].find((library) => libraries.has(library)) ?? 'jest'
}

function readLinks(start: Syntax): readonly Link[] {
  const links: Link[] = []
  let top = start
  for (;;) {
    const { parent } = top
    const member = readMember(parent)
    if (parent !== null && member?.object === top) {
      links.push({ name: member.name, member: parent, object: top, call: null })
      top = parent
    } else if (parent?.type === 'call_expression' && getField(parent, 'function') === top) {
      const last = links.at(-1)
      if (last === undefined || last.call !== null) return links
      links[links.length - 1] = { ...last, call: parent }
      top = parent
    } else return links
  }
}

function findRule(name: string): Rule {
  return JEST[name] ?? CHAI_EXPECT[name] ?? { turn: 'not' }
}

const WORDS = new Set(
  'to be been is that which and has have with at of same but does still also not deep nested own ordered any all itself resolves rejects eventually should'.split(
    ' ',
  ),
)

// The first word of the chain that asserts. Chai methods can also be connecting words: `include.members`.
function findMatcher(links: readonly Link[]): Link | null {
  const asserts = ({ name, call }: Link): boolean => {
    const rule = JEST[name] ?? CHAI_EXPECT[name]
    if (rule === undefined) return call !== null && !WORDS.has(name)
    return call !== null || ['actual', 'truth', 'not'].includes(rule.turn)
  }
  const last = links.at(-1)
  return links.find(asserts) ?? (last === undefined || WORDS.has(last.name) || last.name in CHAI_EXPECT ? null : last)
}
