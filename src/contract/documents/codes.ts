export interface CodeEntry {
  readonly severity: 'error' | 'warning'
  readonly title: string
  readonly remedy: string
  readonly kind?: string
}

const defineError = (title: string, remedy: string): CodeEntry => ({ severity: 'error', title, remedy })
const defineWarning = (title: string, remedy: string): CodeEntry => ({ severity: 'warning', title, remedy })

/** Every code that a document of a workflow can be reported with. Codes never change meaning. */
export const DOCUMENT_CODES = {
  no_gate_section: defineError(
    'A phase document has no gate section',
    'Add a heading that says checkpoint, evidence or validation gate, and list the evidence below it.',
  ),
  multiple_gate_sections: defineError(
    'A phase document has two gate sections',
    'Keep one heading that says checkpoint, evidence or validation gate.',
  ),
  no_requirement_found: defineError(
    'A phase document demands no evidence',
    'List the evidence in its gate section, or say `checkpoint: none`.',
  ),
  unknown_field: defineError('A requirement names no field', 'Put the name of the field in backticks.'),
  unknown_type: defineError('A type is not known', 'Use string, integer, number, boolean, array or object.'),
  unknown_validator: defineError('A rule is not known', 'Use one of the named rules; code is never run.'),
  rule_type_mismatch: defineError('A rule does not fit the type of its field', 'Change the rule or the type.'),
  duplicate_field: defineError('A field is demanded twice', 'Keep one of them.'),
  gate_drift: defineError(
    'Two places in the documents disagree about the evidence',
    'Make them say the same, or keep one.',
  ),
  bad_yaml: defineError('YAML in a document cannot be read', 'Correct the YAML at this place.'),
  derived_field_name: defineWarning('The name of a field was derived from a text', 'Give it an id: {#name}.'),
  legacy_heuristic: defineWarning(
    'A requirement was read from a sentence',
    'Write it as a `yaml evidence` block or a table.',
  ),
} as const satisfies Record<string, CodeEntry>

export type DocumentCode = keyof typeof DOCUMENT_CODES
