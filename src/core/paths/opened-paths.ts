import type { Contract, Phase } from '../contract/contract.js'
import type { Context } from '../task/command.js'
import { findProtection, PROTECTED_WHY } from './protected-paths.js'
import { findSetupKind } from './test-setup-names.js'
import { getWritable } from './writable.js'

/** A path that agents could not change, or that gates hold as it was, and that a phase opens by naming it. */
export interface OpenedPath {
  readonly phase: string
  /** The glob of the contract. */
  readonly pattern: string
  /** `protected`: agents may write it. `pinned`: gates run commands with it as agents left it. */
  readonly kind: 'protected' | 'pinned'
  readonly why: string
}

/** The protected and pinned paths that the phases of a contract open, in the order of the contract. */
export function listOpenedPaths(contract: Contract): readonly OpenedPath[] {
  const lines = listGateLines(contract)
  return [...contract.phases.values()].flatMap((phase) =>
    getWritable(phase).allowed.flatMap((pattern): readonly OpenedPath[] => {
      const kept = findProtection(pattern)
      if (kept !== null)
        return [{ phase: phase.id, pattern, kind: 'protected', why: `${kept.name} ${PROTECTED_WHY[kept.why]}` }]
      return isPinned(pattern, lines)
        ? [{ phase: phase.id, pattern, kind: 'pinned', why: 'decides what commands of gates do' }]
        : []
    }),
  )
}

// By the glob alone: which files a script loads is only known where the project is.
function isPinned(pattern: string, lines: readonly string[]): boolean {
  if (!isFilePattern(pattern) || lines.length === 0) return false
  const name = pattern.slice(pattern.lastIndexOf('/') + 1)
  return findSetupKind(pattern) !== null || lines.some((line) => line.includes(name))
}

function listGateLines(contract: Contract): readonly string[] {
  const blockers = [...contract.phases.values()].flatMap((phase) => [
    ...phase.gates.flatMap((gate) => gate.blockers),
    ...phase.requiredArtifacts.flatMap(({ checks }) => checks),
  ])
  const adHoc = blockers.flatMap(({ params }) => (typeof params.run === 'string' ? [params.run] : []))
  return [...[...contract.commands.values()].map(({ run }) => run), ...adHoc]
}

/** One change of a file that the ledger knows, in the order in which they were made. */
export interface FileWrite {
  readonly phase: string
  readonly by: 'agent' | 'operator'
  /** What the file held then; null: it was deleted, or that is not known. */
  readonly sha256: string | null
}

/**
 * Whether a pinned file may differ from what it was: phases that name it changed it, or an operator accepted it as it was then.
 * A difference that no call explains is permitted where the present phase names the file.
 */
export function allowsPinnedChange(
  contract: Contract,
  file: { readonly path: string; readonly sha256: string | null; readonly writes: readonly FileWrite[] },
  given: Pick<Context, 'matchesGlob'> & { readonly phase: string },
): boolean {
  const isNamedIn = (id: string): boolean => {
    const phase = contract.phases.get(id)
    return phase !== undefined && opensPinned(phase, file.path, given.matchesGlob)
  }
  let isPermitted = true
  for (const write of file.writes) isPermitted = write.by === 'operator' || (isPermitted && isNamedIn(write.phase))
  const last = file.writes.at(-1)
  const isExplained = last !== undefined && (last.by === 'operator' || last.sha256 === file.sha256)
  return isPermitted && (isExplained || isNamedIn(given.phase))
}

/** Whether the phase opens a pinned file: a glob that ends in its very name matches it. */
function opensPinned(phase: Phase, path: string, matchesGlob: Context['matchesGlob']): boolean {
  return getWritable(phase).allowed.some((pattern) => isFilePattern(pattern) && matchesGlob(pattern, path))
}

function isFilePattern(pattern: string): boolean {
  return !/[*?[\]{}]/.test(pattern.slice(pattern.lastIndexOf('/') + 1))
}
