import { type CodeEntry, DOCUMENT_CODES } from './documents/codes.js'

/** A place in the contract file; `path` is spelled as in the file: `phases[0].gates[1].type`. */
export interface Place {
  readonly line: number
  readonly column: number
  readonly path: string
  /** The document, if it is not the contract's own file. */
  readonly file?: string
}

/** One error or warning about a contract. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  readonly code: string
  /** The error kinds of rules: InvalidRulePattern, InvalidRuleThreshold, UnknownRuleType. */
  readonly kind?: string
  readonly path: string
  readonly message: string
  readonly remedy: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly extra?: Readonly<Record<string, string | number>>
}

const defineError = (title: string, remedy: string, kind?: string): CodeEntry =>
  kind === undefined ? { severity: 'error', title, remedy } : { severity: 'error', title, remedy, kind }
const defineWarning = (title: string, remedy: string): CodeEntry => ({ severity: 'warning', title, remedy })

/** Every code that a contract can be reported with. Codes never change meaning. */
export const CONTRACT_CODES = {
  'contract.unreadable': defineError('The file cannot be read', 'Check the path and the permissions.'),
  'contract.too_large': defineError('The file is too large', 'Keep the contract under 1 MiB.'),
  'contract.not_utf8': defineError('The file is not UTF-8 text', 'Save the file as UTF-8.'),
  'contract.byte_order_mark': defineError(
    'The file starts with a byte order mark',
    'Save the file as UTF-8 without one.',
  ),
  'contract.nul_byte': defineError('The file contains a NUL byte', 'Remove it; contracts are plain text.'),
  'contract.invalid_yaml': defineError('The file is not well-formed YAML', 'Correct the syntax at this place.'),
  'contract.multiple_documents': defineError('The file holds several documents', 'Keep one contract per file.'),
  'contract.unknown_tag': defineError('A YAML tag is not accepted', 'Remove the tag; plain values are enough.'),
  'contract.alias_limit': defineError('Aliases expand too far', 'Write the values out, or use fewer aliases.'),
  'contract.too_deep': defineError('Values are nested too deeply', 'Keep nesting under 64 levels.'),
  'contract.too_many': defineError('A list or map has too many entries', 'Keep every list and map under 1000 entries.'),
  'contract.empty': defineError('The file is empty', 'Write a contract with name, version and phases.'),
  'contract.unknown_base': defineError(
    'The extended contract does not exist',
    'Name a preset, a bundled workflow or a file below the folder of the contract.',
  ),
  'contract.extends_cycle': defineError('Contracts extend each other in a circle', 'Remove one of the extends.'),
  'contract.no_phases': defineError('The contract has no phases', 'Add at least one entry under phases.'),
  'contract.duplicate_id': defineError('An id is used twice', 'Give each its own id.'),
  'contract.duplicate_key': defineError('A key is written twice', 'Keep one of them.'),
  'contract.unknown_key': defineError(
    'A key is not known here',
    'Correct the spelling, or start your own keys with x-.',
  ),
  'contract.missing_field': defineError('A required field is missing', 'Add the field.'),
  'contract.wrong_type': defineError('A value has the wrong type', 'Write a value of the expected type.'),
  'contract.invalid_value': defineError('A value is not accepted', 'Use one of the accepted values.'),
  'contract.not_positive': defineError('A number must be a positive integer', 'Write a whole number of at least 1.'),
  'contract.invalid_id': defineError(
    'An id has characters it may not have',
    'Use 1 to 64 of A-Z, a-z, 0-9, _, . and -.',
  ),
  'contract.unknown_phase': defineError('A transition names a phase that does not exist', 'Name one of the phases.'),
  'contract.unreachable_phase': defineError('A phase cannot be reached', 'Add a transition to it, or remove it.'),
  'contract.no_terminal_phase': defineError(
    'No final phase can be reached',
    'Add a way to a phase without transitions.',
  ),
  'contract.duplicate_transition': defineError(
    'A transition is written twice',
    'Keep the first; the second never matches.',
  ),
  'contract.unknown_tool': defineError(
    'Nothing provides this tool',
    'Name a built-in tool, an own tool or server.tool.',
  ),
  'contract.unknown_tool_group': defineError(
    'A group of tools is not known',
    'Use @read, @write, @shell, @git or @ask.',
  ),
  'contract.unknown_check': defineError('A check is not known', 'Name one of the built-in checks.'),
  'contract.unknown_gate': defineError('A gate is not known', 'Name a gate of the phase being left.'),
  'contract.unused_gate': defineError('No transition uses this gate', 'Name it in a transition, or remove it.'),
  'contract.unknown_severity': defineError('A severity is not known', 'Use blocking, warning or info.'),
  'contract.unknown_mode': defineError('An enforcement mode is not known', 'Use strict, permissive or advisory.'),
  'contract.unknown_agent': defineError('An agent is not defined', 'Add it under agents.'),
  'contract.unknown_command': defineError('A command is not defined', 'Add it under commands.'),
  'contract.missing_schema': defineError('A schema is missing', 'Add the file, or an entry under schemas.'),
  'contract.invalid_schema': defineError(
    'A schema is not a valid JSON Schema',
    'Correct the schema (2020-12 or draft-07).',
  ),
  'contract.invalid_regex': defineError(
    'A regular expression is not accepted',
    'Use RE2 syntax: no look-around, no back-references.',
  ),
  'contract.invalid_expression': defineError(
    'An expression is not accepted',
    'Write a CEL expression that gives true or false.',
  ),
  'contract.invalid_rule_pattern': defineError(
    "A rule's pattern is not accepted",
    'Use RE2 syntax: no look-around, no back-references.',
    'InvalidRulePattern',
  ),
  'contract.invalid_rule_threshold': defineError(
    "A rule's number is not a positive integer",
    'Write a whole number of at least 1.',
    'InvalidRuleThreshold',
  ),
  'contract.unknown_rule_type': defineError(
    'A rule type is not known',
    'Use one of the known rules.',
    'UnknownRuleType',
  ),
  'contract.missing_artifact_for_check': defineError(
    'A check reads an artifact that nothing demands',
    'Require the artifact in this phase or an earlier one.',
  ),
  'contract.no_approver': defineError('Nobody could answer an approval', 'List an approver such as human.'),
  'contract.gate_cannot_open': defineError('A gate can never open', 'Change what the message names, or remove it.'),
  'contract.missing_guide': defineError('A guide is missing', 'Add the guide file, or correct the name.'),
  'contract.unresolvable_placeholder': defineError(
    'A placeholder can never be filled',
    'Correct or remove the placeholder.',
  ),
  'contract.tool_allowed_and_forbidden': defineWarning(
    'A tool is both allowed and forbidden',
    'Forbidden wins; keep one.',
  ),
  'contract.unproducible_evidence': defineWarning(
    'No allowed tool could produce what the phase requires',
    'Allow a tool that can, or require it elsewhere.',
  ),
  'contract.unused_constraint': defineWarning(
    'A constraint is for a tool the phase does not allow',
    'Allow the tool, or drop it.',
  ),
  'contract.unused_setting': defineWarning('A setting has no effect', 'Remove it, or add what reads it.'),
  'contract.human_decides': defineWarning(
    'The approver orchestrator has no effect next to human',
    'Remove one of the two approvers.',
  ),
  'contract.effect_differs': defineWarning(
    'A key does not do what its name says',
    'Remove it, or rely on what the message says.',
  ),
  'contract.not_enforced_yet': defineWarning(
    'This version understands this but cannot enforce it',
    'Remove it to create tasks under this contract with this version.',
  ),
  ...DOCUMENT_CODES,
} as const satisfies Record<string, CodeEntry>

