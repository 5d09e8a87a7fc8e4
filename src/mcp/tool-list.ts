import type { Tool } from '@modelcontextprotocol/server'
import type { App } from '../app/app.js'
import { ok, type Result } from '../app/result.js'
import { readPins } from '../app/tool-calls/upstream.js'
import type { Contract } from '../core/contract/contract.js'
import type { AgentBearer } from '../core/identity/admit.js'
import type { JsonObject } from '../core/json.js'
import { BUILT_IN_TOOLS } from '../core/tool-calls/built-in-tools.js'
import { isOffered } from '../core/tool-calls/offered-tools.js'
import { findScene, readScene } from './scene.js'
import { buildBuiltInSchema, formatBuiltInNote, normalizeUpstreamSchema, ownToolSchema } from './tool-schemas.js'
import { WORKFLOW_TOOLS } from './workflow-tools.js'

/**
 * Every tool of the caller's contract, whatever phase its task is in, because many clients read the list once. Their
 * descriptions say where they work, and each call is decided.
 */
export async function listTools(app: App, bearer: AgentBearer): Promise<Tool[]> {
  const { contract, state } = await readScene(app, bearer)
  const pins = state === null ? {} : await readPins(app, state)
  const offered = listOffered(contract).map(({ name, phases }) =>
    toContractTool({ contract, name, phases, pin: pins[name] }),
  )
  return [...[...WORKFLOW_TOOLS.values()].map(toTool), ...offered]
}

/** Whether the list has a tool that an agent CLI calls by this name. */
export async function isToolOffered(app: App, bearer: AgentBearer, name: string): Promise<Result<boolean>> {
  const scene = await findScene(app, bearer)
  if (!scene.ok) return scene
  const names = [...WORKFLOW_TOOLS.keys(), ...listOffered(scene.value.contract).map((one) => one.name)]
  return ok(names.some((one) => one.replaceAll(NOT_IN_NAMES, '_') === name))
}

// Agent CLIs replace every character that models do not accept in a tool name by `_`.
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g

function listOffered(contract: Contract): readonly { readonly name: string; readonly phases: readonly string[] }[] {
  return [...BUILT_IN_TOOLS.keys(), ...contract.extraTools]
    .filter((name, index, all) => !WORKFLOW_TOOLS.has(name) && all.indexOf(name) === index)
    .map((name) => ({ name, phases: listPhasesOffering(contract, name) }))
    .filter(({ phases }) => phases.length > 0)
}

export function toTool(tool: { name: string; description: string; inputSchema: JsonObject; isReader: boolean }): Tool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema as Tool['inputSchema'],
    annotations: { readOnlyHint: tool.isReader },
  }
}

// Ids only: the purpose of a phase must not be visible before it is open.
function listPhasesOffering(contract: Contract, tool: string): readonly string[] {
  return [...contract.phases.values()].filter((phase) => isOffered(phase, tool)).map((phase) => phase.id)
}

const READERS: ReadonlySet<string> = new Set([
  ...['read_files', 'glob', 'grep', 'search_codebase', 'git_status', 'git_diff', 'git_log'],
])

interface NamedTool {
  readonly contract: Contract
  readonly name: string
  readonly phases: readonly string[]
  readonly pin: { readonly description: string; readonly inputSchema: JsonObject } | undefined
}

function toContractTool({ contract, name, phases, pin }: NamedTool): Tool {
  const where = `Works in: ${phases.join(', ')}.`
  const own = contract.tools.get(name)
  if (own !== undefined)
    return toTool({
      name,
      description: `${toSentence(own.description)}${where}`,
      inputSchema: ownToolSchema(own),
      isReader: false,
    })
  const spec = BUILT_IN_TOOLS.get(name)
  if (spec !== undefined)
    return toTool({
      name,
      description: `${toSentence(spec.description + formatBuiltInNote(spec))}${where}`,
      inputSchema: buildBuiltInSchema(spec),
      isReader: READERS.has(name),
    })
  return toTool({
    name,
    description: `${toSentence(pin?.description ?? `Tool of the MCP server ${name.slice(0, name.indexOf('.'))}.`)}${where}`,
    inputSchema: normalizeUpstreamSchema(pin?.inputSchema),
    isReader: false,
  })
}

function toSentence(text: string): string {
  const trimmed = text.trim()
  return trimmed === '' ? '' : `${trimmed} `
}
