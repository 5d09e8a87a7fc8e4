import MarkdownIt, { type Token } from 'markdown-it'

/** A stretch of inline text; `line` counts from 1 in the whole file. */
export interface Piece {
  readonly text: string
  readonly isCode: boolean
  /** Pieces of one bold text share a number; 0: not bold. */
  readonly bold: number
  readonly line: number
}

interface BlockLines {
  /** From 1, in the whole file. */
  readonly line: number
  /** The line after the last one. */
  readonly end: number
}

export interface Heading extends BlockLines {
  readonly kind: 'heading'
  readonly level: number
  readonly text: string
  /** Headings inside quotes and lists open no section. */
  readonly isTop: boolean
}

export interface Paragraph extends BlockLines {
  readonly kind: 'paragraph'
  readonly pieces: readonly Piece[]
  /** It begins a list item. */
  readonly isItem: boolean
}

export interface Table extends BlockLines {
  readonly kind: 'table'
  readonly header: readonly string[]
  readonly rows: readonly TableRow[]
}

interface TableRow {
  readonly line: number
  readonly cells: readonly (readonly Piece[])[]
}

export interface Fence extends BlockLines {
  readonly kind: 'fence'
  /** The words after the fence, in lower case. */
  readonly tags: readonly string[]
  readonly text: string
}

/** HTML that is more than part of a line. It is not read for requirements. */
export interface Html extends BlockLines {
  readonly kind: 'html'
  /** Without its comments. */
  readonly text: string
}

export type Block = Heading | Paragraph | Table | Fence | Html

// Beyond this depth the parser drops text, and that could be a requirement.
const NESTING_MAX = 60
const BLOCKS_MAX = 10_000

// Raw HTML is recognised so that comments are comments; nothing is ever rendered.
const parser = new MarkdownIt({ html: true, linkify: false, typographer: false })
parser.set({ maxNesting: NESTING_MAX })

type Blocks =
  | { readonly ok: true; readonly blocks: readonly Block[] }
  | { readonly ok: false; readonly line: number; readonly reason: 'too_deep' | 'too_many' }

/** The blocks of a document in order; `ok: false` if it cannot be read completely. */
export function parseMarkdown(text: string): Blocks {
  const tokens = parser.parse(text, {})
  const deep = tokens.find((token) => isTooDeep(token))
  if (deep !== undefined) return { ok: false, line: (deep.map?.[0] ?? 0) + 1, reason: 'too_deep' }
  const blocks = parseBlocks(tokens)
  const last = blocks[BLOCKS_MAX]
  return last === undefined ? { ok: true, blocks } : { ok: false, line: last.line, reason: 'too_many' }
}

function isTooDeep(token: Token): boolean {
  return token.level >= NESTING_MAX - 2 || (token.children ?? []).some((child) => child.level >= NESTING_MAX - 2)
}

function parseBlocks(tokens: readonly Token[]): Block[] {
  const blocks: Block[] = []
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index]
    const inner = tokens[index + 1]
    if (token === undefined) continue
    const [start, end] = token.map ?? [0, 0]
    const placed = { line: start + 1, end: end + 1 }
    if (token.type === 'heading_open')
      blocks.push({
        kind: 'heading',
        ...placed,
        level: Number(token.tag.slice(1)),
        text: toPlainText(parsePieces(inner, start + 1)),
        isTop: token.level === 0,
      })
    else if (token.type === 'paragraph_open')
      blocks.push({
        kind: 'paragraph',
        ...placed,
        pieces: parsePieces(inner, start + 1),
        isItem: tokens[index - 1]?.type === 'list_item_open',
      })
    else if (token.type === 'fence')
      blocks.push({
        kind: 'fence',
        ...placed,
        tags: token.info
          .trim()
          .toLowerCase()
          .split(/[\s,]+/),
        text: token.content,
      })
    else if (token.type === 'html_block')
      blocks.push({ kind: 'html', ...placed, text: token.content.replace(/<!--[\s\S]*?(?:-->|$)/g, '') })
    else if (token.type === 'table_open') blocks.push(parseTable(tokens, index, placed))
  }
  return blocks
}

function parseTable(tokens: readonly Token[], from: number, placed: BlockLines): Table {
  const rows: { line: number; cells: (readonly Piece[])[] }[] = []
  for (let index = from; index < tokens.length; index += 1) {
    const token = tokens[index]
    if (token === undefined || token.type === 'table_close') break
    if (token.type === 'tr_open') rows.push({ line: (token.map?.[0] ?? 0) + 1, cells: [] })
    const row = rows.at(-1)
    if (token.type === 'inline' && row !== undefined) row.cells.push(parsePieces(token, row.line))
  }
  const [header, ...body] = rows
  return { kind: 'table', ...placed, header: (header?.cells ?? []).map(toPlainText), rows: body }
}

function parsePieces(token: Token | undefined, start: number): Piece[] {
  const pieces: Piece[] = []
  let line = start
  let bolds = 0
  let depth = 0
  for (const child of token?.children ?? []) {
    if (child.type === 'strong_open') {
      if (depth === 0) bolds += 1
      depth += 1
    } else if (child.type === 'strong_close') depth -= 1
    const bold = depth > 0 ? bolds : 0
    if (child.type === 'text' || child.type === 'text_special')
      pieces.push({ text: child.content, isCode: false, bold, line })
    else if (child.type === 'code_inline') pieces.push({ text: child.content.trim(), isCode: true, bold, line })
    else if (child.type === 'softbreak' || child.type === 'hardbreak') {
      line += 1
      pieces.push({ text: '\n', isCode: false, bold, line })
    } else if (child.type === 'html_inline') line += child.content.split('\n').length - 1
  }
  return pieces
}

/** Inline text without its marks. */
export function toPlainText(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => piece.text)
    .join('')
    .replaceAll('\n', ' ')
    .trim()
}
