import { Draft, findTypeByName, guessType, isFieldName, type Requirement, toSnakeCase } from './field.js'
import type { Block, Paragraph, Piece, Table } from './markdown.js'
import { toPlainText } from './markdown.js'
import { readRules, readSentenceRules } from './rules.js'
import { findUnreadComparison } from './sentences.js'
import { findPlace, type Sink, type Source } from './source.js'

export const FIELD_COLUMNS = ['field', 'evidence']
export const RULE_COLUMNS = ['rule', 'rules', 'validator']

/** Fields of the tables that have a `field` or `evidence` column. */
export function readTableFields(source: Source, blocks: readonly Block[], report: Sink): Requirement[] {
  return blocks.flatMap((block) => (block.kind === 'table' ? readFieldsOfTable(source, block, report) : []))
}

function readFieldsOfTable(source: Source, table: Table, report: Sink): Requirement[] {
  const header = table.header.map((title) => title.toLowerCase())
  const column = (names: readonly string[]): number => header.findIndex((title) => names.includes(title))
  const at = { field: column(FIELD_COLUMNS), type: column(['type']), rule: column(RULE_COLUMNS) }
  const about = column(['description'])
  if (at.field < 0) return []
  return table.rows.flatMap((row) => {
    const cell = (index: number): string => (index < 0 ? '' : toPlainText(row.cells[index] ?? []))
    const name = cell(at.field)
    if (name === '' && row.cells.every((pieces) => toPlainText(pieces) === '')) return []
    return readListedField(source, report, {
      name,
      line: row.line,
      type: cell(at.type),
      rules: cell(at.rule),
      description: cell(about),
    })
  })
}

/** Fields of list items that begin with a name in backticks. */
export function readNamedItemFields(source: Source, blocks: readonly Block[], report: Sink): Requirement[] {
  return blocks.flatMap((block) => {
    if (block.kind !== 'paragraph' || !block.isItem) return []
    const item = parseNamedItem(block)
    return item === null ? [] : readListedField(source, report, { ...item, line: block.line })
  })
}

interface ListedField {
  readonly name: string
  readonly line: number
  /** '' when none is given. */
  readonly type: string
  readonly rules: string
  readonly description: string
}

/** The parts of `` `count` (integer, at least 1): how many ``; null when the item has another form. */
export function parseNamedItem(item: Paragraph): Omit<ListedField, 'line'> | null {
  const pieces = item.pieces.filter((piece) => piece.text !== '')
  const isBoxed = findBox(pieces) !== null
  const [first, ...others] = isBoxed ? stripBox(pieces) : pieces
  if (first === undefined || !first.isCode) return null
  const rest = toPlainText(others)
  const inside = /^\(([^()]*)\)\s*(?:[:–—-]\s*)?(.*)$/s.exec(rest)
  if (inside === null) {
    if (isBoxed || !/^(?:$|[:–—]|-\s)/.test(rest) || !isFieldName(first.text)) return null
    return { name: first.text, type: '', rules: '', description: rest.replace(/^[:–—-]+\s*/, '') }
  }
  const [, words = '', description = ''] = inside
  const comma = /[,;]/.exec(words)
  const head = comma === null ? words : words.slice(0, comma.index)
  const isTyped = findTypeByName(head) !== null
  if (isBoxed && !isTyped) return null
  const startsWithRule =
    !isTyped && /^(?:optional|required|at |greater|more|non|must|one of|may|min|max|between)/i.test(words.trim())
  return {
    name: first.text,
    type: startsWithRule ? '' : head.trim(),
    rules: startsWithRule ? words : words.slice(head.length + 1),
    description,
  }
}

// The words of a flag or an object say what it is about; a number in them is no rule of its value.
const RULES_FROM_WORDS: ReadonlySet<string> = new Set(['integer', 'number', 'string', 'array'])

