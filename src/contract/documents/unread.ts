import { BUILT_IN_TOOLS } from '../../core/tool-calls/built-in-tools.js'
import { assertUnreachable } from '../../core/unreachable.js'
import type { Report } from '../diagnostic.js'
import { findTypeByName, isFieldName, toSnakeCase } from './field.js'
import { FIELD_COLUMNS, findBox, parseNamedItem, RULE_COLUMNS } from './listed-fields.js'
import type { Block, Fence, Heading, Html, Paragraph, Piece, Table } from './markdown.js'
import { toPlainText } from './markdown.js'
import { isMarked } from './sentences.js'
import { findPlace, type Source } from './source.js'

/**
 * Reports text in a gate section that looks like a requirement but has none of the known forms. Each is an error:
 * skipping it would leave a requirement unenforced. `known` are the fields that were read.
 */
export function findUnreadRequirements(source: Source, blocks: readonly Block[], known: ReadonlySet<string>): Report[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case 'table':
        return checkTable(source, block, known)
      case 'paragraph':
        return checkParagraph(source, block, known)
      case 'fence':
        return checkFence(source, block)
      case 'html':
        return checkHtml(source, block)
      case 'heading':
        return checkHeading(source, block, known)
      default:
        return assertUnreachable(block)
    }
  })
}

// Columns that would weaken a requirement if they were ignored.
const RULES_UNREAD = new Set(
  'min max minimum maximum min_length length pattern enum must_be grade validation validators constraint constraints condition conditions'.split(
    ' ',
  ),
)

// A first row that gives a type is not a header: the header is missing.
const TYPES_AS_TITLES = ['integer', 'boolean', 'string', 'array', 'object', 'int', 'bool', 'str']

function checkTable(source: Source, table: Table, known: ReadonlySet<string>): Report[] {
  const header = table.header.map((title) => title.toLowerCase())
  const has = (names: readonly string[]): boolean => header.some((title) => names.includes(title))
  const at = findPlace(source, table.line, '')
  if (!has(FIELD_COLUMNS)) {
    const isTyped = has(['type', ...TYPES_AS_TITLES, ...RULE_COLUMNS])
    const named = table.rows.flatMap((row) => row.cells).find((cell) => isFieldLike(cell, known))
    if (!isTyped && named === undefined) return []
    const what = isTyped ? 'has types or rules' : `names '${toPlainText(named ?? []).slice(0, 80)}'`
    const message = `The table ${what}, and no column named field.`
    return [{ code: 'unknown_field', at, message, remedy: 'Name the column of the fields `field`.' }]
  }
  return table.header
    .filter((title) => RULES_UNREAD.has(title.toLowerCase()))
    .map((title) => ({
      code: 'unknown_validator' as const,
      at: findPlace(source, table.line, title),
      message: `The column '${title.slice(0, 80)}' is not read.`,
      remedy: 'Say it in words in a column named `rule`.',
    }))
}

const SNAKE_CASE = /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+$/

// A name with an underscore is the name of a field, unless it is that of a tool.
function isFieldWord(name: string): boolean {
  return SNAKE_CASE.test(name) && isFieldName(name) && !BUILT_IN_TOOLS.has(name)
}

function isFieldLike(cell: readonly Piece[], known: ReadonlySet<string>): boolean {
  const text = toPlainText(cell)
  return isFieldWord(text) && !known.has(text)
}

function checkHeading(source: Source, heading: Heading, known: ReadonlySet<string>): Report[] {
  const [, name = '', rest = ''] = /^([A-Za-z_][\w.-]{0,63})\s*:?\s*(\(.*)?$/s.exec(heading.text) ?? []
  if (name === '' || known.has(name) || !(isTyped(rest) || (rest === '' && isFieldWord(name)))) return []
  const message = `A heading is not read as a field: '${heading.text.slice(0, 80)}'.`
  return [{ code: 'unknown_field', at: findPlace(source, heading.line, name), message, remedy: AS_ITEM }]
}

const AS_ITEM = 'Write it as: - `name` (integer, at least 1): description.'

function checkParagraph(source: Source, block: Paragraph, known: ReadonlySet<string>): Report[] {
  const pieces = block.pieces.filter((piece) => piece.text !== '')
  const unread = (needle: string, what: string, remedy: string): Report[] => [
    {
      code: 'unknown_field',
      at: findPlace(source, block.line, needle),
      message: `${what}: '${toPlainText(pieces).slice(0, 80)}'.`,
      remedy,
    },
  ]
  if (isBoxLike(source, block, pieces))
    return unread('[', 'A check box is not read', 'Write it as an item: `- [ ] Done {#done}`.')
  if (/^\|.*\|/.test(toPlainText(pieces)))
    return unread('|', 'A table without a line of dashes is not read', 'Put `| --- |` below its header.')
  if (isMarked(toPlainText(pieces))) return []
  const name = block.isItem ? findUnreadName(block, pieces, known) : findUnreadLine(pieces, known)
  return name === null
    ? []
    : unread(name, block.isItem ? 'An item is not read as a field' : 'A line is not read as a field', AS_ITEM)
}

const BOX_LINE = /^[\s>]*(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]\]\s/
const BOX_LIKE = /^\[(?:\s*|[^\p{L}\p{N}\s\]]{1,2})\](?:\s|$)/u

function isBoxLike(source: Source, block: Paragraph, pieces: readonly Piece[]): boolean {
  if (findBox(pieces) !== null) return !block.isItem
  const [first] = pieces
  if (first !== undefined && !first.isCode && BOX_LIKE.test(first.text)) return true
  // `[x]` is a link where the document defines one of that name.
  return block.isItem && BOX_LINE.test(source.lines[block.line - 1] ?? '')
}

