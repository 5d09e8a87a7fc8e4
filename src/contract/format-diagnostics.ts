import type { Json, JsonObject } from '../core/json.js'
import type { Diagnostic } from './diagnostic.js'
import { CONTRACT_CODES } from './diagnostic.js'

/** For people: `file:line:column: error contract.x: phases[0].id: message`, and the remedy on the next line. */
export function formatText(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((diagnostic) => `${formatLine(diagnostic)}\n    ${toOneLine(diagnostic.remedy)}\n`).join('')
}

function formatLine({ file, line, column, severity, code, path, message }: Diagnostic): string {
  const about = path === '' ? message : `${path}: ${message}`
  return `${toOneLine(file)}:${line}:${column}: ${severity} ${code}: ${toOneLine(about)}`
}

/** For editors: one line for each. */
export function formatLines(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((diagnostic) => `${formatLine(diagnostic)}\n`).join('')
}

/** For GitHub: a workflow command for each, shown at its line. */
export function formatGithub(diagnostics: readonly Diagnostic[]): string {
  return diagnostics
    .map(({ severity, file, line, column, code, path, message }) => {
      const at = `file=${escapeProperty(file)},line=${line},col=${column},title=${escapeProperty(code)}`
      return `::${severity} ${at}::${escapeData(path === '' ? message : `${path}: ${message}`)}\n`
    })
    .join('')
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

// A message quotes the file: control characters in it must not reach a terminal.
function toOneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** For programs. */
export function formatJson(diagnostics: readonly Diagnostic[]): JsonObject {
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length
  return {
    errors,
    warnings: diagnostics.length - errors,
    diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic }) as unknown as JsonObject),
  }
}

/** For code scanning: SARIF 2.1.0. */
export function formatSarif(diagnostics: readonly Diagnostic[], version: string): JsonObject {
  const codes = [...new Set(diagnostics.map((diagnostic) => diagnostic.code))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'phaselock', semanticVersion: version, rules: codes.map(toSarifRule) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => toSarifResult(diagnostic, codes.indexOf(diagnostic.code))),
      },
    ],
  }
}

function toSarifRule(code: string): Json {
  const entry = code in CONTRACT_CODES ? CONTRACT_CODES[code as keyof typeof CONTRACT_CODES] : undefined
  if (entry === undefined) return { id: code }
  return {
    id: code,
    shortDescription: { text: entry.title },
    help: { text: entry.remedy },
    defaultConfiguration: { level: entry.severity },
  }
}

function toSarifResult(diagnostic: Diagnostic, ruleIndex: number): Json {
  return {
    ruleId: diagnostic.code,
    ruleIndex,
    level: diagnostic.severity,
    message: { text: `${diagnostic.message} ${diagnostic.remedy}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodeURI(diagnostic.file.replaceAll('\\', '/')) },
          region: { startLine: diagnostic.line, startColumn: diagnostic.column },
        },
        ...(diagnostic.path === '' ? {} : { logicalLocations: [{ fullyQualifiedName: diagnostic.path }] }),
      },
    ],
    properties: { ...(diagnostic.kind === undefined ? {} : { kind: diagnostic.kind }), ...diagnostic.extra },
  }
}
