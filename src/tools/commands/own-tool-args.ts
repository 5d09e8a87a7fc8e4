import { findWordProblem, splitWord } from '../../contract/command-words.js'
import type { OwnTool, OwnToolArg } from '../../core/contract/contract.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { CallPath } from '../../core/tool-calls/call-facts.js'
import { readPath } from '../read-path.js'

/** Maximum length of one argument: well below the kernel's limit for one word of a command. */
const VALUE_CHARS_MAX = 32_768
const PROBLEMS_MAX = 20

/** The problems of an own tool's arguments, one text each; none means that `ownToolCommand` accepts them. */
export function ownArgProblems(tool: OwnTool, args: JsonObject): readonly string[] {
  const problems = [...findTemplateProblems(tool)]
  const known = [...tool.args.keys()]
  for (const name of Object.keys(args))
    if (!tool.args.has(name))
      problems.push(`unknown argument ${JSON.stringify(name.slice(0, 80))} (known: ${known.join(', ') || 'none'})`)
  for (const [name, arg] of tool.args) {
    const value = ownArg(args, name)
    const problem =
      value === undefined ? (arg.optional ? null : 'is missing') : findValueProblem({ tool, args, name }, arg, value)
    if (problem !== null) problems.push(`argument "${name}" ${problem}`)
  }
  return problems.slice(0, PROBLEMS_MAX)
}

/** The paths that the arguments name. A path that leaves the tree is listed with its problem. */
export function ownArgPaths(tool: OwnTool, args: JsonObject): readonly CallPath[] {
  return [...tool.args].flatMap(([name, arg]) => {
    const value = ownArg(args, name)
    return arg.path !== null && typeof value === 'string' ? [readPath(value)] : []
  })
}

/** The value of an argument; inherited properties do not count. */
export function ownArg(args: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined
}

// A contract stored by an older version was not checked for this when it was read.
function findTemplateProblems(tool: OwnTool): readonly string[] {
  if (tool.command.length === 0) return ['the contract gives this tool no command']
  return tool.command.flatMap((word, index) => {
    const problem = findWordProblem(word, index, (name) => tool.args.get(name))
    return problem === null ? [] : [`the contract gives this tool a command that cannot be used: ${problem}`]
  })
}

interface GivenArgument {
  readonly tool: OwnTool
  readonly args: JsonObject
  readonly name: string
}

function findValueProblem(given: GivenArgument, arg: OwnToolArg, value: Json): string | null {
  const wrong = findTypeProblem(arg, value)
  if (wrong !== null) return wrong
  const text = String(value)
  if (arg.enum !== null) return arg.enum.includes(text) ? null : `must be one of ${arg.enum.join(', ')}`
  // Most programs read a word that begins with a dash as an option, whatever the contract's author meant.
  if (arg.path === null && text.startsWith('-') && isWordStart(given))
    return 'must not begin with "-": the command would take it for an option'
  return null
}

/** Whether a word of the command begins with the argument; the text before it may be empty in this call. */
function isWordStart({ tool, args, name }: GivenArgument): boolean {
  return tool.command.some((word) => {
    const first = splitWord(word).find((part) => !('arg' in part) || ownArg(args, part.arg) !== '')
    return first !== undefined && 'arg' in first && first.arg === name
  })
}

function findTypeProblem(arg: OwnToolArg, value: Json): string | null {
  switch (arg.type) {
    case 'string':
      return typeof value === 'string' ? findTextProblem(value) : 'must be a string'
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false'
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value)
        ? findBoundProblem(arg, value)
        : 'must be a whole number'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? findBoundProblem(arg, value) : 'must be a number'
  }
}

function findTextProblem(text: string): string | null {
  if (text.length > VALUE_CHARS_MAX) return `is longer than ${VALUE_CHARS_MAX} characters`
  if (text.includes('\0')) return 'contains a NUL character'
  // Half a surrogate pair changes on its way to the command: the judged argument would not be the one that is run.
  return text.isWellFormed() ? null : 'is not well-formed Unicode'
}

function findBoundProblem(arg: OwnToolArg, value: number): string | null {
  if (arg.min !== null && value < arg.min) return `must be at least ${arg.min}`
  return arg.max !== null && value > arg.max ? `must be at most ${arg.max}` : null
}
