import { hasAlternatives } from '../conditions.js'
import { changeNumber, changeText, type LiteralChange } from '../literals.js'
import { namesValue } from '../names-value.js'
import type { Syntax } from '../parse.js'
import { getField, insert, listNamedChildren, replace, walk, wrap } from '../syntax.js'
import type { Edit, Site } from '../types.js'
import { EQUALITY, OTHER_LIBRARIES } from './rules.js'
import { isTestCode } from './tests.js'
import { findUnproved, isPlainData, splitArguments } from './tokens.js'

export function* findSites(root: Syntax, path: string, change: LiteralChange): Generator<Site> {
  for (const node of walk(root)) {
    if (!['attribute_item', 'macro_invocation', 'if_expression', 'identifier'].includes(node.type)) continue
    if (node.type === 'identifier' && node.parent?.type !== 'token_tree') continue
    const site = isTestCode(node, path) ? readSite(node, change) : null
    if (site !== null) yield site
  }
}

function readSite(node: Syntax, change: LiteralChange): Site | null {
  if (node.type === 'attribute_item') return readShouldPanic(node, change)
  if (node.type === 'if_expression') return readIfPanic(node)
  const macro = node.type === 'identifier' ? readMacroTokens(node) : readMacroCall(node)
  return macro === null ? null : readMacro(macro, change)
}

type Place = Pick<Syntax, 'start' | 'end' | 'line'>

interface Macro {
  readonly place: Place
  readonly macro: Syntax
  readonly body: Syntax
}

function readMacroCall(node: Syntax): Macro | null {
  const macro = getField(node, 'macro')
  const body = node.children.find(({ type }) => type === 'token_tree')
  return macro === null || body === undefined ? null : { place: node, macro, body }
}

/** `assert_eq!(...)` in the definition or the arguments of a macro. */
function readMacroTokens(node: Syntax): Macro | null {
  const siblings = node.parent?.children ?? []
  const at = siblings.indexOf(node)
  const body = siblings[at + 2]
  if (siblings[at + 1]?.text !== '!' || body?.type !== 'token_tree' || !/^(debug_)?assert/.test(node.text)) return null
  return { place: { start: node.start, end: body.end, line: node.line }, macro: node, body }
}

function makeSite(node: Place, assertion: string, library = 'std'): Omit<Site, 'turn'> {
  return { start: node.start, end: node.end, line: node.line, library, assertion }
}

/** Expects a panic message that does not occur. */
function readShouldPanic(node: Syntax, { word }: LiteralChange): Site | null {
  const place = makeSite(node, 'should_panic')
  if (/^#\[\s*should_panic\s*\]$/.test(node.text))
    return {
      ...place,
      turn: { rule: 'expected_apart', edits: [replace(node, `#[should_panic(expected = "${word}")]`)] },
    }
  if (!/^#\[\s*should_panic\b/.test(node.text)) return null
  const text = walk(node).find(({ type }) => type === 'string_literal')
  if (text === undefined) return { ...place, turn: { left: 'no_rule' } }
  return { ...place, turn: { rule: 'literal', edits: [insert(text.end - 1, word)] } }
}

function readMacro({ place: at, macro, body }: Macro, change: LiteralChange): Site | null {
  const name = macro.text.replace(/^.*::/, '')
  const library = OTHER_LIBRARIES[name]
  if (library !== undefined) return { ...makeSite(at, name, library), turn: { left: 'no_rule' } }
  const place = makeSite(at, `${name}!`)
  const [first, second] = splitArguments(body)
  if (/^(debug_)?assert$/.test(name)) {
    const [from, to] = [first?.at(0), first?.at(-1)]
    if (from === undefined || to === undefined) return { ...place, turn: { left: 'missing_arguments' } }
    const unproved = findUnproved(first ?? [], true)
    if (unproved !== null) return { ...place, turn: { left: unproved } }
    const edits: readonly Edit[] = [insert(from.start, '!('), { ...insert(to.end, ')'), closes: true }]
    return { ...place, turn: { rule: 'negated', edits } }
  }
  const opposite = EQUALITY.get(name)
  if (opposite === undefined) return null
  if (first === undefined || second === undefined) return { ...place, turn: { left: 'missing_arguments' } }
  if (name.endsWith('eq') && areSameTokens(first, second)) return { ...place, turn: { left: 'same_on_both_sides' } }
  const literal = name.endsWith('eq') ? (changeData(second, change) ?? changeData(first, change)) : null
  if (literal !== null) return { ...place, turn: { rule: 'literal', edits: literal } }
  const end = macro.text.length - name.length
  return { ...place, turn: { rule: 'negated', edits: [{ start: macro.start + end, end: macro.end, text: opposite }] } }
}

/** `assert_eq!(got, got)` and `assert_eq!(add(2, 2), add(2, 2))` */
function areSameTokens(one: readonly Syntax[], other: readonly Syntax[]): boolean {
  const text = one.map((token) => token.text).join('')
  return text === other.map((token) => token.text).join('') && /^[a-z_]\w*(?:\.\w+)*(?:[([].*)?$/s.test(text)
}

/** Changes the first literal of an operand that is plain data: `3`, `Some("a")`, `Point { x: 1, y: 2 }`. */
function changeData(tokens: readonly Syntax[], change: LiteralChange): readonly Edit[] | null {
  if (!isPlainData(tokens)) return null
  for (const node of tokens.flatMap((token) => walk(token))) {
    const edits = changeLiteral(node, change)
    if (edits !== null) return edits
  }
  return null
}

function changeLiteral(node: Syntax, change: LiteralChange): readonly Edit[] | null {
  switch (node.type) {
    case 'integer_literal':
    case 'float_literal': {
      const changed = changeNumber(node.text, change)
      return changed === null ? null : [replace(node, changed)]
    }
    case 'string_literal':
      return /^"/.test(node.text) ? [replace(node, changeText(node.text, change))] : null
    case 'boolean_literal':
      return [replace(node, node.text === 'true' ? 'false' : 'true')]
    default:
      return null
  }
}

/** `if wrong { panic!() }` */
function readIfPanic(node: Syntax): Site | null {
  const condition = getField(node, 'condition')
  const [first] = listNamedChildren(getField(node, 'consequence'))
  const call = first?.type === 'expression_statement' ? listNamedChildren(first)[0] : first
  const panics =
    call?.type === 'macro_invocation' && /^(std::)?(panic|unreachable)$/.test(getField(call, 'macro')?.text ?? '')
  if (condition === null || !panics || /^let_/.test(condition.type)) return null
  if (!namesValue(condition)) return { ...makeSite(node, 'if panic'), turn: { left: 'asserts_nothing' } }
  if (hasAlternatives(condition, false)) return { ...makeSite(node, 'if panic'), turn: { left: 'joined_conditions' } }
  return { ...makeSite(node, 'if panic'), turn: { rule: 'negated', edits: wrap(condition, '!(', ')') } }
}
