import { splitWord, type WordPart } from '../../contract/command-words.js'
import type { Contract, OwnTool } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import { readPath } from '../read-path.js'
import { ownArg, ownArgPaths, ownArgProblems } from './own-tool-args.js'

const TIMEOUT_SECONDS_DEFAULT = 60

interface OwnToolCommand {
  /** The program and its arguments. There is no shell: each word reaches the program unchanged. */
  readonly argv: readonly string[]
  readonly network: boolean
  readonly timeoutSeconds: number
}

/**
 * The command of an own tool's call. The call must have been decided before: arguments that `describeCall` rejects are
 * a fault here, not a refusal.
 */
export function ownToolCommand(contract: Contract, tool: string, args: JsonObject): OwnToolCommand {
  const own = contract.tools.get(tool)
  if (own === undefined) throw new Error(`the contract has no own tool ${JSON.stringify(tool)}`)
  const [problem] = [...ownArgProblems(own, args), ...findPathProblems(own, args)]
  if (problem !== undefined) throw new Error(`${tool} was let through with wrong arguments: ${problem}`)
  return {
    argv: own.command.flatMap((word) => {
      const made = makeWord(own, splitWord(word), args)
      return made === null ? [] : [made]
    }),
    network: own.network,
    timeoutSeconds: own.timeoutSeconds ?? TIMEOUT_SECONDS_DEFAULT,
  }
}

function findPathProblems(tool: OwnTool, args: JsonObject): readonly string[] {
  return ownArgPaths(tool, args).flatMap(({ problem }) => (problem === null ? [] : [`a path ${problem}`]))
}

/** Exactly one word, whatever the values are; null when an argument in it was left out. */
function makeWord(tool: OwnTool, parts: readonly WordPart[], args: JsonObject): string | null {
  let word = ''
  for (const part of parts) {
    if ('text' in part) {
      word += part.text
      continue
    }
    const value = ownArg(args, part.arg)
    if (value === undefined) return null
    const text = tool.args.get(part.arg)?.path === null ? String(value) : readPath(String(value)).path
    word += word === '' && text.startsWith('-') && tool.args.get(part.arg)?.path !== null ? `./${text}` : text
  }
  return word
}
