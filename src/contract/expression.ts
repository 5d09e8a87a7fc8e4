import type { ASTNode } from '@marcbachmann/cel-js'
import { Environment, serialize } from '@marcbachmann/cel-js'
import type { Json } from '../core/contract.js'
import { compilePattern } from './patterns.js'

export const EXPRESSION_VARIABLES = ['artifacts', 'evidence', 'task', 'observed', 'changes'] as const
export type ExpressionVariable = (typeof EXPRESSION_VARIABLES)[number]

export type ExpressionResult =
  | {
      readonly ok: true
      /** The variables it reads. */
      readonly variables: ReadonlySet<string>
      /** The artifact types it reads by name. */
      readonly artifacts: ReadonlySet<string>
      /** True only when the expression gives true; throws when it cannot be evaluated. */
      readonly holds: (context: Readonly<Partial<Record<ExpressionVariable, Json>>>) => boolean
    }
  | { readonly ok: false; readonly reason: string }

const CHARS_MAX = 4096
const LINEAR_MATCHES = 'linear_matches'
const PATTERNS_MAX = 200
const patterns = new Map<string, (text: string) => boolean>()

/** Parses and type-checks a CEL expression over the known variables. */
export function readExpression(text: string): ExpressionResult {
  if (text.length > CHARS_MAX) return { ok: false, reason: `it is longer than ${CHARS_MAX} characters` }
  try {
    const parsed = environment.parse(text)
    const checked = parsed.check()
    if (!checked.valid) return { ok: false, reason: firstLine(checked.error) }
    if (checked.type !== 'bool' && checked.type !== 'dyn')
      return { ok: false, reason: `it gives ${checked.type ?? 'no value'}, not true or false` }
    const variables = new Set<string>()
    const artifacts = new Set<string>()
    const badPatterns: string[] = []
    visit(parsed.ast, (node) => {
      if (node.op === 'id') variables.add(node.args)
      const type = artifactRead(node)
      if (type !== null) artifacts.add(type)
      badPatterns.push(...refusedPattern(node))
      useLinearMatches(node)
    })
    if (badPatterns[0] !== undefined) return { ok: false, reason: badPatterns[0] }
    const run = environment.parse(serialize(parsed.ast))
    return { ok: true, variables, artifacts, holds: (context) => run(withDefaults(context)) === true }
  } catch (cause) {
    return { ok: false, reason: firstLine(cause) }
  }
}

const environment = new Environment({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false })
for (const variable of EXPRESSION_VARIABLES) environment.registerVariable(variable, 'dyn')
environment.registerFunction(`string.${LINEAR_MATCHES}(string): bool`, (text: string, pattern: string) =>
  matcherOf(pattern)(text),
)

function matcherOf(pattern: string): (text: string) => boolean {
  const known = patterns.get(pattern)
  if (known !== undefined) return known
  const compiled = compilePattern(pattern)
  if (!compiled.ok) throw new Error(`the pattern '${pattern}' is refused: ${compiled.reason}`)
  if (patterns.size >= PATTERNS_MAX) patterns.clear()
  patterns.set(pattern, compiled.test)
  return compiled.test
}

function withDefaults(context: Readonly<Partial<Record<ExpressionVariable, Json>>>): Record<string, Json> {
  return { artifacts: {}, evidence: {}, task: {}, observed: {}, changes: [], ...context }
}

/** `artifacts.x` and `artifacts["x"]` read the artifact x. */
function artifactRead(node: ASTNode): string | null {
  if (node.op === '.' || node.op === '.?') {
    const [object, field] = node.args
    return object.op === 'id' && object.args === 'artifacts' ? field : null
  }
  if (node.op !== '[]' && node.op !== '[?]') return null
  const [object, index] = node.args
  const isArtifacts = object.op === 'id' && object.args === 'artifacts'
  return isArtifacts && index.op === 'value' && typeof index.args === 'string' ? index.args : null
}

function refusedPattern(node: ASTNode): string[] {
  if (node.op !== 'rcall' || node.args[0] !== 'matches') return []
  const pattern = node.args[2][0]
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') return []
  const compiled = compilePattern(pattern.args)
  return compiled.ok ? [] : [`the pattern '${pattern.args}' is refused: ${compiled.reason}`]
}

// The library's own `matches` runs V8's engine, which an artifact could hold up for minutes: calls go to RE2 instead.
function useLinearMatches(node: ASTNode): void {
  if (node.op === 'rcall' && node.args[0] === 'matches') node.args[0] = LINEAR_MATCHES
}

function visit(node: ASTNode, see: (node: ASTNode) => void): void {
  see(node)
  for (const child of childrenOf(node.args)) visit(child, see)
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap((item) => childrenOf(item))
  return typeof args === 'object' && args !== null && 'op' in args ? [args as ASTNode] : []
}

function firstLine(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  return message.split('\n')[0] ?? message
}
