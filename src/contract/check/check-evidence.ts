import type { ContractDocument } from '../document.js'
import type { Reading } from '../read/reading.js'

/** Checkpoints: a field that names files has a suitable type. */
export function checkEvidence(reading: Reading, document: ContractDocument): void {
  for (const phase of document.phases) {
    for (const [name, field] of Object.entries(phase.checkpoint?.evidence ?? {})) {
      if (field.grade !== 'artifact' || field.type === 'string' || field.type === 'array') continue
      reading.reportAt(
        'contract.invalid_value',
        [field, 'grade'],
        `The field '${name}' has the grade artifact and the type ${field.type}; a file is named by a string.`,
        'Use the type string, or array for several files.',
      )
    }
  }
}
