import { Draft, isFieldName, type Requirement, snakeCase, typeOfWords } from './field.js'
import { type Block, type Piece, plain } from './markdown.js'
import { readSentenceRules } from './rules.js'
import { placeIn, type Sink, type Source } from './source.js'

const MARKER = /\bmust\s+provide\b|\brequired\s*:|\bevidence\s*:|\bcheckpoint\s*:/i
const MARKER_WORDS = new Set(['must', 'provide', 'required', 'evidence', 'checkpoint', 'you', 'the', 'agent'])
const SNAKE_CASE = /(?<![\p{L}\p{N}_])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![\p{L}\p{N}_])/u
// Comparisons that are not read from sentences; a warning names them.
const COMPARISON =
  /\b(?:more|fewer|less) than \S+|\b(?:minimum|maximum)(?: of)? \S+|\b(?:at most|up to|exactly|between) \S+|[<>≥≤]=?\s*\d\S*/i
const READ = /\b(?:at least|greater than)\s+\S+/gi
const NONE = /^checkpoint\s*:\s*none\s*\.?$/i

/** Fields of lines that say *must provide*, *required:*, *evidence:* or *checkpoint:*. */
export function sentenceFields(source: Source, blocks: readonly Block[], report: Sink): Requirement[] {
  return blocks.flatMap((block) =>
    block.kind === 'paragraph' ? sentencesOf(block.pieces).flatMap((pieces) => fieldOf(source, pieces, report)) : [],
  )
}

/** Says which comparison of a text is not read as a rule; '' when there is none. */
export function unreadComparison(text: string): string {
  const unread = COMPARISON.exec(text.replace(READ, ''))?.[0].slice(0, 40)
  return unread === undefined ? '' : `; '${unread}' is not a rule here`
}

/** Whether a text has the words of a requirement in a sentence. */
export function isMarked(text: string): boolean {
  return MARKER.test(text)
}

/** Where the document says in so many words that the phase has no checkpoint; null when it does not. */
export function noneLine(blocks: readonly Block[]): number | null {
  const found = blocks.find((block) => block.kind === 'paragraph' && NONE.test(plain(block.pieces)))
  return found?.line ?? null
}

// A marked line and what follows it in its paragraph, up to the next marked line: sentences are wrapped.
function sentencesOf(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]]
  for (const piece of pieces) {
    if (piece.text === '\n') lines.push([])
    lines.at(-1)?.push(piece)
  }
  const sentences: Piece[][] = []
  for (const line of lines) {
    if (MARKER.test(plain(line))) sentences.push(line)
    else sentences.at(-1)?.push(...line)
  }
  // A marker that is itself wrapped shows only in the whole.
  if (sentences.length === 0 && MARKER.test(plain(pieces))) return [[...pieces]]
  return sentences.filter((sentence) => !NONE.test(plain(sentence)))
}

function fieldOf(source: Source, pieces: readonly Piece[], report: Sink): Requirement[] {
  const text = plain(pieces)
  const named = nameIn(pieces)
  const line = named?.line ?? pieces.find((piece) => piece.text !== '\n')?.line ?? 1
  if (named === null || !isFieldName(named.name)) {
    const at = placeIn(source, line, named?.written ?? '')
    const what =
      named === null ? 'names no field' : `names '${named.name.slice(0, 80)}', which is not the name of a field`
    report({ code: 'unknown_field', at, message: `'${text.slice(0, 120)}' ${what}.` })
    return []
  }
  const at = placeIn(source, line, named.written)
  const draft = new Draft(typeOfWords(text), descriptionOf(text))
  draft.said.add('type')
  readSentenceRules(draft, text)
  const requirement = draft.requirement(named.name, at, source.file)
  const words = [draft.type, ...(requirement.field.rules ?? []), ...(requirement.field.optional ? ['optional'] : [])]
  const message = `'${named.name}' was read from a sentence as ${words.join(', ')}${unreadComparison(text)}.`
  report({ code: 'legacy_heuristic', at, message })
  for (const problem of draft.problems) report({ ...problem, at, message: `${named.name}: ${problem.message}` })
  return draft.problems.length > 0 ? [] : [requirement]
}

interface Named {
  readonly name: string
  /** As it stands in the file. */
  readonly written: string
  readonly line: number
}

function nameIn(pieces: readonly Piece[]): Named | null {
  const code = pieces.find((piece) => piece.isCode)
  if (code !== undefined) return { name: code.text, written: code.text, line: code.line }
  for (const group of boldTexts(pieces)) {
    const words = plain(group).replace(new RegExp(`^\\s*(?:${MARKER.source})\\s*`, 'i'), '')
    const isMarker = (words.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).every((word) => MARKER_WORDS.has(word))
    if (!isMarker) return { name: snakeCase(words), written: words.trim(), line: group[0]?.line ?? 1 }
  }
  const snake = pieces.find((piece) => SNAKE_CASE.test(piece.text))
  const word = snake === undefined ? undefined : SNAKE_CASE.exec(snake.text)?.[0]
  return snake === undefined || word === undefined ? null : { name: word, written: word, line: snake.line }
}

function boldTexts(pieces: readonly Piece[]): Iterable<readonly Piece[]> {
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

// Not a regular expression: one that looks for the end of the text would start over at every dash of a long row.
function descriptionOf(text: string): string {
  const words = text.replace(/\s+/g, ' ')
  let start = 0
  let end = words.length
  while (start < end && DECORATION.has(words[start] ?? '')) start += 1
  while (end > start && DECORATION.has(words[end - 1] ?? '')) end -= 1
  return words.slice(start, end)
}
