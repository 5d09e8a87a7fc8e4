import type { TakenUsage } from '../gateway/usage-book.js'
import type { OutputReader } from '../participants/agent-cli/agent-cli-output.js'
import type { Usage } from '../participants/participant.js'

/** The usage of a message. If it was read from the model's answer, it has a name and a start time. */
export type UsageTold = Usage & Partial<Pick<TakenUsage, 'id' | 'model' | 'beganAt'>>

/** The meaning of an agent CLI's output lines: text for people, and the usage of each message. */
export interface AgentReport {
  readonly lines: readonly string[]
  readonly usages: readonly UsageTold[]
  /** Tools that its model called and that its agent CLI does not have. */
  readonly turnedAway: readonly string[]
}

/** Reads the output of one process, in order. */
export class Teller {
  #isWriting = false
  #open: Usage | null = null

  constructor(private readonly read: OutputReader) {}

  take(lines: readonly string[]): AgentReport {
    let text = ''
    const usages: Usage[] = []
    const turnedAway: string[] = []
    for (const line of lines) {
      const told = this.read(line)
      if (told.length === 0 && !line.trimStart().startsWith('{')) text += `${line}\n`
      for (const one of told) {
        if (one.type === 'text') text += one.text
        else if (one.type === 'gave_up') text += `\n${one.detail}\n`
        else if (one.type === 'turned_away') turnedAway.push(one.name)
        else if (one.type === 'usage') this.#open = sum(this.#open, one)
        else if (one.type === 'message_began') usages.push(...this.#message(true))
        else if (one.type === 'message_ended') usages.push(...this.#message(false))
      }
      if (!this.#isWriting) usages.push(...this.#message(false))
    }
    return { lines: text.split('\n').filter((line) => line.trim() !== ''), usages, turnedAway }
  }

  /** The usage of an unfinished message. */
  end(): AgentReport {
    return { lines: [], usages: this.#message(false), turnedAway: [] }
  }

  // A message is reported in parts while it is written, and counts once.
  #message(isWriting: boolean): readonly Usage[] {
    const whole = this.#open
    this.#isWriting = isWriting
    this.#open = null
    return whole === null ? [] : [whole]
  }
}

/** The error output of an agent CLI. */
export function collectComplaints(read: OutputReader, lines: readonly string[]): AgentReport {
  const told = lines.flatMap(read)
  return { lines, usages: [], turnedAway: told.flatMap((item) => (item.type === 'turned_away' ? [item.name] : [])) }
}

function sum(before: Usage | null, more: Usage): Usage {
  return {
    input: (before?.input ?? 0) + more.input,
    output: (before?.output ?? 0) + more.output,
    cacheRead: (before?.cacheRead ?? 0) + more.cacheRead,
    cacheWrite: (before?.cacheWrite ?? 0) + more.cacheWrite,
  }
}
