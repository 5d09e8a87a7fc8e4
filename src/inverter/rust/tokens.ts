import type { Syntax } from '../parse.js'
import { walk } from '../syntax.js'
import type { LeftReason } from '../types.js'

/** The arguments of a macro, each as its tokens. Commas between angle brackets of a path do not separate arguments. */
export function splitArguments(body: Syntax): readonly (readonly Syntax[])[] {
  const parts: Syntax[][] = [[]]
  let angles = 0
  const tokens = listInner(body)
  for (const [index, token] of tokens.entries()) {
    if (token.text === '<' && (angles > 0 || tokens[index - 1]?.text === '::')) angles += 1
    else if (angles > 0 && /^>+$/.test(token.text)) angles -= Math.min(angles, token.text.length)
    if (token.text === ',' && angles === 0) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts.filter((part) => part.length > 0)
}

const CONVERSIONS = new Set(['to_string', 'to_owned', 'into', 'from', 'vec'])

/** Whether tokens build a value with constructors only, so that another literal gives another value. */
export function isPlainData(tokens: readonly Syntax[]): boolean {
  const all = tokens.flatMap((token) => walk(token)).filter(({ children }) => children.length === 0)
  return all.every((token, index) => {
    if (token.type === 'identifier' && all[index + 1]?.text === '(')
      return /^[A-Z]/.test(token.text) || CONVERSIONS.has(token.text)
    if (token.type === 'identifier' && all[index + 1]?.text === '!') return token.text === 'vec'
    return !['as', '+', '*', '/', '%', '|', '&&', '||', '..', ';', '<<', '>>', '?', 'if', 'match'].includes(token.text)
  })
}

/**
 * Why negating a condition proves nothing: `got == 5 || true` may always hold, and `true` names nothing that code made.
 */
export function findUnproved(tokens: readonly Syntax[], wanted: boolean): LeftReason | null {
  const leaves = tokens.flatMap((token) => walk(token)).filter(({ isNamed }) => isNamed)
  if (leaves.every(({ type }) => /^(?:token_tree|\w+_literal|string_content)$/.test(type))) return 'asserts_nothing'
  return hasAlternatives(tokens, wanted) ? 'joined_conditions' : null
}

function hasAlternatives(tokens: readonly Syntax[], wanted: boolean): boolean {
  const [first, second] = tokens
  if (first?.text === 'if') return true
  // One arm at least has to give another outcome.
  if (first?.text === 'match') return !tokens.flatMap((token) => walk(token)).some(({ text }) => text === 'false')
  const alternatives = splitAt(tokens, '||')
  if (alternatives.length > 1) return wanted || alternatives.every((part) => hasAlternatives(part, wanted))
  const parts = splitAt(tokens, '&&')
  if (parts.length > 1) return !wanted || parts.every((part) => hasAlternatives(part, wanted))
  if (first?.text === '!') return hasAlternatives(tokens.slice(1), !wanted)
  const isGroup = first?.type === 'token_tree' && second === undefined && first.text.startsWith('(')
  return isGroup && hasAlternatives(listInner(first), wanted)
}

// A sign at the start belongs to a closure (`|| 1`) or a reference (`&&value`).
function splitAt(tokens: readonly Syntax[], sign: string): readonly (readonly Syntax[])[] {
  const parts: Syntax[][] = [[]]
  for (const token of tokens) {
    if (token.text === sign && parts.at(-1)?.length !== 0) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
}

function listInner(group: Syntax): readonly Syntax[] {
  return group.children.slice(1, -1).filter(({ type }) => !/comment/.test(type))
}
