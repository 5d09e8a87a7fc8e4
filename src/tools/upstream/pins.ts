import { findSchemaProblems } from '../../contract/check/schema-problems.js'
import { hashJson } from '../../contract/fingerprint.js'
import { compileSchema } from '../../contract/schemas.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Json, JsonObject } from '../../core/json.js'

const PROBLEMS_MAX = 20

/** A tool as its server lists it. Nothing else of the listing is stored, shown or hashed. */
export type ListedTool = {
  readonly server: string
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations?: JsonObject
}

/** A tool as it was accepted. Agents are shown this description and this schema, never what is listed later. */
type PinnedTool = ListedTool & {
  /** SHA-256 (hex) of the definition. */
  readonly pin: string
}

/** Accepted tools by the name that agents use, `server.tool`. Plain JSON. */
export type Pins = Readonly<Record<string, PinnedTool>>

/** The name that contracts and agents use. */
export function formatToolName(tool: { readonly server: string; readonly name: string }): string {
  return `${tool.server}.${tool.name}`
}

/** The server in `server.tool`; '' when the name has none. */
export function parseServer(tool: string): string {
  return tool.slice(0, Math.max(tool.indexOf('.'), 0))
}

/** The upstream tools that a contract names, by server. Only these can ever be called, so only these are pinned. */
export function listNeededTools(contract: Contract): ReadonlyMap<string, readonly string[]> {
  const needed = new Map<string, readonly string[]>()
  for (const tool of contract.extraTools) {
    const server = parseServer(tool)
    if (!contract.mcpServers.has(server)) continue
    needed.set(server, [...(needed.get(server) ?? []), tool.slice(server.length + 1)])
  }
  return needed
}

/** SHA-256 of the canonical JSON of everything about a tool that a model or a validator reads. */
export function pinOf(tool: ListedTool): string {
  const { name, description, inputSchema, outputSchema, annotations } = tool
  return hashJson({
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  })
}

export function pinTools(listed: readonly ListedTool[]): Pins {
  return Object.fromEntries(listed.map((tool) => [formatToolName(tool), { ...tool, pin: pinOf(tool) }]))
}

/** Whether a tool is still the accepted one. */
export function checkPin(pins: Pins, listed: ListedTool): 'ok' | 'new' | 'changed' {
  const pinned = findPinnedTool(pins, formatToolName(listed))
  if (pinned === null) return 'new'
  return pinned.pin === pinOf(listed) ? 'ok' : 'changed'
}

/** The problems of the arguments, one text each. For a tool that was never accepted no arguments are valid. */
export function findUpstreamArgProblems(pins: Pins, tool: string, args: JsonObject): readonly string[] {
  const pinned = findPinnedTool(pins, tool)
  if (pinned === null) return ['the tool was not there when the task was created; an operator must accept it first']
  // A server's schema is not ours: what cannot be judged is refused, never passed on.
  const [problem] = findSchemaProblems(pinned.inputSchema)
  if (problem !== undefined) return [`the schema of the tool cannot be used: ${problem.message}`]
  const found = compileSchema(pinned.inputSchema)(args as Json).map(({ pointer, message }) =>
    pointer === '' ? `the arguments ${message}` : `${pointer} ${message}`,
  )
  return [...findUnknownArguments(pinned.inputSchema, args), ...found].slice(0, PROBLEMS_MAX)
}

const OPENING = [
  'additionalProperties',
  'unevaluatedProperties',
  'patternProperties',
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'dependencies',
]

// JSON Schema accepts unknown members by default; a tool call does not.
function findUnknownArguments(schema: JsonObject, args: JsonObject): readonly string[] {
  const { properties } = schema
  if (
    typeof properties !== 'object' ||
    properties === null ||
    OPENING.some((keyword) => Object.hasOwn(schema, keyword))
  )
    return []
  const known = Object.keys(properties)
  return Object.keys(args)
    .filter((name) => !known.includes(name))
    .map((name) => `unknown argument ${JSON.stringify(name.slice(0, 80))} (known: ${known.join(', ') || 'none'})`)
}

function findPinnedTool(pins: Pins, tool: string): PinnedTool | null {
  return Object.hasOwn(pins, tool) ? (pins[tool] ?? null) : null
}
