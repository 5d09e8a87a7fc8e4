import type { Json, JsonObject } from '../../core/json.js'
import { type Place, type Report, toDiagnostic } from '../diagnostic.js'
import type { Requirement } from './field.js'
import { checkBoxFields, parseNamedItem, readNamedItemFields, readTableFields } from './listed-fields.js'
import type { Block, Heading } from './markdown.js'
import { findGateHeadings, getSection, splitOffExamples } from './sections.js'
import { findNoneLine, readSentenceFields } from './sentences.js'
import { findPlace, readYaml, type Sink, type Source } from './source.js'
import { findUnreadRequirements } from './unread.js'
import { type CrossRule, readYamlGate, toJson, type YamlGate } from './yaml-fields.js'

const FIELDS_MAX = 200

/** Where the requirements of one phase are looked for, and nowhere else. */
interface GatePlace {
  readonly source: Source
  readonly blocks: readonly Block[]
  readonly title: Heading | null
  /** The blocks are the gate section, whatever their headings say. */
  readonly isGate: boolean
  /** The content of `gate-definition.yaml`; null when there is none. */
  readonly file: YamlGate | null
  /** Where something else says `checkpoint: none`. */
  readonly none: Place | null
  /** `Phase 3 (docs/x.md)` */
  readonly label: string
  readonly isStrict: boolean
}

export interface PhaseGate {
  readonly requirements: readonly Requirement[]
  readonly rules: readonly CrossRule[]
  readonly examples: JsonObject
}

/** The requirements of a phase. Everything that cannot be understood is an error: nothing is guessed. */
export function readGate(place: GatePlace, report: Sink): PhaseGate {
  const { live, examples } = splitOffExamples(place.blocks)
  const shown = { examples: readExamples(place, examples, live) }
  const headings = place.isGate ? [] : findGateHeadings(live, place.title)
  const second = headings[1]
  if (second !== undefined) {
    const message = `${place.label} has a second gate section, '${second.text}'; the first is '${headings[0]?.text ?? ''}'.`
    report({ code: 'multiple_gate_sections', at: findPlace(place.source, second.line, second.text), message })
    return { ...shown, requirements: [], rules: [] }
  }
  const heading = headings[0]
  const inGate = place.isGate ? live : heading === undefined ? [] : getSection(live, heading)
  const yaml = readYamlBlocks(place, live)
  const sources = findSources(place, { live, inGate, yaml: yaml.found })
  const unread = findUnreadRequirements(place.source, inGate, collectNames(sources))
  const hasErrors = [...sources.map((source) => source.reports), yaml.reports, unread].some((reports) =>
    reports.some(isError),
  )
  for (const one of [...yaml.reports, ...unread]) report(one)
  const none = place.none ?? findNonePlace(place, live, yaml.found)
  const used = choose(sources, none !== null, report)
  if (none !== null && used !== null) {
    const message = `${place.label} says checkpoint: none, and demands '${used.requirements[0]?.name ?? ''}' elsewhere.`
    report({ code: 'gate_drift', at: none, message })
  }
  if (none === null && used === null && !hasErrors) reportNothing(place, heading, report)
  const requirements = used?.requirements ?? []
  const rules = [...yaml.found, ...(place.file === null ? [] : [place.file])].flatMap((gate) => gate.rules)
  checkRules(requirements, rules, report)
  return { ...shown, requirements, rules }
}

function collectNames(sources: readonly FieldSource[]): ReadonlySet<string> {
  return new Set(sources.flatMap(({ requirements }) => requirements.map(({ name }) => name)))
}

interface FieldSource {
  readonly what: string
  readonly isComplete: boolean
  readonly isSentence: boolean
  readonly requirements: readonly Requirement[]
  readonly reports: readonly Report[]
}

