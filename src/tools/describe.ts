import type { CallFacts, CallPath } from '../core/command.js'
import type { Contract, Json, JsonObject } from '../core/contract.js'
import { type ArgShape, BUILT_IN_TOOLS, type ToolSpec } from '../core/tools.js'
import { readShell } from './shell.js'

const PATH_CHARS_MAX = 4096
const PATHS_MAX = 1000
const NOTHING: CallFacts = { argProblems: [], paths: [], commands: [], shellProblem: null }

/** What a call would touch. Tools that are not built in have no arguments to judge here: the core refuses what it does not know. */
export function describeCall(_contract: Contract, tool: string, args: JsonObject): CallFacts {
  const spec = BUILT_IN_TOOLS.get(tool)
  if (spec === undefined) return NOTHING
  const argProblems = problemsOf(spec, args)
  if (argProblems.length > 0) return { ...NOTHING, argProblems }
  const paths = pathsOf(spec, args)
  if (tool !== 'bash' || typeof args.command !== 'string')
    return { argProblems, paths, commands: [], shellProblem: null }
  const { commands, problem } = readShell(args.command)
  return { argProblems, paths, commands, shellProblem: problem }
}

interface Argument {
  readonly name: string
  readonly shape: ArgShape
  readonly isOptional: boolean
}

const ARGUMENTS: ReadonlyMap<string, ReadonlyMap<string, Argument>> = new Map(
  [...BUILT_IN_TOOLS.values()].map((spec) => [spec.name, argumentsOf(spec)]),
)

function argumentsOf(spec: ToolSpec): ReadonlyMap<string, Argument> {
  return new Map(
    Object.entries(spec.args).map(([written, shape]) => {
      const name = written.replace(/\?$/, '')
      return [name, { name, shape, isOptional: written.endsWith('?') }]
    }),
  )
}

function problemsOf(spec: ToolSpec, args: JsonObject): readonly string[] {
  const known = ARGUMENTS.get(spec.name) ?? new Map<string, Argument>()
  const problems: string[] = []
  for (const name of Object.keys(args))
    if (!known.has(name))
      problems.push(`unknown argument ${JSON.stringify(name)} (known: ${[...known.keys()].join(', ') || 'none'})`)
  for (const { name, shape, isOptional } of known.values()) {
    const value = args[name]
    if (value === undefined) {
      if (!isOptional) problems.push(`argument "${name}" is missing`)
    } else if (!fits(value, shape)) problems.push(`argument "${name}" must be ${SHAPES[shape]}`)
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

function fits(value: Json, shape: ArgShape): boolean {
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

function pathsOf(spec: ToolSpec, args: JsonObject): readonly CallPath[] {
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

/** A path inside the work tree, `/`-separated, or why it is none. The decision is repeated by whoever opens the file. */
export function readPath(given: string): CallPath {
  const refuse = (problem: string): CallPath => ({ path: given.slice(0, PATH_CHARS_MAX), problem })
  if (given === '') return refuse('is empty')
  if (given.length > PATH_CHARS_MAX) return refuse(`is longer than ${PATH_CHARS_MAX} characters`)
  if (given.includes('\0')) return refuse('contains a NUL character')
  if (given.includes('\\')) return refuse('contains a backslash; use "/"')
  if (given.startsWith('/') || /^[A-Za-z]:/.test(given))
    return refuse('is absolute; paths are relative to the work tree')
  const parts: string[] = []
  for (const part of given.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return refuse('leaves the work tree')
  }
  return { path: parts.length === 0 ? '.' : parts.join('/'), problem: null }
}
