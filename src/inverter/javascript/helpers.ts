import type { Syntax } from '../parse.js'
import { getField, listNamedChildren, walk } from '../syntax.js'
import type { Helper } from '../types.js'
import { readMember } from './nodes.js'

/** What a file calls of other files of the project. */
export function findHelpers(root: Syntax, part: Syntax): readonly Helper[] {
  const imported = new Map<string, Helper>()
  for (const node of walk(root)) {
    if (node.type === 'import_statement') readImport(node, imported)
    else if (node.type === 'variable_declarator') readRequire(node, imported)
  }
  return walk(part).flatMap((node): readonly Helper[] => {
    if (node.type !== 'call_expression') return []
    const callee = getField(node, 'function')
    const member = readMember(callee)
    const helper = imported.get((member?.object ?? callee)?.text ?? '')
    if (helper === undefined) return []
    return [member === null ? helper : { ...helper, name: member.name }]
  })
}

function readImport(node: Syntax, imported: Map<string, Helper>): void {
  const module = readPath(getField(node, 'source'))
  if (module === null) return
  for (const part of walk(node)) {
    const name = part.type === 'import_specifier' ? (getField(part, 'name')?.text ?? '') : 'default'
    if (part.type === 'import_specifier') imported.set(getField(part, 'alias')?.text ?? name, { module, name })
    else if (part.type === 'identifier' && /^(?:import_clause|namespace_import)$/.test(part.parent?.type ?? ''))
      imported.set(part.text, { module, name })
  }
}

function readRequire(node: Syntax, imported: Map<string, Helper>): void {
  const value = getField(node, 'value')
  const call = getField(value, 'object') ?? value
  if (call?.type !== 'call_expression' || getField(call, 'function')?.text !== 'require') return
  const module = readPath(listNamedChildren(getField(call, 'arguments'))[0] ?? null)
  const target = getField(node, 'name')
  if (module === null || target === null) return
  if (target.type === 'identifier')
    imported.set(target.text, { module, name: getField(value, 'property')?.text ?? 'default' })
  for (const part of target.type === 'object_pattern' ? listNamedChildren(target) : [])
    imported.set(getField(part, 'value')?.text ?? part.text, { module, name: getField(part, 'key')?.text ?? part.text })
}

function readPath(node: Syntax | null): string | null {
  const path = (node?.text ?? '').slice(1, -1)
  return path.startsWith('.') ? path : null
}
