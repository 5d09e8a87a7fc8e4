import type { OutputReader } from '../participants/harness-output.js'
import type { Usage } from '../participants/participant.js'

const ARGUMENTS_CHARS_MAX = 200

/** What lines of a harness come to: text for people, and what its model took. */
export interface Told {
  readonly lines: readonly string[]
  readonly usage: Usage | null
}

export function toldLines(lines: readonly string[], read: OutputReader): Told {
  let text = ''
  let usage: Usage | null = null
  for (const line of lines) {
    const told = read(line)
    if (told.length === 0 && !line.trimStart().startsWith('{')) text += `${line}\n`
    for (const one of told) {
      if (one.type === 'text') text += one.text
      else if (one.type === 'gave_up') text += `\n${one.detail}\n`
      else if (one.type === 'announced')
        text += `\n> ${one.name} ${JSON.stringify(one.arguments).slice(0, ARGUMENTS_CHARS_MAX)}\n`
      else if (one.type === 'usage') usage = sum(usage, one)
    }
  }
  return { lines: text.split('\n').filter((line) => line.trim() !== ''), usage }
}

function sum(before: Usage | null, more: Usage): Usage {
  return {
    input: (before?.input ?? 0) + more.input,
    output: (before?.output ?? 0) + more.output,
    cacheRead: (before?.cacheRead ?? 0) + more.cacheRead,
    cacheWrite: (before?.cacheWrite ?? 0) + more.cacheWrite,
  }
}
