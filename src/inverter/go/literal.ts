import { changeNumber, changeText, type LiteralChange } from '../literals.js'
import type { Syntax } from '../parse.js'
import { getField, replace } from '../syntax.js'
import type { Edit } from '../types.js'

/** Changes a literal number, string or boolean. Others are left: a change could break the compilation. */
export function changeLiteral(node: Syntax | null | undefined, change: LiteralChange): readonly Edit[] | null {
  switch (node?.type) {
    case 'int_literal':
    case 'float_literal': {
      const changed = changeNumber(node.text, change)
      return changed === null ? null : [replace(node, changed)]
    }
    case 'unary_expression':
      return getField(node, 'operator')?.text === '-' ? changeLiteral(getField(node, 'operand'), change) : null
    case 'interpreted_string_literal':
    case 'raw_string_literal':
      return [replace(node, changeText(node.text, change))]
    case 'true':
    case 'false':
      return [replace(node, node.type === 'true' ? 'false' : 'true')]
    default:
      return null
  }
}