function findSources(
  place: GatePlace,
  { live, inGate, yaml }: { live: readonly Block[]; inGate: readonly Block[]; yaml: readonly YamlGate[] },
): FieldSource[] {
  const { source } = place
  const gathered = (what: string, read: (report: Sink) => readonly Requirement[], isComplete = true): FieldSource => {
    const reports: Report[] = []
    return { what, isComplete, isSentence: false, requirements: read((one) => reports.push(one)), reports }
  }
  const listed = new Set(inGate.filter((block) => block.kind === 'paragraph' && block.isItem && isListed(block)))
  const prose = live.filter((block) => !listed.has(block))
  return [
    gathered('the yaml evidence block', () => yaml.flatMap((gate) => gate.requirements)),
    gathered('gate-definition.yaml', () => place.file?.requirements ?? []),
    gathered('the table', (report) => readTableFields(source, inGate, report)),
    gathered('the list', (report) => readNamedItemFields(source, inGate, report)),
    gathered('the check boxes', (report) => checkBoxFields(source, inGate, report), false),
    { ...gathered('a sentence', (report) => readSentenceFields(source, prose, report), false), isSentence: true },
  ]
}

function isListed(block: Block): boolean {
  return (
    block.kind === 'paragraph' && (parseNamedItem(block) !== null || /^\[[ xX]\]/.test(block.pieces[0]?.text ?? ''))
  )
}

/** The first source that yields fields. Reports the problems of all sources, and where they disagree. */
function choose(sources: readonly FieldSource[], hasNone: boolean, report: Sink): FieldSource | null {
  const used = sources.find((source) => source.requirements.length > 0 || source.reports.some(isError))
  if (used === undefined || (hasNone && used.isSentence && used.requirements.length === 0)) return null
  for (const one of used.reports) report(one)
  reportTwice(used.requirements, report)
  for (const later of sources.slice(sources.indexOf(used) + 1)) {
    // Next to a proper list, prose may use the words of a requirement without being one.
    if (!later.isSentence) for (const one of later.reports) if (isError(one)) report(one)
    reportDrift(used, later, report)
  }
  return used.requirements.length === 0 ? null : used
}

function reportTwice(requirements: readonly Requirement[], report: Sink): void {
  const first = new Map<string, Requirement>()
  for (const requirement of requirements) {
    const before = first.get(requirement.name)
    if (before === undefined) first.set(requirement.name, requirement)
    else {
      const message = `The field '${requirement.name}' is already in line ${before.at.line}.`
      report({ code: 'duplicate_field', at: requirement.at, message })
    }
  }
  const last = requirements[FIELDS_MAX]
  if (last !== undefined)
    report({ code: 'contract.too_many', at: last.at, message: `More than ${FIELDS_MAX} fields in one phase.` })
}

function reportDrift(used: FieldSource, later: FieldSource, report: Sink): void {
  if (later.requirements.length === 0) return
  const known = new Map(used.requirements.map((requirement) => [requirement.name, requirement]))
  for (const requirement of later.requirements) {
    const other = known.get(requirement.name)
    const difference =
      other === undefined ? `${used.what} does not` : findDifference(other, requirement, later.isSentence)
    if (difference === null) continue
    const message = `${toCapital(later.what)} demands '${requirement.name}' (${formatField(requirement)}); ${difference}.`
    report({ code: 'gate_drift', at: requirement.at, message })
  }
  if (!later.isComplete) return
  const said = new Set(later.requirements.map((requirement) => requirement.name))
  for (const missing of used.requirements.filter(({ name }) => !said.has(name))) {
    const message = `${toCapital(used.what)} demands '${missing.name}'; ${later.what} does not.`
    report({ code: 'gate_drift', at: missing.at, message })
  }
}

