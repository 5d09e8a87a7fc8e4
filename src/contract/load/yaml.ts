import type { Document, ErrorCode, Node } from 'yaml'
import { CST, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument } from 'yaml'
import type { ContractCode, Place, Report } from '../diagnostic.js'

export type SourceNode = MapNode | ListNode | ScalarNode

export interface MapNode {
  readonly kind: 'map'
  readonly at: Place
  /** The key that contains this map in the file, if any. */
  readonly keyAt: Place | null
  readonly entries: ReadonlyMap<string, SourceEntry>
}

export interface ListNode {
  readonly kind: 'list'
  readonly at: Place
  readonly items: readonly SourceNode[]
}

interface ScalarNode {
  readonly kind: 'scalar'
  readonly at: Place
  readonly value: string | number | boolean | null
}

export interface SourceEntry {
  readonly keyAt: Place
  readonly value: SourceNode
}

export const BYTES_MAX = 1024 * 1024
const DEPTH_MAX = 64
const NODES_MAX = 100_000
const ALIASES_MAX = 100
export const ENTRIES_MAX = 1000
const ERRORS_MAX = 50
const START: Place = { line: 1, column: 1, path: '' }

/**
 * The file as a tree in which every value knows its place; null where nothing can be read at all. `file` is named in each place
 * where it is not the contract's own.
 */
export function parseSource(text: string, tell: (report: Report) => void, file?: string): SourceNode | null {
  const report = (found: Report): void => tell({ ...found, at: inFile(found.at, file) })
  const refused = refuseBeforeParsing(text)
  if (refused !== null) {
    report(refused)
    return null
  }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    // Duplicates are found while converting: the parser's own search compares every key with every other.
    uniqueKeys: false,
    prettyErrors: false,
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    logLevel: 'error',
  })
  const before = reportYamlErrors(document, lines, report)
  if (document.contents === null) {
    if (before === 0) report({ code: 'contract.empty', at: START, message: 'The contract is empty.' })
    return null
  }
  return new Converter(document, lines, { report, file }).convert(document.contents)
}

function inFile(place: Place, file: string | undefined): Place {
  return file === undefined ? place : { ...place, file }
}

function refuseBeforeParsing(text: string): Report | null {
  if (Buffer.byteLength(text) > BYTES_MAX) {
    return { code: 'contract.too_large', at: START, message: `The contract is larger than ${BYTES_MAX} bytes.` }
  }
  if (text.startsWith('\uFEFF')) {
    return { code: 'contract.byte_order_mark', at: START, message: 'The contract starts with a byte order mark.' }
  }
  const nul = text.indexOf('\0')
  if (nul >= 0) {
    return { code: 'contract.nul_byte', at: toPlace(text, nul), message: 'The contract contains a NUL byte.' }
  }
  const deep = findTooDeep(text)
  if (deep === null) return null
  return { code: 'contract.too_deep', at: toPlace(text, deep), message: `Nested more than ${DEPTH_MAX} levels.` }
}

// The parser recurses, and V8 can die (not throw) when a regular expression is compiled on an almost full stack: so the
// depth is limited on the tokens, before anything recurses. A column can open at most two levels (a list may start at
// the column of its key), so the parser never goes deeper than twice the limit.
function findTooDeep(text: string): number | null {
  const columns: number[] = []
  let flow = 0
  let offset = 0
  let lineStart = 0
  let isLeading = true
  let isScalarNext = false
  for (const token of new Lexer().lex(text)) {
    const type: string | null = isScalarNext ? 'scalar-text' : CST.tokenType(token)
    isScalarNext = type === 'scalar'
    if (type === 'scalar' || type === 'doc-mode' || type === 'flow-error-end') {
      if (type === 'scalar' && isLeading) openColumn(columns, offset - lineStart)
      if (type === 'scalar') isLeading = false
      continue
    }
    if (type === 'flow-map-start' || type === 'flow-seq-start') flow += 1
    else if (type === 'flow-map-end' || type === 'flow-seq-end') flow -= 1
    else if (isLeading && (type === 'seq-item-ind' || type === 'explicit-key-ind')) {
      openColumn(columns, offset - lineStart)
    } else if (type !== 'space' && type !== 'newline' && type !== 'scalar-text') {
      if (isLeading && type !== 'comment') openColumn(columns, offset - lineStart)
      isLeading = false
    }
    if (flow + columns.length > DEPTH_MAX) return offset
    offset += token.length
    const newline = token.lastIndexOf('\n')
    if (newline >= 0) {
      lineStart = offset - (token.length - newline - 1)
      isLeading = true
    }
  }
  return null
}

function openColumn(columns: number[], column: number): void {
  while (columns.length > 0 && (columns.at(-1) ?? 0) > column) columns.pop()
  if ((columns.at(-1) ?? -1) < column) columns.push(column)
}

function toPlace(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1, path: '' }
}

