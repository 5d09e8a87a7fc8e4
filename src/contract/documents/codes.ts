export interface CodeEntry {
  readonly severity: 'error' | 'warning'
  readonly title: string
  readonly remedy: string
  readonly kind?: string
}

const error = (title: string, remedy: string): CodeEntry => ({ severity: 'error', title, remedy })
const warning = (title: string, remedy: string): CodeEntry => ({ severity: 'warning', title, remedy })

/** Every code that a document of a workflow can be answered with. Codes never change meaning. */
export const DOCUMENT_CODES = {
  no_gate_section: error(
    'A phase document has no gate section',
    'Add a heading that says checkpoint, evidence or validation gate, and list the evidence below it.',
  ),
  multiple_gate_sections: error(
    'A phase document has two gate sections',
    'Keep one heading that says checkpoint, evidence or validation gate.',
  ),
  no_requirement_found: error(
    'A phase document demands no evidence',
    'List the evidence in its gate section, or say `checkpoint: none`.',
  ),
  unknown_field: error('A requirement names no field', 'Put the name of the field in backticks.'),
  unknown_type: error('A type is not known', 'Use string, integer, number, boolean, array or object.'),
  unknown_validator: error('A rule is not known', 'Use one of the named rules; code is never run.'),
  rule_type_mismatch: error('A rule does not fit the type of its field', 'Change the rule or the type.'),
  duplicate_field: error('A field is demanded twice', 'Keep one of them.'),
  gate_drift: error('Two places in the documents disagree about the evidence', 'Make them say the same, or keep one.'),
  bad_yaml: error('YAML in a document cannot be read', 'Correct the YAML at this place.'),
  derived_field_name: warning('The name of a field was derived from a text', 'Give it an id: {#name}.'),
  legacy_heuristic: warning(
    'A requirement was read from a sentence',
    'Write it as a `yaml evidence` block or a table.',
  ),
} as const satisfies Record<string, CodeEntry>

export type DocumentCode = keyof typeof DOCUMENT_CODES
