import type { ASTNode } from '@marcbachmann/cel-js'

/** A member of a variable, step by step: `artifacts.plan.title` is ['artifacts', 'plan', 'title']. */
export type ReadPath = readonly [variable: string, ...members: string[]]

/**
 * Members that must exist for the expression to be true: reading a missing member is an error, and an error opens no
 * gate.
 */
export function listRequiredReads(node: ASTNode): readonly ReadPath[] {
  return node.op === '&&'
    ? node.args.flatMap(listRequiredReads)
    : [...listStrictReads(node), ...findRequiredMember(node)]
}

/** Reads that happen for all values. Parts that `&&`, `||`, `?:` and macros may skip are left out. */
function listStrictReads(node: ASTNode): readonly ReadPath[] {
  const path = findReadPath(node)
  if (path !== null) return path.length > 1 ? [path] : []
  switch (node.op) {
    case '&&':
    case '||':
    case '.?':
    case '[?]':
    case 'value':
    case 'id':
      return []
    case '?:':
      return listStrictReads(node.args[0])
    case '.':
      return listStrictReads(node.args[0])
    case 'rcall':
      return listStrictReads(node.args[1])
    case 'call':
      return STRICT_CALLS.has(node.args[0]) ? node.args[1].flatMap(listStrictReads) : []
    case '!_':
    case '-_':
      return listStrictReads(node.args)
    case 'list':
      return node.args.flatMap(listStrictReads)
    case 'map':
      return node.args.flatMap((entry) => entry.flatMap(listStrictReads))
    default:
      return node.args.flatMap(listStrictReads)
  }
}

const STRICT_CALLS: ReadonlySet<string> = new Set(['size', 'int', 'uint', 'double', 'string', 'bool', 'type', 'dyn'])

/** `"title" in artifacts.plan` is true only where the plan has a title. */
function findRequiredMember(node: ASTNode): readonly ReadPath[] {
  if (node.op !== 'in') return []
  const [member, holder] = node.args
  const path = findReadPath(holder)
  return path !== null && member.op === 'value' && typeof member.args === 'string' ? [[...path, member.args]] : []
}

function findReadPath(node: ASTNode): ReadPath | null {
  if (node.op === 'id') return [node.args]
  if (node.op === '.') return extendPath(node.args[0], node.args[1])
  if (node.op !== '[]') return null
  const [object, index] = node.args
  return index.op === 'value' && typeof index.args === 'string' ? extendPath(object, index.args) : null
}

function extendPath(object: ASTNode, member: string): ReadPath | null {
  const path = findReadPath(object)
  return path === null ? null : [...path, member]
}

/** True when its literals alone show that the expression is never true. */
export function isNeverTrue(node: ASTNode, evaluate: (text: string) => unknown): boolean {
  return findConstant(node, evaluate) === false
}

// Calls are not evaluated: the time of a pattern in `matches` is not bounded here.
function findConstant(node: ASTNode, evaluate: (text: string) => unknown): boolean | null {
  const both = (args: readonly [ASTNode, ASTNode]) => args.map((arg) => findConstant(arg, evaluate))
  if (node.op === '&&') return both(node.args).includes(false) ? false : null
  if (node.op === '||') {
    const [left, right] = both(node.args)
    return left === true || right === true ? true : left === false && right === false ? false : null
  }
  if (node.op === '!_') {
    const inner = findConstant(node.args, evaluate)
    return inner === null ? null : !inner
  }
  if (node.op !== '?:') return isLiteral(node) ? findLiteralValue(node, evaluate) : null
  const condition = findConstant(node.args[0], evaluate)
  if (condition !== null) return findConstant(node.args[condition ? 1 : 2], evaluate)
  const [yes, no] = [findConstant(node.args[1], evaluate), findConstant(node.args[2], evaluate)]
  return yes === no ? yes : null
}

function isLiteral(node: ASTNode): boolean {
  if (node.op === 'value') return true
  if (node.op === 'id' || node.op === 'call' || node.op === 'rcall') return false
  if (node.op === '.' || node.op === '.?') return isLiteral(node.args[0])
  if (node.op === '!_' || node.op === '-_') return isLiteral(node.args)
  return node.args.every((arg: ASTNode | readonly ASTNode[]) => ('op' in arg ? isLiteral(arg) : arg.every(isLiteral)))
}

function findLiteralValue(node: ASTNode, evaluate: (text: string) => unknown): boolean | null {
  try {
    const value = evaluate(node.input.slice(node.range.start, node.range.end))
    return typeof value === 'boolean' ? value : null
  } catch {
    // An error has no value here: the whole expression decides the result.
    return null
  }
}
