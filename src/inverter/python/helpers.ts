import type { Syntax } from '../parse.js'
import { getField, walk } from '../syntax.js'
import type { Helper } from '../types.js'

/** What a file calls of other modules, or inherits from their classes. */
export function findHelpers(root: Syntax, part: Syntax): readonly Helper[] {
  const imported = new Map<string, Helper>()
  for (const node of walk(root)) {
    const module = getField(node, 'module_name')?.text
    if (node.type !== 'import_from_statement' || module === undefined) continue
    for (const part of node.children.filter(({ field }) => field === 'name')) {
      const name = getField(part, 'name')?.text ?? part.text
      imported.set(getField(part, 'alias')?.text ?? name, { module, name })
    }
  }
  return walk(part).flatMap((node): readonly Helper[] => {
    const callee = node.type === 'call' ? getField(node, 'function') : null
    const isBase = node.type === 'identifier' && node.parent?.parent?.type === 'class_definition'
    const object = isBase ? node : (getField(callee, 'object') ?? callee)
    const helper = imported.get(object?.text ?? '')
    if (helper === undefined) return []
    const method = getField(callee, 'attribute')?.text
    return [method === undefined ? helper : { module: join(helper), name: method }, helper]
  })
}

// `from . import helpers`: the name may be a module.
function join({ module, name }: Helper): string {
  return module.endsWith('.') ? `${module}${name}` : `${module}.${name}`
}