function readListedField(source: Source, report: Sink, listed: ListedField): Requirement[] {
  const at = findPlace(source, listed.line, listed.name)
  if (!isFieldName(listed.name)) {
    const message = `'${listed.name.slice(0, 80)}' is not the name of a field.`
    report({ code: 'unknown_field', at, message })
    return []
  }
  const said = listed.type === '' ? null : findTypeByName(listed.type)
  if (said === null && listed.type !== '') {
    const message = `The field '${listed.name}' gives the type '${listed.type.slice(0, 80)}'.`
    report({ code: 'unknown_type', at: findPlace(source, listed.line, listed.type), message })
    return []
  }
  const type = said ?? guessType(`${listed.name} ${listed.rules} ${listed.description}`)
  const draft = new Draft(type, listed.description)
  if (said !== null) draft.said.add('type')
  readRules(draft, listed.rules)
  const isFromWords = said === null && listed.rules.trim() === '' && RULES_FROM_WORDS.has(type)
  if (isFromWords) readSentenceRules(draft, listed.description)
  const requirement = draft.makeRequirement(listed.name, at, source.file)
  if (said === null) {
    const { rules = [], optional } = requirement.field
    const words = [type, ...(isFromWords ? [...rules, ...(optional ? ['optional'] : [])] : [])].join(', ')
    const unread = isFromWords ? findUnreadComparison(listed.description) : ''
    const message = `The type of '${listed.name}' was taken from its words: ${words}${unread}.`
    report({ code: 'legacy_heuristic', at, message, remedy: 'Say its type and rules: (integer, at least 1).' })
  }
  for (const problem of draft.problems) report({ ...problem, at, message: `${listed.name}: ${problem.message}` })
  return draft.problems.length > 0 ? [] : [requirement]
}

/** Check boxes: required booleans, named by `{#id}` or by their text. */
export function checkBoxFields(source: Source, blocks: readonly Block[], report: Sink): Requirement[] {
  return blocks.flatMap((block) => {
    if (block.kind !== 'paragraph' || !block.isItem || findBox(block.pieces) === null) return []
    return parseNamedItem(block) === null ? checkBox(source, block, report) : []
  })
}

function checkBox(source: Source, block: Paragraph, report: Sink): Requirement[] {
  const pieces = stripBox(block.pieces)
  const whole = toPlainText(pieces)
  const id = /\{#([^{}]*)\}\s*$/.exec(whole)
  const description = (id === null ? whole : whole.slice(0, id.index)).trim()
  const first = pieces.find((piece) => piece.text.trim() !== '')
  const derived = first?.isCode === true && isFieldName(first.text) ? first.text : toSnakeCase(description)
  const name = id === null ? derived : (id[1] ?? '')
  const at = findPlace(source, block.line, id === null ? (first?.text.trim() ?? '') : id[0].trim())
  if (!isFieldName(name) || description.includes('{#')) {
    const message = `The check box '${whole.slice(0, 80)}' names no field.`
    report({ code: 'unknown_field', at, message, remedy: 'Give it an id: {#name}.' })
    return []
  }
  if (id === null) {
    const message = `The check box '${description.slice(0, 80)}' is read as the field '${name}'.`
    report({ code: 'derived_field_name', at, message, remedy: `Give it an id: {#${name}}.` })
  }
  const draft = new Draft('boolean', description)
  draft.said.add('type')
  if (/\(optional\)/i.test(description)) draft.optional(true)
  return [draft.makeRequirement(name, at, source.file)]
}

const BOX = /^\[[ xX]\]\s+/

export function findBox(pieces: readonly Piece[]): string | null {
  const first = pieces.find((piece) => piece.text !== '')
  return first === undefined || first.isCode ? null : (BOX.exec(`${first.text} `)?.[0] ?? null)
}

function stripBox(pieces: readonly Piece[]): Piece[] {
  const [first, ...rest] = pieces.filter((piece) => piece.text !== '')
  if (first === undefined) return []
  const text = first.text.replace(/^\[[ xX]\]\s*/, '')
  return text === '' ? rest : [{ ...first, text }, ...rest]
}
