import type { Syntax } from '../parse.js'
import { getField, listNamedChildren } from '../syntax.js'
import type { Site } from '../types.js'
import type { Binding } from './modules.js'

export interface Scope {
  readonly bindings: ReadonlyMap<string, Binding>
  /** First parameters of test functions, with the library of the test. */
  readonly handles: ReadonlyMap<string, string>
  readonly libraries: ReadonlySet<string>
}

export function listArguments(call: Syntax): readonly Syntax[] {
  return listNamedChildren(getField(call, 'arguments'))
}

/** `a.b` and `a['b']` alike. */
export function readMember(node: Syntax | null): { readonly object: Syntax; readonly name: string } | null {
  const object = getField(node, 'object')
  if (node === null || object === null) return null
  if (node.type === 'member_expression') return { object, name: getField(node, 'property')?.text ?? '' }
  const index = node.type === 'subscript_expression' ? getField(node, 'index') : null
  return index?.type === 'string' ? { object, name: index.text.slice(1, -1) } : null
}

export function makeSite(node: Syntax, library: string, assertion: string): Omit<Site, 'turn'> {
  return { start: node.start, end: node.end, line: node.line, library, assertion }
}
