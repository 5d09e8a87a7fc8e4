import type { Syntax } from '../parse.js'
import { getField, walk } from '../syntax.js'
import type { Helper } from '../types.js'

/** Functions and macros that a file may have of the modules that it declares: `mod common;`. */
export function findHelpers(root: Syntax, part: Syntax): readonly Helper[] {
  const modules = walk(root).filter(({ type, children }) => type === 'mod_item' && children.at(-1)?.text === ';')
  const names = walk(part).flatMap((node) => {
    const called = getField(node, node.type === 'macro_invocation' ? 'macro' : 'function')
    return called === null ? [] : [called.text.replace(/^.*::/s, '')]
  })
  return modules.flatMap((node) => {
    const module = getField(node, 'name')?.text ?? ''
    return [...new Set(names)].map((name) => ({ module, name }))
  })
}
