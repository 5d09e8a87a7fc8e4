import type { JsonObject } from '../../core/json.js'
import { CONTRACT_FIELDS } from '../contract-fields.js'
import { addTestsUnchanged, makeLinearTransitions, placeSharedGates, resolveNodeTargets } from '../load/normalise.js'
import type { SourceNode } from '../load/yaml.js'
import { has, when } from '../schema/conditions.js'
import { emptyAsMap, list, mapOf, readList, type Scope, text } from '../schema/kinds.js'
import { object, type ReadOf } from '../schema/object.js'
import { expectKind, type Fields } from './fields.js'
import { MODES } from './read-enforcement.js'
import { NODE, PHASE, type PhaseDocument } from './read-phases.js'
import { NODE_TRANSITION, TRANSITION, type TransitionDocument } from './read-transitions.js'
import type { Reading } from './reading.js'

type Written = ReadOf<typeof CONTRACT_FIELDS>

/** The content of the file in canonical form, and where its schemas and guides must be looked up. */
export interface ReadContract {
  readonly document: ContractDocument
  readonly isNodes: boolean
  readonly guidesDir: string | null
  readonly schemasDir: string | null
  readonly inlineSchemas: ReadonlyMap<string, SourceNode>
}

/** The canonical contract: every accepted form becomes this one, and it is itself a contract. */
export type ContractDocument = ReturnType<typeof settle>

export const CONTRACT = object('contract', 'The contract', CONTRACT_FIELDS, {
  json: {
    allOf: [
      when(
        has('nodes'),
        { anyOf: [has('name'), has('mode')], not: has('phases') },
        { required: ['phases', 'name', 'version'] },
      ),
    ],
  },
  finish: (written, fields, scope): ReadContract => {
    const { reading } = scope
    const inline = written.schemas === undefined ? null : expectKind(reading, written.schemas, 'map')
    return {
      document: reading.made(settle(written, fields, scope), fields.node),
      isNodes: written.nodes !== undefined,
      guidesDir: written.guides?.kind === 'scalar' ? (text.read(written.guides, scope) ?? '') : null,
      schemasDir: written.schemas_dir ?? null,
      inlineSchemas: new Map([...(inline?.entries ?? [])].map(([name, entry]) => [name, entry.value])),
    }
  },
})

/** Reads every accepted form of a contract; reports problems and continues with the rest. */
export function readContract(reading: Reading, node: SourceNode): ReadContract | null {
  return CONTRACT.read(node, { reading, key: '', example: '', owner: null })
}

function settle(written: Written, fields: Fields, scope: Scope) {
  const { reading } = scope
  const { name, version, description, mode, summary, guides, recovery, schemas_dir, nodes, ...rest } = written
  if (nodes !== undefined && written.phases !== undefined)
    fields.reportBad('nodes', 'contract.invalid_value', "A contract has either 'phases' or 'nodes', not both.")
  const { gate_timeout: timeout, ...kept } = recovery ?? {}
  const shared = fields.get('gates')
  reading.gates = {
    onTimeout: timeout?.action === 'reject' ? 'reject' : 'park',
    shared: shared === undefined ? null : expectKind(reading, shared, 'map'),
  }
  const phases = readPhases(written, fields, scope)
  const start = written.start_node ?? phases[0]?.id ?? ''
  const transitions = readTransitions(written, fields, scope)
  if (nodes !== undefined) resolveNodeTargets(reading, phases, transitions, start)
  const document = {
    ...rest,
    ...readHead(written, fields),
    start_node: start,
    phases,
    transitions: transitions ?? makeLinearTransitions(reading, phases),
    schemas: {} as Record<string, JsonObject | boolean>,
    guides: readInlineGuides(guides, scope),
    ...(recovery === undefined || Object.keys(kept).length === 0
      ? {}
      : { recovery: reading.made(kept, reading.findOrigin(recovery) ?? fields.node) }),
  }
  placeSharedGates(reading, document)
  addTestsUnchanged(reading, document)
  return document
}

/** `phases` as a list, or as a map from id to phase (`nodes` is always a map). */
function readPhases({ nodes, phases }: Written, fields: Fields, scope: Scope): PhaseDocument[] {
  const node = nodes ?? phases
  if (node === undefined || isEmptyCollection(node)) {
    fields.reportBad(nodes === undefined ? 'phases' : 'nodes', 'contract.no_phases', 'The contract has no phases.')
    return []
  }
  const kind = nodes === undefined ? PHASE : NODE
  if (node.kind === 'list') return list(kind).read(node, scope) ?? []
  const map = expectKind(scope.reading, node, 'map')
  const read = [...(map?.entries ?? [])].flatMap(
    ([id, { keyAt, value }]) => kind.read(emptyAsMap(value, keyAt, keyAt), { ...scope, owner: id }) ?? [],
  )
  return scope.reading.made(read, node)
}

function isEmptyCollection(node: SourceNode): boolean {
  if (node.kind === 'scalar') return node.value === null
  return node.kind === 'list' ? node.items.length === 0 : node.entries.size === 0
}

function readHead({ name, version, description, summary, mode, nodes }: Written, fields: Fields) {
  if (MODES.some((known) => known === mode)) {
    const message = "The top-level 'mode' is only a label; enforcement.mode says how strict Phaselock is."
    fields.reportBad('mode', 'contract.effect_differs', message, 'Use enforcement.mode.')
  }
  const isNodes = nodes !== undefined
  if (name === undefined && !(isNodes && mode !== undefined)) fields.missing('name', CONTRACT_FIELDS.name.example)
  if (version === undefined && !isNodes) fields.missing('version', CONTRACT_FIELDS.version.example)
  return {
    name: name ?? mode ?? '',
    version: version ?? '1',
    description: description ?? summary ?? '',
    ...(mode === undefined ? {} : { mode }),
  }
}

function readTransitions({ nodes, transitions }: Written, fields: Fields, scope: Scope): TransitionDocument[] | null {
  const top = transitions === undefined ? null : list(TRANSITION).read(transitions, scope)
  if (nodes === undefined) return top
  const inner = [...(nodes.kind === 'map' ? nodes.entries : [])].flatMap(([id, { value }]) => {
    const own = value.kind === 'map' ? value.entries.get('transitions')?.value : undefined
    return own === undefined ? [] : (readList(NODE_TRANSITION, own, scope, () => id) ?? [])
  })
  return scope.reading.made([...inner, ...(top ?? [])], top === null ? fields.node : (transitions ?? fields.node))
}

function readInlineGuides(node: SourceNode | undefined, scope: Scope): Record<string, string> {
  const isFolder = node?.kind === 'scalar' && typeof node.value === 'string'
  return (node === undefined || isFolder ? null : mapOf(text).read(node, scope)) ?? Object.create(null)
}