const NAME_LIKE = /^[\p{L}_][\p{L}\p{N}\p{M}_.-]*$/u
const RULE_AHEAD =
  /^(?:[=<>≥≤]|(?:must|shall|required|optional|between|one of|minimum|maximum|min|max|greater|more than|fewer|less than)\b)/i
const RULE_WITHIN = /\b(?:at least|at most|greater than|more than|non-?empty|not empty|non-?zero)\b/i
const TYPED = /^\s*\(\s*([A-Za-z]+)\s*[),;]/

/** The name of the field that an unread item seems to mean; null when it means none. */
function findUnreadName(block: Paragraph, pieces: readonly Piece[], known: ReadonlySet<string>): string | null {
  const [first, ...others] = pieces
  if (first === undefined) return null
  const second = others.find(
    ({ text, isCode }, at) => isCode && !known.has(text) && isTyped(others[at + 1]?.text ?? ''),
  )
  if (second !== undefined) return second.text
  if (!first.isCode)
    return first.bold === 0 ? findUnreadPlain(toPlainText(pieces), known) : findUnreadBold(pieces, known)
  const name = first.text
  if (known.has(name) || parseNamedItem(block) !== null || !NAME_LIKE.test(name)) return null
  const rest = toPlainText(others)
  if (!isFieldName(name)) return /^(?:$|[:–—-])/.test(rest) ? name : null
  const isDemand =
    RULE_AHEAD.test(rest) || RULE_WITHIN.test(rest) || findTypeByName(/^[A-Za-z]+/.exec(rest)?.[0] ?? '') !== null
  return isDemand ? name : null
}

function findUnreadPlain(text: string, known: ReadonlySet<string>): string | null {
  const [, name = '', rest = ''] = /^([A-Za-z_][\w.-]{0,63})(\s*(?:[(:–—].*)?)$/s.exec(text) ?? []
  const isField = isTyped(rest) || (isFieldWord(name) && !rest.trimStart().startsWith('('))
  return name !== '' && !known.has(name) && isField ? name : null
}

const TYPE_AHEAD = /^([A-Za-z]+)\s*(?:[,;.(]|$)/

// Only names in backticks are read: **function_count**: number, at least 1
function findUnreadBold(pieces: readonly Piece[], known: ReadonlySet<string>): string | null {
  const begun = nameAhead(pieces)
  if (begun === null || known.has(begun.name) || known.has(toSnakeCase(begun.name))) return null
  if (isFieldWord(begun.name) && /^(?:$|[(:–—]|-\s)/.test(begun.rest)) return begun.name
  const words = begun.rest.replace(/^[:–—-]+\s*/, '')
  const isDemand =
    isTyped(begun.rest) ||
    RULE_AHEAD.test(words) ||
    RULE_WITHIN.test(words) ||
    findTypeByName(TYPE_AHEAD.exec(words)?.[1] ?? '') !== null
  return isDemand ? begun.name : null
}

/** The code span or bold words at the beginning of a text, and the rest; null when it begins otherwise. */
function nameAhead(pieces: readonly Piece[]): { readonly name: string; readonly rest: string } | null {
  const [first, ...others] = pieces
  if (first === undefined) return null
  if (first.isCode) return { name: first.text, rest: toPlainText(others) }
  if (first.bold === 0) return null
  const words = toPlainText(pieces.filter((piece) => piece.bold === first.bold))
  const rest = toPlainText(pieces.filter((piece) => piece.bold !== first.bold))
  // The colon may be inside or after the bold words.
  const name = words.replace(/\s*:$/, '')
  return { name, rest: name === words ? rest : `: ${rest}`.trim() }
}

/** A paragraph in the form of a named item, outside a list. */
function findUnreadLine(pieces: readonly Piece[], known: ReadonlySet<string>): string | null {
  const begun = nameAhead(pieces)
  if (begun === null || !isFieldName(begun.name) || known.has(begun.name)) return null
  const isNamed = isFieldWord(begun.name) && /^(?:$|[:–—]|-\s)/.test(begun.rest)
  return isNamed || isTyped(begun.rest) ? begun.name : null
}

function isTyped(text: string): boolean {
  const word = TYPED.exec(text)?.[1]
  return word !== undefined && findTypeByName(word) !== null
}

function checkFence(source: Source, fence: Fence): Report[] {
  const [language = '', ...others] = fence.tags
  const isRead = /^ya?ml$/.test(language) && others.includes('evidence')
  const isLike = /\bya?ml\b/.test(fence.tags.join(' ')) && fence.tags.some((tag) => tag.includes('evidence'))
  if (isRead || !isLike || others.includes('example')) return []
  const message = `The block tagged '${fence.tags.join(' ').slice(0, 80)}' is not read.`
  return [{ code: 'bad_yaml', at: findPlace(source, fence.line, ''), message, remedy: 'Tag it `yaml evidence`.' }]
}

const DEMAND_IN_HTML = /`|\[[ xX]?\]|<(?:li|td|code|input)\b|^[ \t]*[-*+|]\s/im

function checkHtml(source: Source, html: Html): Report[] {
  if (!DEMAND_IN_HTML.test(html.text)) return []
  const message = 'HTML is not read, and this seems to demand something.'
  return [
    {
      code: 'unknown_field',
      at: findPlace(source, html.line, ''),
      message,
      remedy: 'Write it in Markdown; after an HTML tag leave a line empty.',
    },
  ]
}
