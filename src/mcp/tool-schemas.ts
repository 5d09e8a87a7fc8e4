import type { OwnTool, OwnToolArg } from '../core/contract/contract.js'
import type { Json, JsonObject } from '../core/json.js'
import { type ArgShape, BUILT_IN_TOOLS, type ToolSpec } from '../core/tool-calls/built-in-tools.js'

/** A schema for object arguments; unknown members are refused. */
export function makeObjectSchema(properties: Readonly<Record<string, JsonObject>>, required: readonly string[] = []) {
  return { type: 'object' as const, properties, required, additionalProperties: false }
}

export const ID: JsonObject = { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,64}$' }
export const NAME: JsonObject = { type: 'string', minLength: 1, maxLength: 64 }
export const ARTIFACTS: JsonObject = {
  type: 'object',
  maxProperties: 50,
  propertyNames: ID,
  description: 'A map from the type of an artifact to its content.',
}
export const EVIDENCE: JsonObject = {
  type: 'object',
  maxProperties: 200,
  propertyNames: { maxLength: 128 },
  description: 'Checkpoint fields.',
}
export const CLAIMS: JsonObject = {
  type: 'object',
  maxProperties: 50,
  propertyNames: { maxLength: 128 },
  additionalProperties: { type: 'boolean' },
  description: 'A map from the name of a claim to true.',
}

/** The arguments of a built-in tool, as its calls are validated. */
export function buildBuiltInSchema(spec: ToolSpec): JsonObject {
  const entries = Object.entries(spec.args).map(([written, shape]) => ({
    name: written.replace(/\?$/, ''),
    written,
    shape,
  }))
  const properties = Object.fromEntries(
    entries.map(({ name, shape }) => [name, buildArgumentSchema(spec, name, shape)]),
  )
  const required = entries.filter(({ written }) => !written.endsWith('?')).map(({ name }) => name)
  return makeObjectSchema(properties, required)
}

/** Every built-in tool with the schema of its arguments. */
export function listToolSchemas() {
  return [...BUILT_IN_TOOLS.values()].map((spec) => ({
    name: spec.name,
    description: spec.description,
    schema: buildBuiltInSchema(spec),
    ...(spec.oneOf === undefined ? {} : { oneOf: spec.oneOf }),
  }))
}

/** A condition that a top-level schema cannot express in a way that every model accepts. */
export function formatBuiltInNote(spec: ToolSpec): string {
  return spec.oneOf === undefined ? '' : ` Give exactly one of ${spec.oneOf.join(' and ')}.`
}

function buildArgumentSchema(spec: ToolSpec, name: string, shape: ArgShape): JsonObject {
  if (spec.name === 'write_files' && name === 'mode') return { type: 'string', enum: ['w', 'a'] }
  return SHAPES[shape]
}

const LIST_MAX = 1000
const TEXT: JsonObject = { type: 'string' }

const SHAPES: Readonly<Record<ArgShape, JsonObject>> = {
  string: TEXT,
  integer: { type: 'integer', minimum: 0 },
  boolean: { type: 'boolean' },
  strings: { type: 'array', items: TEXT, minItems: 1, maxItems: LIST_MAX },
  edits: {
    type: 'array',
    items: makeObjectSchema({ old: TEXT, new: TEXT, replace_all: { type: 'boolean' } }, ['old', 'new']),
    minItems: 1,
    maxItems: LIST_MAX,
  },
  files: {
    type: 'array',
    items: makeObjectSchema({ path: TEXT, content: TEXT }, ['path', 'content']),
    minItems: 1,
    maxItems: LIST_MAX,
  },
}

/** The arguments of one of the contract's own tools. */
export function ownToolSchema(tool: OwnTool): JsonObject {
  const properties = Object.fromEntries([...tool.args].map(([name, arg]) => [name, ownArgument(arg)]))
  return makeObjectSchema(
    properties,
    [...tool.args].filter(([, arg]) => !arg.optional).map(([name]) => name),
  )
}

function ownArgument(arg: OwnToolArg): JsonObject {
  return {
    type: arg.type,
    ...(arg.description === '' ? {} : { description: arg.description }),
    ...(arg.enum !== null && arg.type === 'string' ? { enum: arg.enum } : {}),
    ...(arg.min === null ? {} : { minimum: arg.min }),
    ...(arg.max === null ? {} : { maximum: arg.max }),
  }
}

/** The accepted schema of an upstream tool; clients require an object at its root. */
export function normalizeUpstreamSchema(schema: JsonObject | undefined): JsonObject {
  return schema !== undefined && schema.type === 'object' ? (dropHeaderNames(schema) as JsonObject) : { type: 'object' }
}

const HEADER_NAME = 'x-mcp-header'
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])
const VALUES: ReadonlySet<string> = new Set(['default', 'examples', 'enum', 'const'])

// A parameter with this keyword is sent in a header too, and a server has to compare it with the body.
function dropHeaderNames(schema: Json): Json {
  if (schema === null || typeof schema !== 'object') return schema
  if (Array.isArray(schema)) return schema.map((part: Json) => dropHeaderNames(part))
  const kept = Object.entries(schema).filter(([keyword]) => keyword !== HEADER_NAME)
  return Object.fromEntries(kept.map(([keyword, part]) => [keyword, dropFromKeyword(keyword, part)]))
}

function dropFromKeyword(keyword: string, part: Json): Json {
  if (VALUES.has(keyword)) return part
  if (!NAMED_SCHEMAS.has(keyword) || part === null || typeof part !== 'object' || Array.isArray(part))
    return dropHeaderNames(part)
  return Object.fromEntries(Object.entries(part).map(([name, schema]) => [name, dropHeaderNames(schema)]))
}
