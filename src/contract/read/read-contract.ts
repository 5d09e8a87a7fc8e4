import type { Json } from '../../core/json.js'
import type { ContractDocument, TransitionDocument } from '../document.js'
import { addTestsUnchanged, makeLinearTransitions, placeSharedGates, resolveNodeTargets } from '../load/normalise.js'
import type { MapNode, SourceNode } from '../load/yaml.js'
import { COMMON_KEYS } from './contract-keys.js'
import { expectKind, Fields } from './fields.js'
import { readAgent } from './read-agents.js'
import { readCoordination } from './read-coordination.js'
import { MODES, readEnforcement } from './read-enforcement.js'
import type { GateDefaults } from './read-gates.js'
import { readGit } from './read-git.js'
import { readPhases } from './read-phases.js'
import { readCommand, readMcpServer, readNamed, readTool } from './read-services.js'
import { readKnowledge, readMonitoring, readRecovery, readTests, readWeb } from './read-settings.js'
import { readTransitions } from './read-transitions.js'
import { readWebhooks } from './read-webhooks.js'
import type { Reading } from './reading.js'

const ROOT_KEYS = [
  'name',
  'version',
  'description',
  'phases',
  'nodes',
  'summary',
  'mode',
  'start_node',
  'gates',
  'transitions',
  ...COMMON_KEYS,
]

/** What the file says, in canonical form, and where its schemas and guides are still to be looked up. */
export interface ReadContract {
  readonly document: ContractDocument
  readonly root: MapNode
  readonly isNodes: boolean
  readonly guidesDir: string | null
  readonly schemasDir: string | null
  readonly inlineSchemas: ReadonlyMap<string, SourceNode>
}

/** Reads every accepted form of a contract; reports what is wrong and goes on with what can be understood. */
export function readContract(reading: Reading, node: SourceNode): ReadContract | null {
  const fields = Fields.openFields(reading, node, ROOT_KEYS)
  if (fields === null) return null
  const isNodes = fields.has('nodes')
  if (isNodes && fields.has('phases')) {
    fields.reportBad('nodes', 'contract.invalid_value', "A contract has either 'phases' or 'nodes', not both.")
  }
  const recovery = readRecovery(reading, fields)
  const gates: GateDefaults = { onTimeout: recovery.gateTimeout, shared: fields.map('gates') }
  const phasesNode = fields.get(isNodes ? 'nodes' : 'phases')
  const phases = phasesNode === undefined ? [] : readPhases(reading, phasesNode, { isNode: isNodes, gates })
  if (phases.length === 0 && isEmptyCollection(phasesNode)) {
    fields.reportBad(isNodes ? 'nodes' : 'phases', 'contract.no_phases', 'The contract has no phases.')
  }
  const start = fields.getText('start_node', phases[0]?.id ?? '')
  const transitions = readAllTransitions(reading, fields, isNodes)
  if (isNodes) resolveNodeTargets(reading, phases, transitions, start)
  const document: ContractDocument = {
    ...readHead(reading, fields, isNodes),
    start_node: start,
    phases: phasesNode === undefined ? phases : reading.made(phases, phasesNode),
    transitions: transitions ?? makeLinearTransitions(reading, phases),
    enforcement: readEnforcement(reading, fields),
    tests: readTests(reading, fields),
    schemas: {},
    guides: readInlineGuides(fields),
    agent_startable: fields.getFlag('agent_startable', false),
    web: readWeb(reading, fields),
  }
  placeSharedGates(reading, document, gates)
  addTestsUnchanged(reading, document)
  readServices(reading, fields, document)
  if (recovery.kept !== null) document.recovery = recovery.kept
  return {
    document: reading.made(document, fields.node),
    root: fields.node,
    isNodes,
    guidesDir: fields.get('guides')?.kind === 'scalar' ? fields.getText('guides') : null,
    schemasDir: fields.has('schemas_dir') ? fields.needText('schemas_dir', '.orchestrator/schemas') : null,
    inlineSchemas: new Map([...(fields.map('schemas')?.entries ?? [])].map(([name, entry]) => [name, entry.value])),
  }
}

function isEmptyCollection(node: SourceNode | undefined): boolean {
  if (node === undefined) return true
  if (node.kind === 'scalar') return node.value === null
  return node.kind === 'list' ? node.items.length === 0 : node.entries.size === 0
}

function readHead(
  reading: Reading,
  fields: Fields,
  isNodes: boolean,
): Pick<ContractDocument, 'name' | 'version' | 'description' | 'mode'> {
  const mode = fields.has('mode') ? fields.needText('mode', 'discovery') : undefined
  if (mode !== undefined && MODES.some((known) => known === mode)) {
    const message = "The top-level 'mode' is only a label; how strict Phaselock is stands in enforcement.mode."
    reading.report({ code: 'contract.effect_differs', at: fields.at('mode'), message, remedy: 'Use enforcement.mode.' })
  }
  const hasDefaults = isNodes && mode !== undefined
  return {
    name: hasDefaults && !fields.has('name') ? mode : fields.needText('name', 'tdd'),
    version: isNodes && !fields.has('version') ? '1' : fields.needText('version', '"1.0"'),
    description: fields.getText('description', fields.getText('summary')),
    ...(mode === undefined ? {} : { mode }),
  }
}

function readAllTransitions(reading: Reading, fields: Fields, isNodes: boolean): TransitionDocument[] | null {
  const list = fields.list('transitions')
  const top = list === null ? null : readTransitions(reading, list, null)
  if (!isNodes) return top === null || list === null ? null : reading.made(top, list)
  const nodes = fields.get('nodes')
  const inner = nodes?.kind === 'map' ? [...nodes.entries] : []
  const transitions = inner.flatMap(([id, entry]) => {
    const own = entry.value.kind === 'map' ? entry.value.entries.get('transitions')?.value : undefined
    const ownList = own === undefined ? null : expectKind(reading, own, 'list')
    return ownList === null ? [] : readTransitions(reading, ownList, id)
  })
  return reading.made([...transitions, ...(top ?? [])], list ?? fields.node)
}

function readInlineGuides(fields: Fields): Record<string, string> {
  const node = fields.get('guides')
  const guides: Record<string, string> = Object.create(null)
  if (node === undefined || (node.kind === 'scalar' && typeof node.value === 'string')) return guides
  const map = fields.map('guides')
  if (map === null) return guides
  const texts = Fields.openFields(fields.reading, map, [...map.entries.keys()])
  for (const name of map.entries.keys()) guides[name] = texts?.getText(name) ?? ''
  return fields.reading.made(guides, map)
}

function readServices(reading: Reading, fields: Fields, document: ContractDocument): void {
  const parts: Record<string, Json | null> = {
    commands: readNamed(fields, 'commands', readCommand),
    mcp_servers: readNamed(fields, 'mcp_servers', readMcpServer),
    tools: readNamed(fields, 'tools', readTool),
    agents: readNamed(fields, 'agents', readAgent),
    monitoring: readMonitoring(reading, fields),
    webhooks: readWebhooks(reading, fields),
    knowledge: readKnowledge(reading, fields),
    git: readGit(reading, fields),
    coordination: readCoordination(reading, fields),
  }
  for (const [key, value] of Object.entries(parts)) if (value !== null) Object.assign(document, { [key]: value })
}
