import type { Contract, Phase } from '../contract/contract.js'
import type { Context } from '../task/command.js'
import { findProtection, PROTECTED_WHY } from './protected-paths.js'
import { findSetupKind } from './test-setup-names.js'
import { getWritable } from './writable.js'

/** A protected or pinned path that a phase opens by naming it. */
interface OpenedPath {
  readonly phase: string
  /** The glob of the contract. */
  readonly pattern: string
  /** `protected`: agents may write it. `pinned`: gates run commands with the agents' version of it. */
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

// By the glob only: which files a script loads is known only in the project.
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

/** A recorded change of a file. Lists of them are in the order of the ledger. */
export interface FileWrite {
  readonly phase: string
  readonly by: 'agent' | 'operator'
  /** The content of the file after it; null: it was deleted, or the content is unknown. */
  readonly sha256: string | null
}

/**
 * Whether a pinned file may differ: phases that name it changed it, or an operator accepted it. An unexplained
 * difference is permitted if the current phase names the file.
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

/** Whether the phase opens a pinned file: only a glob that ends in its exact name does. */
function opensPinned(phase: Phase, path: string, matchesGlob: Context['matchesGlob']): boolean {
  return getWritable(phase).allowed.some((pattern) => isFilePattern(pattern) && matchesGlob(pattern, path))
}

function isFilePattern(pattern: string): boolean {
  return !/[*?[\]{}]/.test(pattern.slice(pattern.lastIndexOf('/') + 1))
}
