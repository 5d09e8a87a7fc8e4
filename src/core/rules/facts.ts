import { carryIndex } from './facts-by-time.js'
import type { KeptFact, Log } from './log.js'
import { insert, NO_LOG } from './log.js'
import type { Usage, UsageFact } from './usage.js'
import { addToUsage, NO_USAGE } from './usage.js'

export type { UsageFact } from './usage.js'

interface CommandFact {
  /** Milliseconds. */
  readonly at: number
  readonly command: string
  /** Progress counter: changes when the work tree or the set of failing tests changed. */
  readonly mark: number
}

interface EditFact {
  readonly at: number
  readonly path: string
  readonly tool: string
  readonly mark: number
}

/** Facts of one visit of a phase. Adding returns new facts and leaves the old ones unchanged. */
export interface Facts {
  readonly commands: Log
  readonly edits: Log
  readonly usage: Usage
  readonly turns: number
}

interface Totals {
  readonly commands: number
  readonly edits: number
  readonly turns: number
  readonly tokens: {
    readonly input: number
    readonly output: number
    readonly cache_read: number
    readonly cache_write: number
  }
  /** `reported` as soon as one part was only reported by the agent. */
  readonly usage: 'observed' | 'reported' | 'none'
}

const COMMAND_CHARS_MAX = 2000
const PATH_CHARS_MAX = 4096
const TOOL_CHARS_MAX = 100

export const NO_FACTS: Facts = { commands: NO_LOG, edits: NO_LOG, usage: NO_USAGE, turns: 0 }

export function addCommand(facts: Facts, fact: CommandFact): Facts {
  const text = cut(fact.command, COMMAND_CHARS_MAX)
  return { ...facts, commands: add(facts.commands, { at: fact.at, text, tool: null, mark: fact.mark }) }
}

export function addEdit(facts: Facts, fact: EditFact): Facts {
  const text = cut(fact.path, PATH_CHARS_MAX)
  const tool = cut(fact.tool, TOOL_CHARS_MAX)
  return { ...facts, edits: add(facts.edits, { at: fact.at, text, tool, mark: fact.mark }) }
}

export function addUsage(facts: Facts, fact: UsageFact): Facts {
  return { ...facts, usage: addToUsage(facts.usage, fact) }
}

export function addTurn(facts: Facts): Facts {
  return { ...facts, turns: facts.turns + 1 }
}

/** Everything added, including facts that were dropped. */
export function sumFacts(facts: Facts): Totals {
  const { added, sums, isReported } = facts.usage
  return {
    commands: facts.commands.added,
    edits: facts.edits.added,
    turns: facts.turns,
    tokens: { input: sums.input, output: sums.output, cache_read: sums.cacheRead, cache_write: sums.cacheWrite },
    usage: added === 0 ? 'none' : isReported ? 'reported' : 'observed',
  }
}

function add(log: Log, fact: KeptFact): Log {
  const grown = insert(log, fact)
  carryIndex(log, grown, fact)
  return grown
}

// Copied character by character, because a slice would keep the whole text in memory. The mark at the end keeps
// end-anchored patterns from matching the cut.
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  return `${Array.from(text.slice(0, charsMax - 1))
    .join('')
    .toWellFormed()}…`
}
