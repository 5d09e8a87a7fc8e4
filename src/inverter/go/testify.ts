import { findUnproved } from '../conditions.js'
import type { LiteralChange } from '../literals.js'
import type { Syntax } from '../parse.js'
import { findAround, getField, insert, listNamedChildren, replace, wrap } from '../syntax.js'
import type { Edit, Site } from '../types.js'
import { changeLiteral } from './literal.js'
import { GOMEGA_OPPOSITES, TESTIFY_LITERALS, TESTIFY_OPPOSITES, TESTIFY_OTHERS } from './rules.js'
import { parseSelector, type Scope } from './scope.js'

/** Calls of testify, quicktest and gomega. */
export function readTestify(node: Syntax, scope: Scope): Site | null {
  const selector = parseSelector(getField(node, 'function'))
  if (selector === null) return null
  const args = listNamedChildren(getField(node, 'arguments'))
  const place = { start: node.start, end: node.end, line: node.line, assertion: selector.name }
  const owner = findOwner(selector.object, scope)
  if (owner !== null) {
    if (!/^[A-Z]/.test(selector.name) || OTHER_METHODS.includes(selector.name)) return null
    const operands = owner === 'package' ? args.slice(1) : args
    return {
      ...place,
      library: 'testify',
      turn: turnTestify({
        node,
        field: selector.field,
        operands,
        owner,
        change: scope.change,
        canFailAlone: scope.hasTesting,
      }),
    }
  }
  const checker = findQuicktestChecker(selector, args, scope)
  if (checker !== null)
    return {
      ...place,
      library: 'quicktest',
      turn: { rule: 'negated', edits: wrap(checker, `${scope.quicktestPackage}.Not(`, ')') },
    }
  const opposite = scope.hasGomega && isExpectation(selector.object) ? GOMEGA_OPPOSITES.get(selector.name) : undefined
  if (opposite === undefined) return null
  return { ...place, library: 'gomega', turn: { rule: 'negated', edits: [replace(selector.field, opposite)] } }
}

const OTHER_METHODS: readonly string[] = [
  'New',
  'T',
  'SetT',
  'Run',
  'Require',
  'Assert',
  'Fail',
  'FailNow',
  'Failf',
  'FailNowf',
]

function findOwner(object: Syntax, { testify, suites }: Scope): 'package' | 'object' | null {
  const known = testify.get(object.text) ?? (suites.has(object.text) ? 'object' : null)
  if (known !== null) return known
  const inner = object.type === 'call_expression' ? parseSelector(getField(object, 'function')) : null
  const isSuite = inner !== null && suites.has(inner.object.text) && ['Require', 'Assert'].includes(inner.name)
  return isSuite ? 'object' : null
}

interface Call {
  readonly node: Syntax
  readonly field: Syntax
  readonly operands: readonly Syntax[]
  readonly owner: 'package' | 'object'
  readonly change: LiteralChange
  /** The file imports what a separate test needs. */
  readonly canFailAlone: boolean
}

function turnTestify({ field, operands, owner, node, change, canFailAlone }: Call): Site['turn'] {
  const name = field.text
  const truth = /^(True|False)f?$/.exec(name)?.[1]
  const unproved = truth === undefined ? null : findUnproved(operands[0], truth === 'True')
  if (unproved !== null) return { left: unproved }
  const literal = changeOperand(name, operands, change)
  if (literal !== null) return { rule: 'literal', edits: literal }
  const opposite = TESTIFY_OPPOSITES.get(name)
  if (opposite !== undefined) return { rule: 'negated', edits: [replace(field, opposite)] }
  const isOther =
    TESTIFY_OTHERS.has(name.replace(/f$/, '')) || (owner === 'package' && node.parent?.type === 'expression_statement')
  if (!canFailAlone || !isOther) return { left: 'no_rule' }
  return failAlone({ node, field, operands, owner, change })
}

/** Any other assertion is called with a separate test, from another import, and has to fail there. */
function failAlone({ node, field, operands, owner, change }: Omit<Call, 'canFailAlone'>): Site['turn'] {
  const object = getField(getField(node, 'function'), 'operand')
  const clause = findAround(node, ['source_file'])?.children.find(({ type }) => type === 'package_clause')
  const list = getField(node, 'arguments')
  const [first] = operands
  if (object === null || clause === undefined || list === null || first === undefined) return { left: 'no_rule' }
  const name = `${change.word}${node.start}`
  const handle = owner === 'package' ? `${listNamedChildren(list)[0]?.text ?? ''}, ` : ''
  const edits: readonly Edit[] = [
    insert(clause.end, `; import ${name} "github.com/stretchr/testify/assert"`),
    {
      start: node.start,
      end: first.start,
      text: `${object.text}.False(${handle}${name}.${field.text}(new(testing.T), `,
    },
    { ...insert(node.end, ')'), closes: true },
  ]
  return { rule: 'negated', edits }
}

function changeOperand(name: string, operands: readonly Syntax[], change: LiteralChange): readonly Edit[] | null {
  for (const at of TESTIFY_LITERALS[name.replace(/f$/, '')] ?? []) {
    const edits = changeLiteral(operands[at], change)
    if (edits !== null) return edits
  }
  return null
}

/** `c.Assert(got, qt.Equals, want)`, `qt.Assert(t, got, qt.Equals, want)` */
function findQuicktestChecker(
  selector: { readonly object: Syntax; readonly name: string },
  args: readonly Syntax[],
  { quicktest, quicktestPackage }: Scope,
): Syntax | null {
  if (!['Assert', 'Check'].includes(selector.name)) return null
  if (quicktest.has(selector.object.text)) return args[1] ?? null
  return quicktestPackage !== null && selector.object.text === quicktestPackage ? (args[2] ?? null) : null
}

function isExpectation(object: Syntax): boolean {
  return (
    object.type === 'call_expression' &&
    /(^|\.)(Expect|Ω|Eventually|Consistently)$/.test(getField(object, 'function')?.text ?? '')
  )
}
