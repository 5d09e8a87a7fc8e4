import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Language } from './types.js'

/** A node of the syntax tree, copied out of the parser's memory. */
export interface Syntax {
  readonly type: string
  /** The field of the parent that holds this node, null where it has no name. */
  readonly field: string | null
  readonly isNamed: boolean
  readonly start: number
  readonly end: number
  /** Counted from 1. */
  readonly line: number
  readonly parent: Syntax | null
  readonly children: readonly Syntax[]
  readonly text: string
}

export interface ParsedFile {
  readonly root: Syntax
  /** How many places could not be parsed. */
  readonly errors: number
}

export type ParseFailure = 'not_parsed' | 'too_deep' | 'took_too_long'

const NODES_MAX = 600_000
const DEPTH_MAX = 400

// What is used of the package; its own types are declared under another module name.
interface Cursor {
  readonly nodeType: string
  readonly nodeIsNamed: boolean
  readonly nodeIsMissing: boolean
  readonly startIndex: number
  readonly endIndex: number
  readonly startPosition: { readonly row: number }
  readonly currentFieldName: string | null
  gotoFirstChild(): boolean
  gotoNextSibling(): boolean
  gotoParent(): boolean
  delete(): void
}
interface Tree {
  walk(): Cursor
  delete(): void
}
interface WasmParser {
  setLanguage(language: unknown): void
  parse(text: string, old: null, options: { readonly progressCallback: () => boolean }): Tree | null
  reset(): void
}
interface TreeSitter {
  readonly Parser: { new (): WasmParser; init(): Promise<void> }
  readonly Language: { load(path: string): Promise<unknown> }
}

const require = createRequire(import.meta.url)
const parsers = new Map<Language, Promise<WasmParser>>()
let library: Promise<TreeSitter> | null = null

/** Parses a file. Everything is bounded: `deadline` is a time of `performance.now()`. */
export async function parseFile(
  language: Language,
  text: string,
  deadline: number,
): Promise<ParsedFile | ParseFailure> {
  const parser = await parserFor(language)
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline })
  if (tree === null) {
    parser.reset()
    return 'took_too_long'
  }
  try {
    return copyTree(tree, text, deadline)
  } finally {
    tree.delete()
  }
}

function parserFor(language: Language): Promise<WasmParser> {
  const known = parsers.get(language)
  if (known !== undefined) return known
  const loading = loadParser(language)
  parsers.set(language, loading)
  loading.catch(() => parsers.delete(language))
  return loading
}

async function loadParser(language: Language): Promise<WasmParser> {
  library ??= loadLibrary()
  const { Parser, Language: Grammar } = await library
  const folder = dirname(require.resolve('@vscode/tree-sitter-wasm'))
  const parser = new Parser()
  parser.setLanguage(await Grammar.load(join(folder, `tree-sitter-${language}.wasm`)))
  return parser
}

async function loadLibrary(): Promise<TreeSitter> {
  const loaded = require('@vscode/tree-sitter-wasm') as TreeSitter
  await loaded.Parser.init()
  return loaded
}

class CopiedNode implements Syntax {
  readonly children: CopiedNode[] = []
  constructor(
    private readonly source: string,
    readonly parent: CopiedNode | null,
    private readonly about: Omit<Syntax, 'parent' | 'children' | 'text'>,
  ) {}
  get type(): string {
    return this.about.type
  }
  get field(): string | null {
    return this.about.field
  }
  get isNamed(): boolean {
    return this.about.isNamed
  }
  get start(): number {
    return this.about.start
  }
  get end(): number {
    return this.about.end
  }
  get line(): number {
    return this.about.line
  }
  get text(): string {
    return this.source.slice(this.about.start, this.about.end)
  }
}

// Asking the parser for one node after the other is slow, so the tree is walked once.
function copyTree(tree: Tree, source: string, deadline: number): ParsedFile | ParseFailure {
  const cursor = tree.walk()
  let errors = 0
  let nodes = 0
  const copy = (parent: CopiedNode | null): CopiedNode => {
    const type = cursor.nodeType
    if (type === 'ERROR' || cursor.nodeIsMissing) errors += 1
    const node = new CopiedNode(source, parent, {
      ...{ type, field: cursor.currentFieldName, isNamed: cursor.nodeIsNamed },
      ...{ start: cursor.startIndex, end: cursor.endIndex, line: cursor.startPosition.row + 1 },
    })
    parent?.children.push(node)
    return node
  }
  try {
    const root = copy(null)
    if (root.type === 'ERROR') return 'not_parsed'
    let at = root
    for (let depth = 0; ; ) {
      nodes += 1
      if (nodes > NODES_MAX || depth > DEPTH_MAX) return 'too_deep'
      if (nodes % 5000 === 0 && performance.now() > deadline) return 'took_too_long'
      if (cursor.gotoFirstChild()) {
        at = copy(at)
        depth += 1
        continue
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent() || at.parent === null) return { root, errors }
        at = at.parent
        depth -= 1
      }
      if (at.parent === null) return { root, errors }
      at = copy(at.parent)
    }
  } finally {
    cursor.delete()
  }
}
