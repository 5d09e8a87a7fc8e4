import { type CodeEntry, DOCUMENT_CODES } from './documents/codes.js'

/** Where something stands in the contract file; `path` is spelled as the file spells it: `phases[0].gates[1].type`. */
export interface Place {
  readonly line: number
  readonly column: number
  readonly path: string
  /** The document it stands in, where that is not the contract's own file. */
  readonly file?: string
}

/** One thing that is wrong with a contract, or that its author should know. */
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

const error = (title: string, remedy: string, kind?: string): CodeEntry =>
  kind === undefined ? { severity: 'error', title, remedy } : { severity: 'error', title, remedy, kind }
const warning = (title: string, remedy: string): CodeEntry => ({ severity: 'warning', title, remedy })

/** Every code a contract can be answered with. Codes never change meaning. */
export const CONTRACT_CODES = {
  'contract.unreadable': error('The file cannot be read', 'Check the path and the permissions.'),
  'contract.too_large': error('The file is too large', 'Keep the contract under 1 MiB.'),
  'contract.not_utf8': error('The file is not UTF-8 text', 'Save the file as UTF-8.'),
  'contract.byte_order_mark': error('The file starts with a byte order mark', 'Save the file as UTF-8 without one.'),
  'contract.nul_byte': error('The file contains a NUL byte', 'Remove it; contracts are plain text.'),
  'contract.invalid_yaml': error('The file is not well-formed YAML', 'Correct the syntax at this place.'),
  'contract.multiple_documents': error('The file holds several documents', 'Keep one contract per file.'),
  'contract.unknown_tag': error('A YAML tag is not accepted', 'Remove the tag; plain values are enough.'),
  'contract.alias_limit': error('Aliases expand too far', 'Write the values out, or use fewer aliases.'),
  'contract.too_deep': error('Values are nested too deeply', 'Keep nesting under 64 levels.'),
  'contract.too_many': error('A list or map has too many entries', 'Keep every list and map under 1000 entries.'),
  'contract.empty': error('The file is empty', 'Write a contract with name, version and phases.'),
  'contract.no_phases': error('The contract has no phases', 'Add at least one entry under phases.'),
  'contract.duplicate_id': error('An id is used twice', 'Give each its own id.'),
  'contract.duplicate_key': error('A key is written twice', 'Keep one of them.'),
  'contract.unknown_key': error('A key is not known here', 'Correct the spelling, or start your own keys with x-.'),
  'contract.missing_field': error('A required field is missing', 'Add the field.'),
  'contract.wrong_type': error('A value has the wrong type', 'Write a value of the expected type.'),
  'contract.invalid_value': error('A value is not accepted', 'Use one of the accepted values.'),
  'contract.not_positive': error('A number must be a positive integer', 'Write a whole number of at least 1.'),
  'contract.invalid_id': error('An id has characters it may not have', 'Use 1 to 64 of A-Z, a-z, 0-9, _, . and -.'),
  'contract.unknown_phase': error('A transition names a phase that is not there', 'Name one of the phases.'),
  'contract.unreachable_phase': error('A phase cannot be reached', 'Add a transition to it, or remove it.'),
  'contract.no_terminal_phase': error('No final phase can be reached', 'Add a way to a phase without transitions.'),
  'contract.duplicate_transition': error('A transition is written twice', 'Keep the first; the second never matches.'),
  'contract.unknown_tool': error('Nothing provides this tool', 'Name a built-in tool, an own tool or server.tool.'),
  'contract.unknown_check': error('A check is not known', 'Name one of the built-in checks.'),
  'contract.unknown_gate': error('A gate is not known', 'Name a gate of the phase being left.'),
  'contract.unused_gate': error('No transition is held by this gate', 'Name it in a transition, or remove it.'),
  'contract.unknown_severity': error('A severity is not known', 'Use blocking, warning or info.'),
  'contract.unknown_mode': error('An enforcement mode is not known', 'Use strict, permissive or advisory.'),
  'contract.unknown_agent': error('An agent is not defined', 'Add it under agents.'),
  'contract.unknown_command': error('A command is not defined', 'Add it under commands.'),
  'contract.missing_schema': error('A schema is not there', 'Add the file, or an entry under schemas.'),
  'contract.invalid_schema': error('A schema is not a valid JSON Schema', 'Correct the schema (2020-12 or draft-07).'),
  'contract.invalid_regex': error(
    'A regular expression is not accepted',
    'Use RE2 syntax: no look-around, no back-references.',
  ),
  'contract.invalid_expression': error(
    'An expression is not accepted',
    'Write a CEL expression that gives true or false.',
  ),
  'contract.invalid_rule_pattern': error(
    "A rule's pattern is not accepted",
    'Use RE2 syntax: no look-around, no back-references.',
    'InvalidRulePattern',
  ),
  'contract.invalid_rule_threshold': error(
    "A rule's number is not a positive integer",
    'Write a whole number of at least 1.',
    'InvalidRuleThreshold',
  ),
  'contract.unknown_rule_type': error('A rule type is not known', 'Use one of the known rules.', 'UnknownRuleType'),
  'contract.missing_artifact_for_check': error(
    'A check reads an artifact that nothing demands',
    'Require the artifact in this phase or an earlier one.',
  ),
  'contract.no_approver': error('Nobody could answer an approval', 'List an approver such as human.'),
  'contract.gate_cannot_open': error('A gate can never open', 'Change what the message names, or remove it.'),
  'contract.missing_guide': error('A guide is not there', 'Add the guide file, or correct the name.'),
  'contract.unresolvable_placeholder': error('A placeholder can never be filled', 'Correct or remove the placeholder.'),
  'contract.tool_allowed_and_forbidden': warning('A tool is both allowed and forbidden', 'Forbidden wins; keep one.'),
  'contract.unproducible_evidence': warning(
    'No allowed tool could produce what the phase requires',
    'Allow a tool that can, or require it elsewhere.',
  ),
  'contract.unused_constraint': warning(
    'A constraint is for a tool the phase does not allow',
    'Allow the tool, or drop it.',
  ),
  'contract.unused_setting': warning('A setting has no effect', 'Remove it, or add what reads it.'),
  'contract.human_decides': warning('The human decides beside the orchestrator', 'Remove one of the two approvers.'),
  'contract.effect_differs': warning(
    'A key does something else than it says',
    'Remove it, or rely on what is said here.',
  ),
  'contract.not_enforced_yet': warning(
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
  /** Where the mode of the contract decides how grave it is. */
  readonly severity?: 'error' | 'warning'
}

/** Turns a report into a diagnostic of `file`, with the severity, kind and remedy that the table gives its code. */
export function diagnosticOf(report: Report, file: string): Diagnostic {
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

/** In the order of the files and of their lines, errors before warnings at one place; what was found twice is said once. */
export function inFileOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
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