/** Differences between two sources about a field; something that only one of them says does not count. */
function findDifference(used: Requirement, later: Requirement, isSentence: boolean): string | null {
  const says = `line ${used.at.line} says ${formatField(used)}`
  const isNumeric = [used, later].every(({ field }) => field.type === 'integer' || field.type === 'number')
  const isTypeSaid = later.said.has('type') && !(isSentence && (later.field.type === 'string' || isNumeric))
  if (isTypeSaid && used.field.type !== later.field.type) return says
  if (later.said.has('rules') && formatBounds(used) !== formatBounds(later)) return says
  if (later.said.has('optional') && used.field.optional !== later.field.optional) return says
  return later.said.has('grade') && used.field.grade !== later.field.grade ? says : null
}

function formatBounds({ field }: Requirement): string {
  const { min, max, above, min_length, pattern, must_be, may_be_false } = field
  return JSON.stringify(
    [min, max, above, min_length, pattern, field.enum, must_be, may_be_false].map((one) => one ?? null),
  )
}

function formatField({ field }: Requirement): string {
  return [field.type, ...(field.rules ?? []), ...(field.optional ? ['optional'] : [])].join(', ')
}

function readYamlBlocks(
  place: GatePlace,
  live: readonly Block[],
): { readonly found: readonly YamlGate[]; readonly reports: readonly Report[] } {
  const reports: Report[] = []
  const found = live.flatMap((block) => {
    if (block.kind !== 'fence' || !/^ya?ml$/.test(block.tags[0] ?? '') || !block.tags.includes('evidence')) return []
    const { shown, file } = place.source
    const indent = (place.source.lines[block.line - 1] ?? '').search(/[`~]/)
    const node = readYaml(block.text, { shown, line: block.line + 1, column: Math.max(indent, 0) + 1 }, (report) =>
      reports.push(report),
    )
    const gate = node === null ? null : readYamlGate(node, file, (report) => reports.push(report))
    return gate === null ? [] : [gate]
  })
  return { found, reports }
}

function findNonePlace(place: GatePlace, live: readonly Block[], yaml: readonly YamlGate[]): Place | null {
  const gate = [...yaml, ...(place.file === null ? [] : [place.file])].find((one) => one.isNone)
  if (gate !== undefined) return gate.at
  const line = findNoneLine(live)
  return line === null ? null : findPlace(place.source, line, '')
}

function reportNothing(place: GatePlace, heading: Heading | undefined, report: Sink): void {
  const line = heading?.line ?? place.title?.line ?? 1
  report({
    code: heading === undefined && !place.isGate ? 'no_gate_section' : 'no_requirement_found',
    at: findPlace(place.source, line, heading?.text ?? ''),
    message: `${place.label} defines no checkpoint evidence.`,
    severity: place.isStrict ? 'error' : 'warning',
  })
}

// A rule that reads a field which nothing requires would close the gate forever.
function checkRules(requirements: readonly Requirement[], rules: readonly CrossRule[], report: Sink): void {
  const names = new Set(requirements.map((requirement) => requirement.name))
  for (const rule of rules) {
    const code = rule.when.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
    for (const [, name = ''] of code.matchAll(/\bevidence\.([A-Za-z_]\w*)/g)) {
      if (names.has(name)) continue
      const message = `The rule '${rule.when.slice(0, 120)}' reads '${name}', which is not demanded here.`
      report({ code: 'unknown_field', at: rule.node.at, message })
    }
  }
}

function readExamples(place: GatePlace, examples: readonly Block[], live: readonly Block[]): JsonObject {
  const candidates = [
    ...live.filter((block) => block.kind === 'fence' && block.tags.includes('example')),
    ...examples.filter((block) => block.kind === 'fence'),
  ]
  for (const block of candidates) {
    if (block.kind !== 'fence' || !/^(?:json|ya?ml)$/.test(block.tags[0] ?? '')) continue
    const node = readYaml(block.text, { shown: place.source.shown, line: block.line + 1, column: 1 }, () => undefined)
    if (node?.kind === 'map') return toJson(node) as { readonly [key: string]: Json }
  }
  return {}
}

function isError(report: Report): boolean {
  return toDiagnostic(report, '').severity === 'error'
}

function toCapital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
