import MarkdownIt, { type Token } from 'markdown-it'
import { sha256Hex } from '../base/sha256.js'
import { type Block, type Count, splitOversize } from './split.js'

/** One passage of a document, small enough to be understood and found as a whole. */
export interface Chunk {
  /** The headings above it, outermost first. */
  readonly path: readonly string[]
  /** The index of the section's first passage in the document. */
  readonly section: number
  readonly content: string
  /** In the file, from 1. */
  readonly startLine: number
  readonly tokens: number
  /** What the vector represents: the same text in another place or file has the same vector. */
  readonly textHash: string
}

/** The part of a text that the embedding model reads. */
const CHUNK_TOKENS_MAX = 256
const CHUNK_CHARS_MAX = 64 * 1024
const FILE_CHUNKS_MAX = 2_000
const HEADING_CHARS_MAX = 200
const NESTING_MAX = 20

type ChunkResult =
  | { readonly ok: true; readonly chunks: readonly Chunk[] }
  | { readonly ok: false; readonly reason: string }

const parser = new MarkdownIt('commonmark', { maxNesting: NESTING_MAX } as object)
parser.enable('table')
// Only the blocks are needed; the inside of a line does not matter here.
parser.core.ruler.enableOnly(['normalize', 'block'])

interface Section {
  readonly path: readonly string[]
  readonly blocks: Block[]
}

/** Cuts a document at its headings, and long sections between blocks. `firstLine` is where the text begins in its file. */
export function splitMarkdown(text: string, firstLine: number, count: Count): ChunkResult {
  const lines = text.split('\n')
  const chunks: Chunk[] = []
  for (const section of parseSections(text)) {
    const first = chunks.length
    for (const { first: from, end, content } of splitSection(section, lines, count)) {
      if (content.length > CHUNK_CHARS_MAX)
        return { ok: false, reason: `line ${firstLine + from}: a block is longer than ${CHUNK_CHARS_MAX} characters` }
      if (chunks.length >= FILE_CHUNKS_MAX) return { ok: false, reason: `more than ${FILE_CHUNKS_MAX} passages` }
      const startLine = firstLine + from + countLeadingBlank(lines, from, end)
      const textHash = sha256Hex(formatEmbeddedText(section.path, content))
      chunks.push({ path: section.path, section: first, content, startLine, tokens: count(content), textHash })
    }
  }
  return { ok: true, chunks }
}

/** The text from which a passage's vector is computed. */
export function formatEmbeddedText(path: readonly string[], content: string): string {
  return path.length === 0 ? content : `${path.join(' > ')}\n${content}`
}

function parseSections(text: string): readonly Section[] {
  const sections: Section[] = [{ path: [], blocks: [] }]
  const headings: { readonly level: number; readonly title: string }[] = []
  const tokens = parser.parse(text, {})
  tokens.forEach((token, at) => {
    if (token.level !== 0 || token.map === null || token.nesting < 0) return
    const [first, end] = token.map
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1))
      while ((headings.at(-1)?.level ?? 0) >= level) headings.pop()
      headings.push({ level, title: formatTitle(tokens[at + 1]?.content ?? '') })
      sections.push({ path: headings.map((heading) => heading.title), blocks: [] })
      return
    }
    const isWhole = token.type === 'fence' || token.type === 'code_block'
    const inner = isWhole ? [] : listInnerBlocks(tokens, at)
    sections.at(-1)?.blocks.push(...(inner.length === 0 ? [{ first, end, isWhole }] : inner))
  })
  return sections
}

// A list or quote that contains code is split only around that code, never inside it.
function listInnerBlocks(tokens: readonly Token[], at: number): Block[] {
  const outer = tokens[at]
  if (outer?.map == null || outer.nesting !== 1) return []
  const whole: Block[] = []
  for (let next = at + 1; next < tokens.length; next += 1) {
    const token = tokens[next]
    if (token === undefined || (token.level === 0 && token.nesting < 0)) break
    if ((token.type === 'fence' || token.type === 'code_block') && token.map !== null)
      whole.push({ first: token.map[0], end: token.map[1], isWhole: true })
  }
  if (whole.length === 0) return []
  const blocks: Block[] = []
  let from = outer.map[0]
  for (const code of whole) {
    if (code.first > from) blocks.push({ first: from, end: code.first, isWhole: false })
    blocks.push(code)
    from = Math.max(from, code.end)
  }
  if (outer.map[1] > from) blocks.push({ first: from, end: outer.map[1], isWhole: false })
  return blocks
}

function formatTitle(raw: string): string {
  return raw.replace(/\s+/g, ' ').trim().slice(0, HEADING_CHARS_MAX)
}

interface Passage {
  readonly first: number
  readonly end: number
  readonly content: string
}

function splitSection(section: Section, lines: readonly string[], count: Count): readonly Passage[] {
  const passages: Passage[] = []
  let open: { first: number; end: number; tokens: number } | null = null
  const close = (): void => {
    if (open !== null) passages.push(makePassage(lines, open.first, open.end))
    open = null
  }
  for (const block of section.blocks) {
    const content = lines.slice(block.first, block.end).join('\n')
    // Including the text between it and the block before.
    const tokens = count(content) + 1
    if (tokens > CHUNK_TOKENS_MAX + 1) {
      close()
      if (block.isWhole) passages.push(makePassage(lines, block.first, block.end))
      else passages.push(...splitOversize(lines, block, { tokensMax: CHUNK_TOKENS_MAX, count }))
      continue
    }
    const current = open as { first: number; end: number; tokens: number } | null
    if (current !== null && current.tokens + tokens > CHUNK_TOKENS_MAX) close()
    const started = open as { first: number; end: number; tokens: number } | null
    open = { first: started?.first ?? block.first, end: block.end, tokens: (started?.tokens ?? 0) + tokens }
  }
  close()
  return passages.filter(({ content }) => content !== '')
}

function makePassage(lines: readonly string[], first: number, end: number): Passage {
  return {
    first,
    end,
    content: lines
      .slice(first, end)
      .join('\n')
      .replace(/^\s*\n/, '')
      .trimEnd(),
  }
}

function countLeadingBlank(lines: readonly string[], first: number, end: number): number {
  let at = first
  while (at < end && (lines[at] ?? '').trim() === '') at += 1
  return at === end ? 0 : at - first
}