export type ContractCode = keyof typeof CONTRACT_CODES

export interface Report {
  readonly code: ContractCode
  readonly at: Place
  readonly message: string
  readonly remedy?: string | undefined
  readonly extra?: Readonly<Record<string, string | number>>
  /** For codes whose severity depends on the mode of the contract. */
  readonly severity?: 'error' | 'warning'
}

/** Turns a report into a diagnostic of `file`, with the severity, kind and remedy that the table gives its code. */
export function toDiagnostic(report: Report, file: string): Diagnostic {
  const entry: CodeEntry = CONTRACT_CODES[report.code]
  return {
    severity: report.severity ?? entry.severity,
    code: report.code,
    ...(entry.kind === undefined ? {} : { kind: entry.kind }),
    path: report.at.path,
    message: report.message,
    remedy: report.remedy ?? entry.remedy,
    file: report.at.file ?? file,
    line: report.at.line,
    column: report.at.column,
    ...(report.extra === undefined ? {} : { extra: report.extra }),
  }
}

/** In the order of files and lines, errors before warnings at one place; duplicates are removed. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const distinct = new Map(diagnostics.map((d) => [JSON.stringify([d.file, d.line, d.column, d.code, d.message]), d]))
  const files = [...new Set(diagnostics.map((d) => d.file))].sort()
  return [...distinct.values()].sort(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      a.severity.localeCompare(b.severity) ||
      a.code.localeCompare(b.code),
  )
}
