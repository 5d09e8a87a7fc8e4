import type { Report } from '../diagnostic.js'
import { isFieldName, typeNamed } from './field.js'
import { boxOf, FIELD_COLUMNS, namedItem, RULE_COLUMNS } from './listed-fields.js'
import type { Block, Fence, Html, Paragraph, Piece, Table } from './markdown.js'
import { plain } from './markdown.js'
import { isMarked } from './sentences.js'
import { placeIn, type Source } from './source.js'

/**
 * What stands in a gate section, looks like a requirement to whoever reads it, and is none of the known forms. Each is an error:
 * passed over, it would be a demand that nobody holds against anything. `known` are the fields that were read.
 */
export function unreadRequirements(source: Source, blocks: readonly Block[], known: ReadonlySet<string>): Report[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case 'table':
        return unreadTable(source, block)
      case 'paragraph':
        return unreadParagraph(source, block, known)
      case 'fence':
        return unreadFence(source, block)
      case 'html':
        return unreadHtml(source, block)
      default:
        return []
    }
  })
}

// Columns that would make a demand weaker if nobody read them.
const RULES_UNREAD = new Set(
  'min max minimum maximum min_length length pattern enum must_be grade validation validators constraint constraints condition conditions'.split(
    ' ',
  ),
)

// A first row that gives a type is no header: the header was forgotten.
const TYPES_AS_TITLES = ['integer', 'boolean', 'string', 'array', 'object', 'int', 'bool', 'str']

function unreadTable(source: Source, table: Table): Report[] {
  const header = table.header.map((title) => title.toLowerCase())
  const has = (names: readonly string[]): boolean => header.some((title) => names.includes(title))
  const at = placeIn(source, table.line, '')
  if (!has(FIELD_COLUMNS)) {
    if (!has(['type', ...TYPES_AS_TITLES, ...RULE_COLUMNS])) return []
    const message = 'The table has types or rules, and no column named field.'
    return [{ code: 'unknown_field', at, message, remedy: 'Name the column of the fields `field`.' }]
  }
  return table.header
    .filter((title) => RULES_UNREAD.has(title.toLowerCase()))
    .map((title) => ({
      code: 'unknown_validator' as const,
      at: placeIn(source, table.line, title),
      message: `The column '${title.slice(0, 80)}' is not read.`,
      remedy: 'Say it in words in a column named `rule`.',
    }))
}

function unreadParagraph(source: Source, block: Paragraph, known: ReadonlySet<string>): Report[] {
  const pieces = block.pieces.filter((piece) => piece.text !== '')
  const unread = (needle: string, what: string, remedy: string): Report[] => [
    {
      code: 'unknown_field',
      at: placeIn(source, block.line, needle),
      message: `${what}: '${plain(pieces).slice(0, 80)}'.`,
      remedy,
    },
  ]
  if (isBoxLike(source, block, pieces))
    return unread('[', 'A check box is not read', 'Write it as an item: `- [ ] Done {#done}`.')
  if (/^\|.*\|/.test(plain(pieces)))
    return unread('|', 'A table without a line of dashes is not read', 'Put `| --- |` below its header.')
  if (!block.isItem || isMarked(plain(pieces))) return []
  const name = unreadName(block, pieces, known)
  return name === null
    ? []
    : unread(name, 'An item is not read as a field', 'Write it as: - `name` (integer, at least 1): description.')
}

const BOX_LINE = /^[\s>]*(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]\]\s/
const BOX_LIKE = /^\[(?:\s*|[^\p{L}\p{N}\s\]]{1,2})\](?:\s|$)/u

function isBoxLike(source: Source, block: Paragraph, pieces: readonly Piece[]): boolean {
  if (boxOf(pieces) !== null) return !block.isItem
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

/** The name of the field that an item seems to speak of, where it was not read; null when it speaks of none. */
function unreadName(block: Paragraph, pieces: readonly Piece[], known: ReadonlySet<string>): string | null {
  const [first, ...others] = pieces
  if (first === undefined) return null
  const second = others.find(
    ({ text, isCode }, at) => isCode && !known.has(text) && isTyped(others[at + 1]?.text ?? ''),
  )
  if (second !== undefined) return second.text
  if (!first.isCode) {
    const [, name = '', rest = ''] = /^([A-Za-z_][\w.-]{0,63})(\s*\(.*)$/s.exec(plain(pieces)) ?? []
    return name !== '' && !known.has(name) && isTyped(rest) ? name : null
  }
  const name = first.text
  if (known.has(name) || namedItem(block) !== null || !NAME_LIKE.test(name)) return null
  const rest = plain(others)
  if (!isFieldName(name)) return /^(?:$|[:–—-])/.test(rest) ? name : null
  const isDemand =
    RULE_AHEAD.test(rest) || RULE_WITHIN.test(rest) || typeNamed(/^[A-Za-z]+/.exec(rest)?.[0] ?? '') !== null
  return isDemand ? name : null
}

function isTyped(text: string): boolean {
  const word = TYPED.exec(text)?.[1]
  return word !== undefined && typeNamed(word) !== null
}

function unreadFence(source: Source, fence: Fence): Report[] {
  const [language = '', ...others] = fence.tags
  const isRead = /^ya?ml$/.test(language) && others.includes('evidence')
  const isLike = /\bya?ml\b/.test(fence.tags.join(' ')) && fence.tags.some((tag) => tag.includes('evidence'))
  if (isRead || !isLike || others.includes('example')) return []
  const message = `The block tagged '${fence.tags.join(' ').slice(0, 80)}' is not read.`
  return [{ code: 'bad_yaml', at: placeIn(source, fence.line, ''), message, remedy: 'Tag it `yaml evidence`.' }]
}

const DEMAND_IN_HTML = /`|\[[ xX]?\]|<(?:li|td|code|input)\b|^[ \t]*[-*+|]\s/im

function unreadHtml(source: Source, html: Html): Report[] {
  if (!DEMAND_IN_HTML.test(html.text)) return []
  const message = 'HTML is not read, and this seems to demand something.'
  return [
    {
      code: 'unknown_field',
      at: placeIn(source, html.line, ''),
      message,
      remedy: 'Write it in Markdown; after an HTML tag leave a line empty.',
    },
  ]
}
