import type { Syntax } from '../parse.js'
import { getField, walk } from '../syntax.js'
import type { TestRange } from '../test-range.js'

export const FUNCTIONS = ['function_definition', 'lambda']

export function findTests(root: Syntax): readonly TestRange[] {
  const found: TestRange[] = []
  for (const node of walk(root)) {
    const name = node.type === 'function_definition' ? (getField(node, 'name')?.text ?? '') : ''
    if (!name.startsWith('test')) continue
    const names = [name]
    let isNested = false
    for (let around = node.parent; around !== null; around = around.parent) {
      if (around.type === 'class_definition') names.unshift(getField(around, 'name')?.text ?? '')
      if (FUNCTIONS.includes(around.type)) isNested = true
    }
    if (isNested) continue
    const { parent } = node
    found.push({
      ...{ name: names.join('::'), line: node.line, start: node.start, end: node.end },
      ...(parent?.type === 'decorated_definition' ? { decoratedFrom: parent.start } : {}),
    })
  }
  return found
}
