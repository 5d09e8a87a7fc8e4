import { OBSERVED_MEMBERS, observedSource } from '../core/observed-evidence.js'
import type { ContractDocument, EvidenceDocument, PhaseDocument } from './document.js'
import type { Reading } from './reading.js'

/** Checkpoints: every grade can be reached, so that no gate is closed for good. */
export function checkEvidence(reading: Reading, document: ContractDocument): void {
  const commands = Object.keys(document.commands ?? {})
  for (const phase of document.phases) {
    for (const [name, field] of Object.entries(phase.checkpoint?.evidence ?? {})) {
      const problem = gradeProblem(name, field, commands)
      if (problem !== null) reading.report({ ...reading.about(field, 'grade', 'contract.invalid_value'), ...problem })
    }
    checkMinVerified(reading, phase)
  }
}

function gradeProblem(name: string, field: EvidenceDocument, commands: readonly string[]) {
  if (field.grade === 'artifact' && field.type !== 'string' && field.type !== 'array')
    return {
      message: `The field '${name}' has the grade artifact and the type ${field.type}; a file is named by a string.`,
      remedy: 'Use the type string, or array for several files.',
    }
  if (field.grade !== 'observed' || observedSource(commands, name, field.type) !== null) return null
  return {
    message: `No command fills the observed field '${name}' of type ${field.type}.`,
    remedy: `Name it <command>_<member> after an entry of commands; members: ${OBSERVED_MEMBERS.join(', ')}.`,
  }
}

// Where the fields are read from a document, they are counted there.
function checkMinVerified(reading: Reading, phase: PhaseDocument): void {
  if (phase.checkpoint?.source !== undefined) return
  const fields = Object.values(phase.checkpoint?.evidence ?? {})
  const graded = fields.filter((field) => field.grade !== 'reported').length
  if (phase.min_verified <= graded) return
  reading.report({
    ...reading.about(phase, 'min_verified', 'contract.invalid_value'),
    message: `min_verified is ${phase.min_verified}, and ${graded} evidence fields of phase '${phase.id}' have a grade above reported.`,
    remedy: 'Give more fields the grade artifact or observed, or lower min_verified.',
  })
}
