import type { Place } from '../diagnostic.js'
import type { MapNode } from '../load/yaml.js'
import type { Block, Heading } from './markdown.js'
import { isHeading, parsePhaseHeading } from './sections.js'
import type { Settings } from './settings.js'
import { findPlace, type Sink, type Source } from './source.js'

interface NumberedPhase {
  readonly number: number
  readonly source: Source
  readonly line: number
}

// A missing number means that somebody deleted or misspelled a phase: it must not be skipped.
export function checkNumbers(settings: Settings, phases: readonly NumberedPhase[], report: Sink): boolean {
  for (const [index, { number, source, line }] of phases.entries()) {
    const before = phases[index - 1]
    const at: Place = { line, column: 1, path: '', file: source.shown }
    if (before === undefined && number > 1)
      report({ code: 'contract.invalid_value', at, message: `The first phase is ${number}; phases begin at 0 or 1.` })
    if (before === undefined || number === before.number + 1) continue
    const code = phases.slice(0, index).some((one) => one.number === number)
      ? 'contract.duplicate_id'
      : 'contract.invalid_value'
    report({ code, at, message: `Phase ${number} follows phase ${before.number}; it should be ${before.number + 1}.` })
  }
  const numbers = new Set(phases.map((phase) => phase.number))
  for (const [number, node] of settings.phases) {
    if (numbers.has(number)) continue
    report({ code: 'contract.unknown_phase', at: node.at, message: `There is no document of phase ${number}.` })
  }
  const total = settings.totalPhases
  if (total !== null && total.number !== phases.length) {
    const message = `total_phases is ${total.number}, and there are ${phases.length}.`
    report({ code: 'contract.invalid_value', at: total.at, message })
  }
  return numbers.size === phases.length
}

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const LIKE_PHASE = new RegExp(
  String.raw`^(?:[^\p{L}\p{N}]*(?:\d{1,4}[.)]\s*)?)phase\s+(?:#\s*)?(\d{1,4}|${NUMBERS.join('|')})(?![\p{L}\p{N}])`,
  'iu',
)
const IN_HTML = /<h[1-6]\b[^>]*>\s*(phase\s[^<]*)/i
const IN_CODE = /^ {0,3}##[ \t]+(phase[ \t].*)$/im

/** The phase that a heading refers to, however it is written; null when it refers to none. */
function parsePhaseNumber(text: string): number | null {
  const said = LIKE_PHASE.exec(text.normalize('NFKC'))?.[1]?.toLowerCase()
  if (said === undefined) return null
  const word = NUMBERS.indexOf(said)
  return word < 0 ? Number(said) : word
}

/**
 * In a one-file workflow: headings that mention a later phase without beginning it. Its text would be part of the
 * previous phase, or of none, and the phase would be skipped.
 */
export function reportStrayPhases(source: Source, report: Sink): void {
  const begun = new Set<number>()
  for (const block of source.blocks) {
    if (isHeading(block) && block.level === 2 && parsePhaseHeading(block.text) !== null) {
      begun.add(parsePhaseHeading(block.text)?.number ?? 0)
      continue
    }
    const text = findHeading(source, block)
    const number = text === null ? null : parsePhaseNumber(text)
    if (text === null || number === null || begun.has(number)) continue
    // Before the first phase it is the title of the whole workflow.
    const isTitle = begun.size === 0 && isHeading(block) && block.level === 1 && parsePhaseHeading(block.text) === null
    if (isTitle) continue
    report({
      code: 'contract.invalid_value',
      at: findPlace(source, block.line, ''),
      message: `'${text.trim().slice(0, 80)}' mentions phase ${number} but does not start it.`,
      remedy: `Write it as a heading of level 2: \`## Phase ${number}: Name\`.`,
    })
  }
}

function findHeading(source: Source, block: Block): string | null {
  if (isHeading(block)) return block.text
  if (block.kind === 'html') return IN_HTML.exec(block.text)?.[1] ?? null
  // A code block that is never closed includes the rest of the file.
  const isOpen = block.kind === 'fence' && !/^[\s>]*(?:`{3,}|~{3,})\s*$/.test(source.lines[block.end - 2] ?? '')
  return isOpen ? (IN_CODE.exec(block.text)?.[1] ?? null) : null
}

interface StatedNumber {
  readonly number: number
  readonly title: Heading | null
  readonly head: MapNode | null
}

/** In a folder: a document whose title or front matter has another number than its folder. */
export function reportOtherNumber(source: Source, { number, title, head }: StatedNumber, report: Sink): void {
  const titled = title === null || title.level !== 1 ? null : parsePhaseNumber(title.text)
  const said: { number: number; at: Place }[] =
    title === null || titled === null ? [] : [{ number: titled, at: findPlace(source, title.line, '') }]
  for (const key of ['phase', 'phase_number', 'number', 'id']) {
    const entry = head?.entries.get(key)
    const value = entry?.value.kind === 'scalar' ? entry.value.value : null
    if (entry !== undefined && value !== null && /^\d{1,9}$/.test(String(value)))
      said.push({ number: Number(value), at: entry.keyAt })
  }
  for (const other of said.filter((one) => one.number !== number)) {
    const message = `The document says that it is phase ${other.number}, but is in the folder of phase ${number}.`
    report({ code: 'contract.invalid_value', at: other.at, message, remedy: 'Make both the same number.' })
  }
}
