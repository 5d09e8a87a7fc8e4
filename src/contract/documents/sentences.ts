import { Draft, guessType, isFieldName, type Requirement, toSnakeCase } from './field.js'
import { type Block, type Piece, toPlainText } from './markdown.js'
import { readSentenceRules } from './rules.js'
import { findPlace, type Sink, type Source } from './source.js'

const MARKER = /\bmust\s+provide\b|\brequired\s*:|\bevidence\s*:|\bcheckpoint\s*:/i
const MARKER_WORDS = new Set(['must', 'provide', 'required', 'evidence', 'checkpoint', 'you', 'the', 'agent'])
const SNAKE_CASE = /(?<![\p{L}\p{N}_])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![\p{L}\p{N}_])/u
// Comparisons that are not read from sentences; a warning names them.
const COMPARISON =
  /\b(?:more|fewer|less) than \S+|\b(?:minimum|maximum)(?: of)? \S+|\b(?:at most|up to|exactly|between) \S+|[<>≥≤]=?\s*\d\S*/i
const READ = /\b(?:at least|greater than)\s+\S+/gi
const NONE = /^checkpoint\s*:\s*none\s*\.?$/i

/** Fields of lines that say *must provide*, *required:*, *evidence:* or *checkpoint:*. */
export function readSentenceFields(source: Source, blocks: readonly Block[], report: Sink): Requirement[] {
  return blocks.flatMap((block) =>
    block.kind === 'paragraph'
      ? splitSentences(block.pieces).flatMap((pieces) => readField(source, pieces, report))
      : [],
  )
}

/** The comparison in a text that is not read as a rule; '' when there is none. */
export function findUnreadComparison(text: string): string {
  const unread = COMPARISON.exec(text.replace(READ, ''))?.[0].slice(0, 40)
  return unread === undefined ? '' : `; '${unread}' is not a rule here`
}

/** Whether a text has the words of a requirement in a sentence. */
export function isMarked(text: string): boolean {
  return MARKER.test(text)
}

/** Where the document says explicitly that the phase has no checkpoint; null when it does not. */
export function findNoneLine(blocks: readonly Block[]): number | null {
  const found = blocks.find((block) => block.kind === 'paragraph' && NONE.test(toPlainText(block.pieces)))
  return found?.line ?? null
}

// A marked line and the rest of its paragraph, up to the next marked line, because sentences are wrapped.
function splitSentences(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]]
  for (const piece of pieces) {
    if (piece.text === '\n') lines.push([])
    lines.at(-1)?.push(piece)
  }
  const sentences: Piece[][] = []
  for (const line of lines) {
    if (MARKER.test(toPlainText(line))) sentences.push(line)
    else sentences.at(-1)?.push(...line)
  }
  // A wrapped marker is only visible in the joined text.
  if (sentences.length === 0 && MARKER.test(toPlainText(pieces))) return [[...pieces]]
  return sentences.filter((sentence) => !NONE.test(toPlainText(sentence)))
}

function readField(source: Source, pieces: readonly Piece[], report: Sink): Requirement[] {
  const text = toPlainText(pieces)
  const named = findFieldName(pieces)
  const line = named?.line ?? pieces.find((piece) => piece.text !== '\n')?.line ?? 1
  if (named === null || !isFieldName(named.name)) {
    const at = findPlace(source, line, named?.written ?? '')
    const what =
      named === null ? 'names no field' : `names '${named.name.slice(0, 80)}', which is not the name of a field`
    report({ code: 'unknown_field', at, message: `'${text.slice(0, 120)}' ${what}.` })
    return []
  }
  const at = findPlace(source, line, named.written)
  const draft = new Draft(guessType(text), cutDescription(text))
  draft.said.add('type')
  readSentenceRules(draft, text)
  const requirement = draft.makeRequirement(named.name, at, source.file)
  const words = [draft.type, ...(requirement.field.rules ?? []), ...(requirement.field.optional ? ['optional'] : [])]
  const message = `'${named.name}' was read from a sentence as ${words.join(', ')}${findUnreadComparison(text)}.`
  report({ code: 'legacy_heuristic', at, message })
  for (const problem of draft.problems) report({ ...problem, at, message: `${named.name}: ${problem.message}` })
  return draft.problems.length > 0 ? [] : [requirement]
}

interface NamedField {
  readonly name: string
  /** As it stands in the file. */
  readonly written: string
  readonly line: number
}

function findFieldName(pieces: readonly Piece[]): NamedField | null {
  const code = pieces.find((piece) => piece.isCode)
  if (code !== undefined) return { name: code.text, written: code.text, line: code.line }
  for (const group of listBoldTexts(pieces)) {
    const words = toPlainText(group).replace(new RegExp(`^\\s*(?:${MARKER.source})\\s*`, 'i'), '')
    const isMarker = (words.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).every((word) => MARKER_WORDS.has(word))
    if (!isMarker) return { name: toSnakeCase(words), written: words.trim(), line: group[0]?.line ?? 1 }
  }
  const snake = pieces.find((piece) => SNAKE_CASE.test(piece.text))
  const word = snake === undefined ? undefined : SNAKE_CASE.exec(snake.text)?.[0]
  return snake === undefined || word === undefined ? null : { name: word, written: word, line: snake.line }
}

function listBoldTexts(pieces: readonly Piece[]): Iterable<readonly Piece[]> {
  const groups = new Map<number, Piece[]>()
  for (const piece of pieces) {
    if (piece.bold === 0) continue
    const group = groups.get(piece.bold)
    if (group === undefined) groups.set(piece.bold, [piece])
    else group.push(piece)
  }
  return groups.values()
}

const DECORATION = new Set(' *#:`"-')

// Not a regular expression, because its time would grow with the square of the number of dashes.
function cutDescription(text: string): string {
  const words = text.replace(/\s+/g, ' ')
  let start = 0
  let end = words.length
  while (start < end && DECORATION.has(words[start] ?? '')) start += 1
  while (end > start && DECORATION.has(words[end - 1] ?? '')) end -= 1
  return words.slice(start, end)
}