const CODE_OF_YAML_ERROR: Partial<Record<ErrorCode, ContractCode>> = {
  MULTIPLE_DOCS: 'contract.multiple_documents',
  TAG_RESOLVE_FAILED: 'contract.unknown_tag',
}

function reportYamlErrors(document: Document, lines: LineCounter, report: (report: Report) => void): number {
  const problems = [...document.errors, ...document.warnings]
  for (const problem of problems.slice(0, ERRORS_MAX)) {
    const { line, col } = lines.linePos(problem.pos[0])
    const code = CODE_OF_YAML_ERROR[problem.code] ?? 'contract.invalid_yaml'
    const message = code === 'contract.multiple_documents' ? 'A second document starts here' : problem.message
    report({ code, at: { line, column: col, path: '' }, message: `${message}.` })
  }
  return problems.length
}

interface Told {
  readonly report: (report: Report) => void
  readonly file: string | undefined
}

class Converter {
  private nodes = 0
  private aliases = 0
  private isStopped = false
  private readonly document: Document
  private readonly lines: LineCounter
  private readonly report: (report: Report) => void
  private readonly file: string | undefined

  constructor(document: Document, lines: LineCounter, { report, file }: Told) {
    this.document = document
    this.lines = lines
    this.report = report
    this.file = file
  }

  convert(contents: unknown): SourceNode | null {
    const root = this.readNode(contents as Node, this.placeOf(contents, inFile(START, this.file), ''), 0)
    return this.isStopped ? null : root
  }

  private readNode(node: Node | null, at: Place, depth: number): SourceNode {
    this.nodes += 1
    if (this.isStopped) return { kind: 'scalar', at, value: null }
    if (depth > DEPTH_MAX) return this.stop('contract.too_deep', at, `Nested more than ${DEPTH_MAX} levels.`)
    if (this.nodes > NODES_MAX) return this.stop('contract.alias_limit', at, `More than ${NODES_MAX} values.`)
    if (isAlias(node)) return this.alias(node, at, depth)
    if ((isMap(node) || isSeq(node)) && node.items.length > ENTRIES_MAX) {
      return this.stop('contract.too_many', at, `More than ${ENTRIES_MAX} entries in one list or map.`)
    }
    if (isMap(node)) return this.map(node, at, depth)
    if (isSeq(node)) {
      const items = node.items.map((item, index) =>
        this.readNode(item as Node, this.placeOf(item, at, `${at.path}[${index}]`), depth + 1),
      )
      return { kind: 'list', at, items }
    }
    const value: unknown = isScalar(node) ? node.value : null
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return { kind: 'scalar', at, value }
    if (typeof value === 'number' && Number.isFinite(value)) return { kind: 'scalar', at, value }
    this.report({ code: 'contract.invalid_value', at, message: 'This value is not a JSON value.' })
    return { kind: 'scalar', at, value: null }
  }

  private alias(
    node: { source: string; resolve(doc: Document): Node | undefined },
    at: Place,
    depth: number,
  ): SourceNode {
    this.aliases += 1
    if (this.aliases > ALIASES_MAX) return this.stop('contract.alias_limit', at, `More than ${ALIASES_MAX} aliases.`)
    const target = node.resolve(this.document)
    if (target !== undefined) return this.readNode(target, at, depth + 1)
    this.report({ code: 'contract.invalid_yaml', at, message: `The alias *${node.source} has no anchor before it.` })
    return { kind: 'scalar', at, value: null }
  }

  private map(node: { items: readonly { key: unknown; value: unknown }[] }, at: Place, depth: number): MapNode {
    const entries = new Map<string, SourceEntry>()
    for (const { key, value } of node.items) {
      if (!isScalar(key) || key.value === null || typeof key.value === 'object') {
        this.report({
          code: 'contract.wrong_type',
          at: this.placeOf(key, at, at.path),
          message: 'A key must be a word.',
        })
        continue
      }
      const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
      const path = at.path === '' ? name : `${at.path}.${name}`
      const keyAt = this.placeOf(key, at, path)
      if (entries.has(name)) {
        this.report({
          code: 'contract.duplicate_key',
          at: keyAt,
          message: `The key '${name}' is already defined above.`,
        })
      }
      const child = this.readNode(value as Node, this.placeOf(value, keyAt, path), depth + 1)
      entries.set(name, { keyAt, value: child.kind === 'map' ? { ...child, keyAt } : child })
    }
    return { kind: 'map', at, keyAt: null, entries }
  }

  private placeOf(node: unknown, fallback: Place, path: string): Place {
    const range = (node as Node | null)?.range
    if (range === null || range === undefined) return { ...fallback, path }
    const { line, col } = this.lines.linePos(range[0])
    return inFile({ line, column: col, path }, this.file)
  }

  private stop(code: ContractCode, at: Place, message: string): ScalarNode {
    if (!this.isStopped) this.report({ code, at, message })
    this.isStopped = true
    return { kind: 'scalar', at, value: null }
  }
}
