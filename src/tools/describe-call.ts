import type { Contract } from '../core/contract/contract.js'
import type { Json, JsonObject } from '../core/json.js'
import { type ArgShape, BUILT_IN_TOOLS, type ToolSpec } from '../core/tool-calls/built-in-tools.js'
import type { CallFacts, CallPath } from '../core/tool-calls/call-facts.js'
import { ownArgPaths, ownArgProblems } from './commands/own-tool-args.js'
import { readPath } from './read-path.js'
import { readShell } from './read-shell.js'
import { findUpstreamArgProblems, type Pins, parseServer } from './upstream/pins.js'
import { readTarget } from './web/web-target.js'

export { readPath } from './read-path.js'

const PATHS_MAX = 1000
const NOTHING: CallFacts = { argProblems: [], paths: [], commands: [], shellProblem: null }

/**
 * What a call would touch. `pins` are the upstream tools that the task accepted: without one, an upstream tool has no
 * schema for its arguments, and the call is invalid. An unknown tool is left to the core, which refuses it.
 */
export function describeCall(contract: Contract, tool: string, args: JsonObject, pins: Pins = {}): CallFacts {
  const spec = BUILT_IN_TOOLS.get(tool)
  if (spec === undefined) return describeExtra(contract, tool, { args, pins })
  const argProblems = findProblems(spec, args)
  if (argProblems.length > 0) return { ...NOTHING, argProblems }
  if (tool === 'web_fetch') return describeFetch(contract, args)
  const paths = listPaths(spec, args)
  if (tool !== 'bash' || typeof args.command !== 'string')
    return { argProblems, paths, commands: [], shellProblem: null }
  const { commands, problem } = readShell(args.command)
  return { argProblems, paths, commands, shellProblem: problem }
}

function describeExtra(contract: Contract, tool: string, call: { args: JsonObject; pins: Pins }): CallFacts {
  const own = contract.tools.get(tool)
  if (own !== undefined) {
    const argProblems = ownArgProblems(own, call.args)
    return argProblems.length > 0 ? { ...NOTHING, argProblems } : { ...NOTHING, paths: ownArgPaths(own, call.args) }
  }
  if (!contract.mcpServers.has(parseServer(tool))) return NOTHING
  return { ...NOTHING, argProblems: findUpstreamArgProblems(call.pins, tool, call.args) }
}

// The address is listed among the paths: with its problem, which no mode lets through.
function describeFetch(contract: Contract, args: JsonObject): CallFacts {
  const target = readTarget(String(args.url), contract.webHosts)
  if (target.ok) return NOTHING
  return target.isMalformed
    ? { ...NOTHING, argProblems: [`argument "url" ${target.problem}`] }
    : { ...NOTHING, paths: [{ path: String(args.url), problem: target.problem }] }
}

interface Argument {
  readonly name: string
  readonly shape: ArgShape
  readonly isOptional: boolean
}

const ARGUMENTS: ReadonlyMap<string, ReadonlyMap<string, Argument>> = new Map(
  [...BUILT_IN_TOOLS.values()].map((spec) => [spec.name, listArguments(spec)]),
)

function listArguments(spec: ToolSpec): ReadonlyMap<string, Argument> {
  return new Map(
    Object.entries(spec.args).map(([written, shape]) => {
      const name = written.replace(/\?$/, '')
      return [name, { name, shape, isOptional: written.endsWith('?') }]
    }),
  )
}

function findProblems(spec: ToolSpec, args: JsonObject): readonly string[] {
  const known = ARGUMENTS.get(spec.name) ?? new Map<string, Argument>()
  const problems: string[] = []
  for (const name of Object.keys(args))
    if (!known.has(name))
      problems.push(`unknown argument ${JSON.stringify(name)} (known: ${[...known.keys()].join(', ') || 'none'})`)
  for (const { name, shape, isOptional } of known.values()) {
    const value = args[name]
    if (value === undefined) {
      if (!isOptional) problems.push(`argument "${name}" is missing`)
    } else if (!matchesShape(value, shape)) problems.push(`argument "${name}" must be ${SHAPES[shape]}`)
  }
  if (spec.oneOf !== undefined && spec.oneOf.filter((name) => args[name] !== undefined).length !== 1)
    problems.push(`give exactly one of ${spec.oneOf.map((name) => `"${name}"`).join(' and ')}`)
  if (spec.name === 'write_files' && args.path !== undefined && args.content === undefined)
    problems.push('argument "content" is missing')
  if (spec.name === 'write_files' && args.mode !== undefined && args.mode !== 'w' && args.mode !== 'a')
    problems.push('argument "mode" must be "w" or "a"')
  return problems
}

const SHAPES: Readonly<Record<ArgShape, string>> = {
  string: 'a string',
  integer: 'a whole number, 0 or more',
  boolean: 'true or false',
  strings: 'a non-empty list of strings',
  edits: 'a non-empty list of {old, new, replace_all?}',
  files: 'a non-empty list of {path, content}',
}

function matchesShape(value: Json, shape: ArgShape): boolean {
  switch (shape) {
    case 'string':
      return typeof value === 'string'
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    case 'boolean':
      return typeof value === 'boolean'
    case 'strings':
      return isList(value) && value.every((one) => typeof one === 'string')
    case 'edits':
      return (
        isList(value) && value.every((one) => hasOnly(one, { old: 'string', new: 'string', 'replace_all?': 'boolean' }))
      )
    case 'files':
      return isList(value) && value.every((one) => hasOnly(one, { path: 'string', content: 'string' }))
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value) && value.length > 0 && value.length <= PATHS_MAX
}

function hasOnly(value: Json, shape: Readonly<Record<string, 'string' | 'boolean'>>): boolean {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const object = value as JsonObject
  const known = Object.entries(shape).map(([name, type]) => ({
    name: name.replace(/\?$/, ''),
    type,
    optional: name.endsWith('?'),
  }))
  if (Object.keys(object).some((name) => !known.some((one) => one.name === name))) return false
  return known.every(({ name, type, optional }) =>
    object[name] === undefined ? optional : typeof object[name] === type,
  )
}

function listPaths(spec: ToolSpec, args: JsonObject): readonly CallPath[] {
  const given: string[] = []
  if (typeof args.path === 'string') given.push(args.path)
  if (typeof args.cwd === 'string') given.push(args.cwd)
  if (isStringList(args.paths)) given.push(...args.paths)
  if (Array.isArray(args.files))
    for (const file of args.files as readonly { readonly path: string }[]) given.push(file.path)
  if (spec.name === 'glob' && typeof args.pattern === 'string' && /(^|\/)\.\.(\/|$)|^\//.test(args.pattern))
    given.push(args.pattern)
  return given.map(readPath)
}

function isStringList(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
