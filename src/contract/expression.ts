import type { ASTNode } from '@marcbachmann/cel-js'
import { Environment } from '@marcbachmann/cel-js'
import { isNeverTrue, listRequiredReads, type ReadPath } from './expression-reads.js'
import { compilePattern } from './patterns.js'

const EXPRESSION_VARIABLES = ['artifacts', 'evidence', 'task', 'observed', 'changes'] as const

type ExpressionResult =
  | {
      readonly ok: true
      /** The variables it reads. */
      readonly variables: ReadonlySet<string>
      /** The artifact types it reads by name. */
      readonly artifacts: ReadonlySet<string>
      /** Members that must exist for it to be true. */
      readonly required: readonly ReadPath[]
      /** Its literals alone make it false. */
      readonly isNeverTrue: boolean
    }
  | { readonly ok: false; readonly reason: string }

const CHARS_MAX = 4096
const environment = new Environment({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false })
for (const variable of EXPRESSION_VARIABLES)
  environment.registerVariable(variable, variable === 'changes' ? 'dyn' : 'map')

/** Parses and type-checks a CEL expression over the known variables, and lists what it reads. */
export function readExpression(text: string): ExpressionResult {
  if (text.length > CHARS_MAX) return { ok: false, reason: `it is longer than ${CHARS_MAX} characters` }
  try {
    const parsed = environment.parse(text)
    const checked = parsed.check()
    if (!checked.valid) return { ok: false, reason: explainError(checked.error) }
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return { ok: false, reason: `it gives ${checked.type ?? 'no value'}, not true or false` }
    }
    return collectReads(parsed.ast)
  } catch (cause) {
    return { ok: false, reason: explainError(cause) }
  }
}

function collectReads(ast: ASTNode): ExpressionResult {
  const variables = new Set<string>()
  const artifacts = new Set<string>()
  const refused: string[] = []
  visit(ast, (node) => {
    if (node.op === 'id') variables.add(node.args)
    const type = findArtifactRead(node)
    if (type !== null) artifacts.add(type)
    refused.push(...findRefusedPatterns(node))
  })
  if (refused[0] !== undefined) return { ok: false, reason: refused[0] }
  const isNever = isNeverTrue(ast, (text) => environment.evaluate(text))
  return { ok: true, variables, artifacts, required: listRequiredReads(ast), isNeverTrue: isNever }
}

/** `artifacts.x` and `artifacts["x"]` read the artifact x. */
function findArtifactRead(node: ASTNode): string | null {
  if (node.op === '.' || node.op === '.?') {
    const [object, field] = node.args
    return object.op === 'id' && object.args === 'artifacts' ? field : null
  }
  if (node.op !== '[]' && node.op !== '[?]') return null
  const [object, index] = node.args
  const isArtifacts = object.op === 'id' && object.args === 'artifacts'
  return isArtifacts && index.op === 'value' && typeof index.args === 'string' ? index.args : null
}

/** A literal pattern must be one that a linear matcher accepts. */
function findRefusedPatterns(node: ASTNode): string[] {
  if (node.op !== 'rcall' || node.args[0] !== 'matches') return []
  const pattern = node.args[2][0]
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') return []
  const compiled = compilePattern(pattern.args)
  return compiled.ok ? [] : [`the pattern '${pattern.args}' is not accepted: ${compiled.reason}`]
}

function visit(node: ASTNode, see: (node: ASTNode) => void): void {
  see(node)
  for (const child of listChildren(node.args)) visit(child, see)
}

function listChildren(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap((item) => listChildren(item))
  return typeof args === 'object' && args !== null && 'op' in args ? [args as ASTNode] : []
}

function explainError(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const line = message.split('\n')[0] ?? message
  return line.startsWith('Unknown variable') ? `${line} (known: ${EXPRESSION_VARIABLES.join(', ')})` : line
}
