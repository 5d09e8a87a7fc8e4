import { createRequire } from 'node:module'
import { packagePath } from '../base/package-root.js'
import type { Language } from './types.js'

/** A node of the syntax tree, copied out of the parser's memory. */
export interface Syntax {
  readonly type: string
  /** The parent's field of this node, null if it has no name. */
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
  /** Number of places that could not be parsed. */
  readonly errors: number
}

type ParseFailure = 'not_parsed' | 'too_deep' | 'took_too_long'

const NODES_MAX = 600_000
const DEPTH_MAX = 400

// The used part of the package; its own types are declared under another module name.
interface Cursor {
  readonly nodeTypeId: number
  readonly nodeType: string
  readonly nodeIsNamed: boolean
  readonly nodeIsMissing: boolean
  readonly startIndex: number
  readonly endIndex: number
  readonly currentFieldId: number
  readonly currentFieldName: string | null
  gotoFirstChild(): boolean
  gotoNextSibling(): boolean
  gotoParent(): boolean
  delete(): void
}
interface Tree {
  readonly rootNode: { readonly hasError: boolean }
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

/** A parser, and the meaning of its numbers: looking up each node again is slow. */
class Grammar {
  private readonly types = new Map<number, { readonly name: string; readonly isNamed: boolean }>()
  private readonly fields = new Map<number, string | null>()
  constructor(readonly parser: WasmParser) {}

  typeOf(cursor: Cursor): { readonly name: string; readonly isNamed: boolean } {
    const id = cursor.nodeTypeId
    const known = this.types.get(id)
    if (known !== undefined) return known
    const type = { name: cursor.nodeType, isNamed: cursor.nodeIsNamed }
    this.types.set(id, type)
    return type
  }

  readField(cursor: Cursor): string | null {
    const id = cursor.currentFieldId
    const known = this.fields.get(id)
    if (known !== undefined) return known
    const name = cursor.currentFieldName
    this.fields.set(id, name)
    return name
  }
}

const require = createRequire(import.meta.url)
const grammars = new Map<Language, Promise<Grammar>>()
let library: Promise<TreeSitter> | null = null

/** Parses a file. Everything is bounded: `deadline` is a time of `performance.now()`. */
export async function parseFile(
  language: Language,
  text: string,
  deadline: number,
): Promise<ParsedFile | ParseFailure> {
  const grammar = await getGrammar(language)
  return parseAndUse(grammar, text, deadline, (tree) => copyTree(tree, { text, grammar, deadline }))
}

/** Loads a grammar, so that a deadline is about the text alone. */
export async function prepareGrammar(language: Language): Promise<void> {
  await getGrammar(language)
}

/** Number of places in a text that cannot be parsed. */
export async function countErrors(language: Language, text: string, deadline: number): Promise<number | ParseFailure> {
  const grammar = await getGrammar(language)
  return parseAndUse(grammar, text, deadline, (tree) => {
    if (!tree.rootNode.hasError) return 0
    const copied = copyTree(tree, { text, grammar, deadline })
    return typeof copied === 'string' ? copied : copied.errors
  })
}

function parseAndUse<T>(
  { parser }: Grammar,
  text: string,
  deadline: number,
  use: (tree: Tree) => T,
): T | 'took_too_long' {
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline })
  if (tree === null) {
    parser.reset()
    return 'took_too_long'
  }
  try {
    return use(tree)
  } finally {
    tree.delete()
  }
}

function getGrammar(language: Language): Promise<Grammar> {
  const known = grammars.get(language)
  if (known !== undefined) return known
  const loading = loadGrammar(language)
  grammars.set(language, loading)
  loading.catch(() => grammars.delete(language))
  return loading
}

async function loadGrammar(language: Language): Promise<Grammar> {
  library ??= loadLibrary()
  const { Parser, Language: Loader } = await library
  const parser = new Parser()
  parser.setLanguage(await Loader.load(packagePath(`dist/parsers/tree-sitter-${language}.wasm`)))
  return new Grammar(parser)
}

async function loadLibrary(): Promise<TreeSitter> {
  const loaded = require(packagePath('dist/parsers/tree-sitter.cjs')) as TreeSitter
  await loaded.Parser.init()
  return loaded
}

class CopiedNode implements Syntax {
  readonly children: CopiedNode[] = []
  readonly type: string
  readonly isNamed: boolean
  readonly field: string | null
  readonly start: number
  readonly end: number
  line = 0
  constructor(
    private readonly source: string,
    readonly parent: CopiedNode | null,
    grammar: Grammar,
    cursor: Cursor,
  ) {
    const type = grammar.typeOf(cursor)
    this.type = type.name
    this.isNamed = type.isNamed
    this.field = grammar.readField(cursor)
    this.start = cursor.startIndex
    this.end = cursor.endIndex
    parent?.children.push(this)
  }
  get text(): string {
    return this.source.slice(this.start, this.end)
  }
}

interface Copying {
  readonly text: string
  readonly grammar: Grammar
  readonly deadline: number
}

/** Walks the tree once. Nodes come in the order in which they begin, so lines are counted along the way. */
function copyTree(tree: Tree, { text, grammar, deadline }: Copying): ParsedFile | ParseFailure {
  const cursor = tree.walk()
  const mayMiss = tree.rootNode.hasError
  let [errors, nodes, line, counted] = [0, 0, 1, 0]
  const copy = (parent: CopiedNode | null): CopiedNode => {
    const node = new CopiedNode(text, parent, grammar, cursor)
    if (node.type === 'ERROR' || (mayMiss && cursor.nodeIsMissing)) errors += 1
    for (let next = text.indexOf('\n', counted); next !== -1 && next < node.start; next = text.indexOf('\n', counted)) {
      line += 1
      counted = next + 1
    }
    node.line = line
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
