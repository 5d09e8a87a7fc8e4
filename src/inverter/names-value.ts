import type { Syntax } from './parse.js'
import { walk } from './syntax.js'

const NAME = /^(?:identifier|shorthand_property_identifier|this|self|composite_literal)$/
/** Names that a language gives, not the code under test. */
const CONSTANTS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'undefined', 'NaN', 'Infinity', 'None', 'True', 'False', 'nil', 'iota'],
  ...['Object', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'Error', 'BigInt', 'unknown', 'any', 'never'],
  ...['int', 'str', 'bool', 'float', 'list', 'dict', 'tuple', 'set', 'len', 'Some', 'Ok', 'Err', 'vec', 'matches'],
])

/** Whether an expression names something that code could have made, so that its value is not the text itself. */
export function namesValue(expression: Syntax, isIgnored: (name: string) => boolean = () => false): boolean {
  return walk(expression).some((node) => isValueName(node) && !isIgnored(node.text))
}

/** Whether a node is the name of a value: not of a property or a keyword argument, nor one that the language gives. */
export function isValueName({ type, text, field, parent }: Syntax): boolean {
  if (!NAME.test(type) || CONSTANTS.has(text)) return false
  return field !== 'attribute' && !(field === 'name' && parent?.type === 'keyword_argument')
}
