import { EXIT, Stop } from '../exit.js'
import type { AgentCliKind } from './agent-cli-kind.js'

/**
 * Stops at an argument that is not known to leave the binding intact. What a new version of the CLI makes of an unknown
 * one cannot be known, so only listed ones are passed on.
 */
export function checkOwnArguments(kind: AgentCliKind, given: readonly string[]): void {
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index] ?? ''
    const name = word.split('=')[0] ?? ''
    const takes = Object.hasOwn(kind.allowed, name) ? kind.allowed[name] : undefined
    if (takes === undefined) throw refuseArgument(kind, word)
    if (takes === 'flag' && word.includes('=')) throw refuseArgument(kind, word)
    if (takes === 'flag' || word.includes('=')) continue
    const next = given[index + 1]
    const hasValue = next !== undefined && !next.startsWith('-')
    if (takes === 'value' && !hasValue) throw new Stop(EXIT.usage, `${name} of ${kind.title} needs a value.`)
    if (hasValue) index += 1
  }
}

function refuseArgument(kind: AgentCliKind, word: string): Stop {
  const known = Object.keys(kind.allowed).join(', ')
  return new Stop(
    EXIT.usage,
    word.startsWith('-')
      ? `'${word}' is not passed on to ${kind.title}: it could undo what binds the session, or is unknown.\nPassed on: ${known}`
      : `'${word}' is not passed on to ${kind.title}: the task goes before \`--\`, only options go after it.\nPassed on: ${known}`,
  )
}
