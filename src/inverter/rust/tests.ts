import type { Syntax } from '../parse.js'
import { getField, walk } from '../syntax.js'
import type { TestRange } from '../test-range.js'

export const FUNCTIONS = ['function_item', 'closure_expression']
const TEST = /^#\[\s*((\w+::)*test|rstest|test_case|test_log::test|wasm_bindgen_test)\b/
const TEST_MODULE = /^#\[\s*cfg\s*\(\s*(test|all\(\s*test)\b/

/** The attributes before an item. */
function listAttributes(node: Syntax): readonly string[] {
  const siblings = node.parent?.children ?? []
  const found: string[] = []
  for (let at = siblings.indexOf(node) - 1; at >= 0; at -= 1) {
    const sibling = siblings[at]
    if (sibling?.type === 'attribute_item') found.push(sibling.text)
    else if (sibling === undefined || !/comment/.test(sibling.type)) break
  }
  return found
}

function isTest(node: Syntax): boolean {
  return node.type === 'function_item' && listAttributes(node).some((text) => TEST.test(text))
}

/** Everything below `tests/` and in test modules and functions; never the code under test. */
export function isTestCode(node: Syntax, path: string): boolean {
  if (/(^|\/)tests\//.test(path)) return true
  if (node.type === 'attribute_item') {
    const siblings = node.parent?.children ?? []
    const item = siblings.slice(siblings.indexOf(node)).find(({ type }) => type === 'function_item')
    if (item !== undefined && isTest(item)) return true
  }
  for (let around = node.parent; around !== null; around = around.parent) {
    if (isTest(around)) return true
    if (around.type === 'mod_item' && listAttributes(around).some((text) => TEST_MODULE.test(text))) return true
  }
  return false
}

export function findTests(root: Syntax): readonly TestRange[] {
  const found: TestRange[] = []
  for (const node of walk(root)) {
    if (!isTest(node)) continue
    const names = [getField(node, 'name')?.text ?? '']
    for (let around = node.parent; around !== null; around = around.parent)
      if (around.type === 'mod_item') names.unshift(getField(around, 'name')?.text ?? '')
    found.push({ name: names.join('::'), line: node.line, start: findAttributesStart(node), end: node.end })
  }
  return found
}

function findAttributesStart(node: Syntax): number {
  const siblings = node.parent?.children ?? []
  let start = node.start
  for (let at = siblings.indexOf(node) - 1; at >= 0 && siblings[at]?.type === 'attribute_item'; at -= 1)
    start = siblings[at]?.start ?? start
  return start
}
