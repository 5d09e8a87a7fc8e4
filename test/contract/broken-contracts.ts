import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** A contract that does not load, or loads with a warning; the table is test/cases/broken-contracts.yaml. */
export interface BrokenContract {
  readonly name: string
  readonly code: string
  readonly text: string
  readonly kind?: string
  readonly extra?: Readonly<Record<string, string | number>>
  /** The JSON Schema of the format refuses it too. */
  readonly is_shape?: true
  /** Part of the message or the remedy. */
  readonly says?: string
}

const cases = parse(readFileSync(new URL('../cases/broken-contracts.yaml', import.meta.url), 'utf8')) as {
  readonly broken: readonly BrokenContract[]
  readonly warned: readonly BrokenContract[]
}

export const BROKEN_CONTRACTS = cases.broken
export const WARNED_CONTRACTS = cases.warned

const MARK = '¦'

/** The text without its mark, and the line and column where the mark stood. */
export function marked(text: string): { text: string; at: string | null } {
  const offset = text.indexOf(MARK)
  if (offset < 0) return { text, at: null }
  const before = text.slice(0, offset)
  return {
    text: text.replace(MARK, ''),
    at: `${before.split('\n').length}:${offset - (before.lastIndexOf('\n') + 1) + 1}`,
  }
}
