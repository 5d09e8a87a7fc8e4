import type { EvidenceField } from '../../src/core/contract/contract.js'

export function evidenceField(about: Partial<EvidenceField> = {}): EvidenceField {
  return {
    type: 'string',
    min: null,
    max: null,
    minLength: null,
    pattern: null,
    enum: null,
    mustBe: undefined,
    optional: false,
    description: 'it',
    ...about,
  }
}
