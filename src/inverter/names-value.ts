import type { Syntax } from './parse.js'
import { walk } from './syntax.js'

const NAME = /^(?:identifier|shorthand_property_identifier|this|self|composite_literal)$/
/** Names that a language gives, not the code under test. */
const CONSTANTS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'undefined', 'NaN', 'Infinity', 'None', 'True', 'False', 'nil', 'iota'],
  ...['Object', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'Error', 'BigInt', 'unknown', 'any', 'never'],
  ...['int', 'str', 'bool', 'float', 'list', 'dict', 'tuple', 'set', 'len', 'Some', 'Ok', 'Err'],
])

/** Whether an expression names something that code could have made, so that its value is not the text itself. */
export function namesValue(expression: Syntax, isIgnored: (name: string) => boolean = () => false): boolean {
  return listValueNames(expression).some(({ text }) => !isIgnored(text))
}

/** The names of values: not of properties, keyword arguments or macros, nor those that the language gives. */
export function listValueNames(expression: Syntax): readonly Syntax[] {
  return walk(expression).filter(
    (node, at, all) => isValueName(node) && !(all[at + 1]?.type === '!' && node.parent?.type === 'token_tree'),
  )
}

function isValueName({ type, text, field, parent }: Syntax): boolean {
  if (!NAME.test(type) || CONSTANTS.has(text) || field === 'attribute' || field === 'macro') return false
  return field !== 'name' || parent?.type !== 'keyword_argument'
}
