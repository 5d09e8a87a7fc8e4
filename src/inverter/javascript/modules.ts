import type { Syntax } from '../parse.js'
import { getField, listNamedChildren, walk } from '../syntax.js'

/** The assertions that a module provides. */
type Role = 'assert' | 'expect' | 'chai' | 'test' | 'supertest' | 'unknown'

interface KnownModule {
  readonly module: RegExp
  readonly library: string
  readonly role: Role
}

/** Modules whose assertions have no rules. */
export const OTHER_LIBRARIES =
  /^(should|must|unexpected|expect\.js|jasmine|qunit|sinon-assert|japa|zora|lab|@hapi\/code|@japa\/assert|earl)$/

const KNOWN: readonly KnownModule[] = [
  { module: /^(node:)?assert(\/strict)?$|^power-assert$/, library: 'node:assert', role: 'assert' },
  { module: /^uvu\/assert$/, library: 'uvu', role: 'assert' },
  { module: /^chai(\/.*)?$/, library: 'chai', role: 'chai' },
  { module: /^vitest$/, library: 'vitest', role: 'expect' },
  { module: /^@jest\/globals$|^expect$|^bun:test$/, library: 'jest', role: 'expect' },
  { module: /^@playwright\/test$/, library: 'playwright', role: 'expect' },
  { module: /^(node:)?test$/, library: 'node:test', role: 'test' },
  { module: /^tape$|^tape-promise|^fresh-tape$/, library: 'tape', role: 'test' },
  { module: /^tap$|^@tapjs\//, library: 'tap', role: 'test' },
  { module: /^ava$/, library: 'ava', role: 'test' },
  { module: /^supertest$/, library: 'supertest', role: 'supertest' },
  { module: OTHER_LIBRARIES, library: '', role: 'unknown' },
]

export interface Binding {
  /** Its name in the module; `default` and `*` for the whole module. */
  readonly imported: string
  readonly library: string
  readonly role: Role
}

/** Local names imported from a known assertion module. */
export function readBindings(root: Syntax): ReadonlyMap<string, Binding> {
  const found = new Map<string, Binding>()
  for (const node of walk(root)) {
    if (node.type === 'import_statement') readImport(node, found)
    else if (node.type === 'variable_declarator') readRequire(node, 'name', 'value', found)
    else if (node.type === 'assignment_expression') readRequire(node, 'left', 'right', found)
  }
  return found
}

function findKnownModule(quoted: string | undefined): Omit<KnownModule, 'module'> | null {
  const name = (quoted ?? '').slice(1, -1)
  const known = KNOWN.find(({ module }) => module.test(name))
  return known === undefined ? null : { library: known.library === '' ? name : known.library, role: known.role }
}

function readImport(node: Syntax, found: Map<string, Binding>): void {
  const known = findKnownModule(getField(node, 'source')?.text)
  if (known === null) return
  for (const part of walk(node)) {
    if (part.type === 'import_specifier') {
      const imported = getField(part, 'name')?.text ?? ''
      found.set(getField(part, 'alias')?.text ?? imported, { ...known, imported })
    } else if (part.type === 'identifier' && part.parent?.type === 'import_clause')
      found.set(part.text, { ...known, imported: 'default' })
    else if (part.type === 'namespace_import')
      found.set(listNamedChildren(part)[0]?.text ?? '', { ...known, imported: '*' })
  }
}

const REQUIRED = /^require\((['"][^'"]+['"])\)(?:\.(\w+))?(?:\(\))?$/

function readRequire(node: Syntax, left: string, right: string, found: Map<string, Binding>): void {
  const given = getField(node, right)?.text ?? ''
  const match = given.length > 200 ? null : REQUIRED.exec(given)
  const known = findKnownModule(match?.[1])
  const name = getField(node, left)
  if (known === null || name === null) return
  if (name.type === 'identifier') {
    found.set(name.text, { ...known, imported: match?.[2] ?? 'default' })
    return
  }
  for (const part of listNamedChildren(name)) {
    if (part.type === 'shorthand_property_identifier_pattern') found.set(part.text, { ...known, imported: part.text })
    else if (part.type === 'pair_pattern')
      found.set(getField(part, 'value')?.text ?? '', { ...known, imported: getField(part, 'key')?.text ?? '' })
  }
}
