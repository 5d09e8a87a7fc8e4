import type { LiteralChange } from '../literals.js'
import type { Syntax } from '../parse.js'
import { getField, listNamedChildren, walk } from '../syntax.js'

export interface Scope {
  /** Names of *testing.T and similar types. */
  readonly handles: ReadonlySet<string>
  /** Those declared as such. */
  readonly typed: ReadonlySet<string>
  /** Names on which testify methods are called, and whether the first argument is a handle. */
  readonly testify: ReadonlyMap<string, 'package' | 'object'>
  /** Receivers of suites of testify. */
  readonly suites: ReadonlySet<string>
  readonly quicktest: ReadonlySet<string>
  readonly quicktestPackage: string | null
  readonly hasGomega: boolean
  /** Functions of another package may be called without its name. */
  readonly hasDotImport: boolean
  readonly hasTesting: boolean
  readonly change: LiteralChange
}

const HANDLE = /^\*?testing\.(T|B|F|TB)$/

export function readScope(root: Syntax, change: LiteralChange): Scope {
  const imports = walk(root).filter(({ type }) => type === 'import_spec')
  const paths = imports.map(getImportedPath)
  const localName = (pattern: RegExp, usual: string): string | null => {
    const node = imports[paths.findIndex((path) => pattern.test(path))]
    return node === undefined ? null : (getField(node, 'name')?.text ?? usual)
  }
  const testify = new Map<string, 'package' | 'object'>()
  for (const name of ['assert', 'require']) {
    const local = localName(new RegExp(`^github\\.com/stretchr/testify/${name}$`), name)
    if (local !== null) testify.set(local, 'package')
  }
  const quicktestPackage = localName(/quicktest$/, 'quicktest')
  const quicktest = new Set<string>()
  const typed = new Set<string>()
  for (const node of walk(root)) {
    if (node.type === 'parameter_declaration' && HANDLE.test(getField(node, 'type')?.text ?? ''))
      for (const child of node.children) if (child.type === 'identifier') typed.add(child.text)
    const made =
      node.type === 'short_var_declaration'
        ? (/^(\w+)\.New\(/.exec(getField(node, 'right')?.text ?? '')?.[1] ?? '')
        : ''
    const name = getField(node, 'left')?.text ?? ''
    if (testify.get(made) === 'package') testify.set(name, 'object')
    if (made !== '' && made === quicktestPackage) quicktest.add(name)
  }
  const hasSuite = paths.some((path) => /testify\/suite$/.test(path))
  return {
    ...{ handles: new Set(['t', ...typed]), typed, testify, quicktest, quicktestPackage, change },
    suites: hasSuite ? readReceivers(root) : new Set(),
    hasTesting: localName(/^testing$/, 'testing') === 'testing',
    hasDotImport: imports.some((node) => getField(node, 'name')?.text === '.'),
    hasGomega: paths.some((path) => /onsi\/gomega$/.test(path)),
  }
}

function readReceivers(root: Syntax): ReadonlySet<string> {
  const methods = listNamedChildren(root).filter(({ type }) => type === 'method_declaration')
  return new Set(
    methods.map((node) => listNamedChildren(listNamedChildren(getField(node, 'receiver'))[0])[0]?.text ?? ''),
  )
}

export function parseSelector(
  node: Syntax | null,
): { readonly object: Syntax; readonly name: string; readonly field: Syntax } | null {
  const object = getField(node, 'operand')
  const field = getField(node, 'field')
  return node?.type === 'selector_expression' && object !== null && field !== null
    ? { object, name: field.text, field }
    : null
}

function getImportedPath(node: Syntax): string {
  return (getField(node, 'path')?.text ?? '').slice(1, -1)
}

export function readImports(root: Syntax): readonly string[] {
  return walk(root)
    .filter(({ type }) => type === 'import_spec')
    .map(getImportedPath)
}
