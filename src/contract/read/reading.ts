import type { Json, JsonObject } from '../../core/json.js'
import { type ContractCode, type Diagnostic, type Place, type Report, toDiagnostic } from '../diagnostic.js'
import type { BaseFile } from '../extend/extend-contract.js'
import type { MapNode, SourceNode } from '../load/yaml.js'

const DIAGNOSTICS_MAX = 500
const NOWHERE: Place = { line: 1, column: 1, path: '' }

/** A part of the document and, if it concerns one, the field or index. */
type Found = readonly [made: object, key?: string | number | undefined]

/**
 * State while one contract is read: its diagnostics, and the file node of each part of the canonical document, so that
 * a finding about the document can point into the file.
 */
export class Reading {
  readonly file: string
  readonly diagnostics: Diagnostic[] = []
  /** Paths that were looked up next to the file. */
  readonly lookups = new Set<string>()
  /** What the contract extends, directly or not. A base comes after the ones that it extends itself. */
  readonly bases: BaseFile[] = []
  /** What gates take from elsewhere in the file: the default of `on_timeout`, and the top-level map of gates. */
  gates: { readonly onTimeout: 'park' | 'reject'; readonly shared: MapNode | null } = {
    onTimeout: 'park',
    shared: null,
  }
  private readonly origins = new WeakMap<object, SourceNode>()

  constructor(file: string) {
    this.file = file
  }

  get hasErrors(): boolean {
    return this.diagnostics.some((diagnostic) => diagnostic.severity === 'error')
  }

  readonly report = (report: Report): void => {
    if (this.diagnostics.length < DIAGNOSTICS_MAX) this.diagnostics.push(toDiagnostic(report, this.file))
  }

  /** Records that `made` comes from `node`. */
  made<T extends object>(made: T, node: SourceNode): T {
    this.origins.set(made, node)
    return made
  }

  /** The node of the file that a part of the document was made from. */
  findOrigin(made: object): SourceNode | undefined {
    return this.origins.get(made)
  }

  /** The place of a part of the document, or of one of its fields; if it has none, the nearest known place. */
  place(made: object, key?: string | number): Place {
    const node = this.origins.get(made)
    if (node === undefined) return NOWHERE
    if (key === undefined) return getHolderPlace(node)
    if (node.kind === 'map') return findEntryPlace(node, String(key)) ?? getHolderPlace(node)
    if (node.kind === 'list' && typeof key === 'number') return node.items[key]?.at ?? node.at
    return node.at
  }

  /** Reports something about a part of the document, or about one of its fields. */
  reportAt(code: ContractCode, [made, key]: Found, message: string, remedy?: string): void {
    this.report({ code, at: this.place(made, key), message, remedy })
  }

  /** A free-form value as plain JSON, with every object and list in it recorded. Keys cannot reach a prototype. */
  toJson(node: SourceNode): Json {
    if (node.kind === 'scalar') return node.value
    if (node.kind === 'list') {
      return this.made(
        node.items.map((item) => this.toJson(item)),
        node,
      )
    }
    return this.toJsonObject(node)
  }

  toJsonObject(node: MapNode): JsonObject {
    const object: Record<string, Json> = Object.create(null)
    for (const [key, entry] of node.entries) object[key] = this.toJson(entry.value)
    return this.made(object, node)
  }
}

function findEntryPlace(node: MapNode, key: string): Place | undefined {
  const entry = node.entries.get(key)
  return entry?.value.kind === 'scalar' ? entry.value.at : entry?.keyAt
}

function getHolderPlace(node: SourceNode): Place {
  return node.kind === 'map' && node.keyAt !== null ? node.keyAt : node.at
}
