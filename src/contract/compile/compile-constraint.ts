import type { ToolConstraint } from '../../core/contract/contract.js'
import type { ConstraintDocument, ContractDocument } from '../document.js'

/** Among the path patterns of a phase: the files that `tests.patterns` names. */
const TEST_FILES = '@tests'

type Expand = (globs: readonly string[]) => readonly string[]

export function makeExpander({ patterns }: ContractDocument['tests']): Expand {
  return (globs) => globs.flatMap((glob) => (glob === TEST_FILES ? patterns : [glob]))
}

export function compileConstraint(constraint: ConstraintDocument, expand: Expand): ToolConstraint {
  return {
    allowedPatterns: constraint.allowed_patterns === undefined ? null : expand(constraint.allowed_patterns),
    forbiddenPatterns: expand(constraint.forbidden_patterns ?? []),
    allowedCommands: constraint.allowed_commands ?? null,
    forbiddenCommands: constraint.forbidden_commands ?? [],
    network: constraint.network ?? false,
    timeoutSeconds: constraint.timeout_seconds ?? null,
  }
}
