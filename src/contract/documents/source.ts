import type { ContractCode, Place, Report } from '../diagnostic.js'
import type { ListNode, MapNode, SourceNode } from '../load/yaml.js'
import { parseSource } from '../load/yaml.js'
import { type Block, parseMarkdown } from './markdown.js'

/** One Markdown file of a workflow, read. */
export interface Source {
  /** As diagnostics name it. */
  readonly shown: string
  /** Relative to the workflow: stored with the contract. */
  readonly file: string
  readonly lines: readonly string[]
  /** The text between `---` lines at the top; null: none. */
  readonly head: SourceNode | null
  readonly blocks: readonly Block[]
}

export type Sink = (report: Report) => void

interface SourceName {
  readonly shown: string
  readonly file: string
}

/** Reads a Markdown file; null if nothing of it can be relied on. */
export function readSource(text: string, name: SourceName, report: Sink): Source | null {
  const start: Place = { line: 1, column: 1, path: '', file: name.shown }
  if (text.startsWith('\uFEFF')) {
    report({ code: 'contract.byte_order_mark', at: start, message: 'The document starts with a byte order mark.' })
    return null
  }
  const lines = text.split(/\r\n|\r|\n/)
  const nul = lines.findIndex((line) => line.includes('\0'))
  if (nul >= 0) {
    report({ code: 'contract.nul_byte', at: { ...start, line: nul + 1 }, message: 'The document contains a NUL byte.' })
    return null
  }
  const end = findHeadEnd(lines)
  const body = lines.map((line, index) => (index <= end ? '' : line))
  const parsed = parseMarkdown(body.join('\n'))
  if (!parsed.ok) {
    const isDeep = parsed.reason === 'too_deep'
    const message = isDeep
      ? 'Lists or quotes are nested too deeply to be read whole.'
      : 'The document has too many headings, paragraphs and items.'
    const code = isDeep ? 'contract.too_deep' : 'contract.too_many'
    report({ code, at: { ...start, line: parsed.line }, message, remedy: 'Make it simpler, or split it.' })
    return null
  }
  const inner = lines.slice(1, Math.max(end, 1)).join('\n')
  const head =
    end < 0 || inner.trim() === '' ? null : readYaml(inner, { shown: name.shown, line: 2, column: 1 }, report)
  return { ...name, lines: body, head, blocks: parsed.blocks }
}

function findHeadEnd(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== '---') return -1
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  return end
}

interface YamlPlace {
  readonly shown: string
  /** Where its first character stands. */
  readonly line: number
  readonly column: number
}

/** YAML inside a workflow's documents, with positions in its file. All its problems are `bad_yaml`. */
export function readYaml(text: string, place: YamlPlace, report: Sink): SourceNode | null {
  let isBad = false
  const node = parseSource(text, (found) => {
    isBad = true
    const code: ContractCode = found.code === 'contract.duplicate_key' ? 'duplicate_field' : 'bad_yaml'
    const { remedy: _, ...rest } = found
    report({ ...rest, code, at: shiftPlace(found.at, place) })
  })
  return isBad || node === null ? null : shiftNode(node, place)
}

function shiftPlace(at: Place, { shown, line, column }: YamlPlace): Place {
  return { path: at.path, line: at.line + line - 1, column: at.column + column - 1, file: shown }
}

function shiftNode(node: SourceNode, place: YamlPlace): SourceNode {
  const at = shiftPlace(node.at, place)
  if (node.kind === 'scalar') return { ...node, at }
  if (node.kind === 'list') {
    return { kind: 'list', at, items: node.items.map((item) => shiftNode(item, place)) } satisfies ListNode
  }
  const entries = new Map(
    [...node.entries].map(([key, entry]) => [
      key,
      { keyAt: shiftPlace(entry.keyAt, place), value: shiftNode(entry.value, place) },
    ]),
  )
  return {
    kind: 'map',
    at,
    keyAt: node.keyAt === null ? null : shiftPlace(node.keyAt, place),
    entries,
  } satisfies MapNode
}

/** The place of a text in a line of the file; the beginning of the line if the text is not found. */
export function findPlace(source: Source, line: number, needle: string): Place {
  const text = source.lines[line - 1] ?? ''
  const found = needle === '' ? -1 : text.indexOf(needle)
  const column = found >= 0 ? found + 1 : text.length - text.trimStart().length + 1
  return { line, column, path: '', file: source.shown }
}
