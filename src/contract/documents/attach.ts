import { join } from 'node:path'
import type { Place } from '../diagnostic.js'
import type {
  BlockerDocument,
  CheckpointDocument,
  ContractDocument,
  EvidenceDocument,
  GateDocument,
  PhaseDocument,
} from '../document.js'
import type { Reading } from '../read/reading.js'
import { Folder } from './folder.js'
import { type PhaseGate, readGate } from './gate.js'
import { makeScalarNode } from './nodes.js'
import { findHeadingBySlug, getSection, isHeading } from './sections.js'
import { readSource } from './source.js'
import { countTokens } from './tokens.js'
import type { PhaseSource } from './workflow.js'

const RULES_GATE = 'evidence_rules'
const RULES_SECONDS = 60
const CONTENT_CHARS_MAX = 4 * 1024 * 1024

/** Reads the requirements of each phase's document and puts them, with the document, into the contract. */
export async function attachDocuments(
  reading: Reading,
  document: ContractDocument,
  phases: readonly PhaseSource[],
): Promise<void> {
  for (const source of phases) {
    const phase = document.phases.find((candidate) => candidate.id === String(source.number))
    if (phase === undefined) continue
    const gate = readGate(
      {
        source: source.source,
        blocks: source.blocks,
        title: source.title,
        isGate: false,
        file: source.gateFile,
        none: source.none,
        label: `Phase ${source.number} (${source.source.shown})`,
        isStrict: document.enforcement.mode === 'strict',
      },
      reading.report,
    )
    addDemand(reading, phase, gate)
    phase.document = {
      number: source.number,
      content: source.content,
      sources: [{ file: source.source.file, line: source.line }],
      total_tokens: 0,
      examples: gate.examples,
      tasks: source.tasks.map((task) => ({ ...task })),
    }
  }
  await countContent(reading, document)
}

/** Reads the documents that `checkpoint.source` names. */
export async function attachSources(
  reading: Reading,
  document: ContractDocument,
  baseDir: string | null,
): Promise<void> {
  const named = document.phases.filter((phase) => phase.checkpoint?.source !== undefined)
  if (named.length === 0) return
  const folder = baseDir === null ? null : await Folder.open(baseDir)
  for (const phase of named) await attachSource(reading, document, { phase, folder, baseDir })
  await countContent(reading, document)
}

interface AttachPlace {
  readonly phase: PhaseDocument
  readonly folder: Folder | null
  readonly baseDir: string | null
}

async function attachSource(reading: Reading, document: ContractDocument, named: AttachPlace): Promise<void> {
  const { phase, folder, baseDir } = named
  const { checkpoint } = phase
  if (checkpoint?.source === undefined) return
  const hash = checkpoint.source.indexOf('#')
  const file = hash < 0 ? checkpoint.source : checkpoint.source.slice(0, hash)
  const slug = hash < 0 ? null : checkpoint.source.slice(hash + 1)
  const at = reading.place(checkpoint, 'source')
  const read = folder === null ? ({ status: 'absent' } as const) : await folder.readText(file)
  if (read.status !== 'text' || !/\.(?:md|markdown)$/i.test(file)) {
    const why =
      read.status === 'refused'
        ? read.reason
        : read.status === 'absent'
          ? 'it is not there'
          : 'it is not a Markdown file'
    const message = `The document '${file.slice(0, 200)}' cannot be loaded: ${why}.`
    reading.report({ code: 'contract.unreadable', at, message, remedy: 'Name a Markdown file below the contract.' })
    return
  }
  const shown = join(baseDir ?? '', file)
  const source = readSource(read.text, { shown, file }, reading.report)
  if (source === null) return
  const heading = slug === null ? null : findHeadingBySlug(source.blocks, slug)
  if (slug !== null && heading === null) {
    const message = `${file} has no heading '#${slug.slice(0, 100)}'.`
    reading.report({
      code: 'no_gate_section',
      at,
      message,
      remedy: 'Name the heading as a link to it does: #its-text.',
    })
    return
  }
  const first = source.blocks.find(isHeading) ?? null
  const blocks = heading === null ? source.blocks : getSection(source.blocks, heading)
  const gate = readGate(
    {
      source,
      blocks,
      title: first?.level === 1 ? first : null,
      isGate: heading !== null,
      file: readInlineGate(reading, checkpoint, at),
      none: null,
      label: `Phase ${phase.id} (${shown})`,
      isStrict: document.enforcement.mode === 'strict',
    },
    reading.report,
  )
  addDemand(reading, phase, gate)
  const next = heading === null ? undefined : source.blocks[source.blocks.indexOf(heading) + 1 + blocks.length]
  phase.document = {
    number: null,
    content: (heading === null
      ? source.lines
      : source.lines.slice(heading.line - 1, next === undefined ? undefined : next.line - 1)
    )
      .join('\n')
      .trim(),
    sources: [{ file, line: heading?.line ?? 1 }],
    total_tokens: 0,
    examples: gate.examples,
    tasks: [],
  }
}

// Evidence next to `source` is like a gate file next to a document: both must say the same.
function readInlineGate(reading: Reading, checkpoint: CheckpointDocument, at: Place) {
  const fields = Object.entries(checkpoint.evidence)
  if (fields.length === 0) return null
  const requirements = fields.map(([name, field]) => ({
    name,
    at: reading.place(field) ?? at,
    field,
    said: new Set(['type', 'rules', 'optional', 'grade'] as const),
  }))
  return { requirements, rules: [], isNone: false, at }
}

function addDemand(reading: Reading, phase: PhaseDocument, gate: PhaseGate): void {
  const evidence: Record<string, EvidenceDocument> = Object.create(null)
  for (const { name, at, field } of gate.requirements) {
    evidence[name] = reading.findOrigin(field) === undefined ? reading.made(field, makeScalarNode(name, at)) : field
  }
  if (gate.requirements.length > 0) phase.checkpoint = { evidence }
  else delete phase.checkpoint
  if (gate.rules.length === 0) return
  const first = gate.rules[0]
  const blockers = gate.rules.map(
    ({ when, message, node }): BlockerDocument =>
      reading.made({ check: 'expression', severity: 'blocking', message, when }, node),
  )
  const rules: GateDocument = {
    id: RULES_GATE,
    type: 'validation',
    timeout_seconds: RULES_SECONDS,
    on_timeout: 'park',
    auto_advance: false,
    blockers,
  }
  phase.gates.push(first === undefined ? rules : reading.made(rules, first.node))
}

async function countContent(reading: Reading, document: ContractDocument): Promise<void> {
  const texts = document.phases.flatMap((phase) => (phase.document === undefined ? [] : [phase.document]))
  const chars = texts.reduce(
    (sum, text) => sum + text.content.length + text.tasks.reduce((n, t) => n + t.content.length, 0),
    0,
  )
  if (chars > CONTENT_CHARS_MAX) {
    const message = `The documents have ${chars} characters, more than ${CONTENT_CHARS_MAX}.`
    reading.report({ code: 'contract.too_large', at: { line: 1, column: 1, path: '' }, message })
    return
  }
  const counts = await countTokens(texts.map((text) => text.content))
  for (const [index, text] of texts.entries()) text.total_tokens = counts[index] ?? 0
}
