import type { Syntax } from '../parse.js'
import { getField, listNamedChildren } from '../syntax.js'
import type { TestRange } from '../test-range.js'

export const FUNCTIONS = ['function_declaration', 'method_declaration', 'func_literal']

export function findTests(root: Syntax): readonly TestRange[] {
  return listNamedChildren(root)
    .filter(({ type }) => type === 'function_declaration' || type === 'method_declaration')
    .map((node) => ({ name: getField(node, 'name')?.text ?? '', line: node.line, start: node.start, end: node.end }))
    .filter(({ name }) => /^(Test|Fuzz|Example)/.test(name) && name !== 'TestMain')
}
