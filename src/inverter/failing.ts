import { namesValue } from './names-value.js'
import type { Syntax } from './parse.js'
import { getField, walk } from './syntax.js'

const CHOICE =
  /^(?:if_statement|if_expression|elif_clause|switch_statement|expression_switch_statement|expression_case|type_switch_statement|match_statement|match_expression|for_statement|for_in_statement|for_expression|while_statement|while_expression|conditional_expression|ternary_expression|boolean_operator|binary_expression)$/
const BRANCH = /^(?:body|consequence|alternative)$/
const CASE = /^(?:expression_case|type_case|default_case|communication_case)$/
const LEAVES = /^(?:return|continue|break|goto)_(?:statement|expression)$/

/** The functions of a language: those in which a statement is not part of the test around them. */
interface Functions {
  readonly types: readonly string[]
  /** Whether the function runs with the test around it, or is a test itself: not called back by the code under test. */
  isPartOfTest(node: Syntax): boolean
  /** Names that say nothing about the code under test. */
  isIgnored?(name: string): boolean
}

/**
 * Where a statement that fails its test depends on what the code under test made: in a branch of a condition that names
 * a value, behind a statement that leaves the function, or in a function that the code calls.
 */
export function findDependence(failing: Syntax, functions: Functions): 'branch' | 'error' | 'callback' | null {
  for (let node = failing, around = failing.parent; around !== null; node = around, around = around.parent) {
    if (functions.types.includes(around.type)) {
      if (functions.isPartOfTest(around)) continue
      return hasFunctionAround(around, functions) ? 'callback' : null
    }
    if (isBranch(node, around, functions) || isAfterLeaving(node, around, functions)) return 'branch'
    if (around.type === 'try_statement') return 'error'
  }
  return null
}

function hasFunctionAround(node: Syntax, { types }: Functions): boolean {
  for (let around = node.parent; around !== null; around = around.parent) if (types.includes(around.type)) return true
  return false
}

function isBranch(node: Syntax, around: Syntax, { isIgnored }: Functions): boolean {
  if (around.type === 'select_statement' || around.type === 'type_switch_statement') return true
  if (around.type === 'let_declaration') return node.field === 'alternative'
  if (!CHOICE.test(around.type)) return false
  return listConditions(node, around).some((condition) => namesValue(condition, isIgnored))
}

function listConditions(node: Syntax, around: Syntax): readonly Syntax[] {
  return around.children.flatMap((child): readonly Syntax[] => {
    if (CASE.test(child.type)) return [getField(child, 'value') ?? getField(child, 'communication') ?? []].flat()
    return child === node || BRANCH.test(child.field ?? '') ? [] : [child]
  })
}

/** `if right { return }`, and everything that leaves a loop or the function on the way to the statement. */
function isAfterLeaving(node: Syntax, around: Syntax, { types }: Functions): boolean {
  if (!/block|body|statement_list|module|program/.test(around.type)) return false
  const before = around.children.slice(0, around.children.indexOf(node))
  return before.some((sibling) => leaves(sibling, types))
}

function leaves(statement: Syntax, functions: readonly string[]): boolean {
  if (LEAVES.test(statement.type)) return true
  return !functions.includes(statement.type) && statement.children.some((child) => leaves(child, functions))
}

/** Names of the functions that a file defines itself. */
export function listOwnFunctions(root: Syntax, types: readonly string[]): ReadonlyMap<string, Syntax> {
  const found = new Map<string, Syntax>()
  for (const node of walk(root)) {
    if (!types.includes(node.type)) continue
    const holder = node.parent?.type === 'variable_declarator' || node.parent?.type === 'pair' ? node.parent : node
    const name = getField(holder, 'name') ?? getField(holder, 'key')
    if (name !== null) found.set(name.text, node)
  }
  return found
}
