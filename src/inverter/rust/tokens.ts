import type { Syntax } from '../parse.js'
import { walk } from '../syntax.js'

/** The arguments of a macro, each as its tokens. Commas between angle brackets of a path do not separate arguments. */
export function splitArguments(body: Syntax): readonly (readonly Syntax[])[] {
  const parts: Syntax[][] = [[]]
  let angles = 0
  const tokens = body.children.slice(1, -1).filter(({ type }) => !/comment/.test(type))
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
