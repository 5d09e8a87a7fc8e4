import { InvalidArgumentError } from 'commander'

const PORT_MAX = 65_535
const EXAMPLE_COLUMNS_MAX = 79

export function formatExamples(list: readonly (readonly [string, string])[]): string {
  const room = Math.max(...list.map(([command]) => command.length))
  const isWide = list.some(([, text]) => room + text.length + 4 > EXAMPLE_COLUMNS_MAX)
  const lines = list.map(([command, text]) => {
    if (text === '') return `  ${command}`
    return isWide ? `  ${command}\n      ${text}` : `  ${command.padEnd(room)}  ${text}`
  })
  return `\nExamples:\n${lines.join('\n')}`
}

/** Collects an option that may be repeated, or given as a list with commas. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [
    ...before,
    ...value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ]
}

/** The same for words that may contain commas: nothing is split. */
export function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

export function parsePortNumber(value: string): number {
  return parseIntegerIn(value, 0, PORT_MAX)
}

export function parsePositiveNumber(value: string): number {
  return parseIntegerIn(value, 1, 1000)
}

const SECONDS_MAX = 30 * 24 * 3600

export function parseSeconds(value: string): number {
  return parseIntegerIn(value, 1, SECONDS_MAX)
}

export const DRAIN_SECONDS_MAX = 600

export function parseDrainSeconds(value: string): number {
  return parseIntegerIn(value, 0, DRAIN_SECONDS_MAX)
}

const DAYS_MAX = 36_500

export function parseDays(value: string): number {
  return parseIntegerIn(value, 0, DAYS_MAX)
}

export function parseInteger(value: string): number {
  return parseIntegerIn(value, -1000, 1000)
}

function parseIntegerIn(value: string, min: number, max: number): number {
  const number = Number(value)
  if (!/^-?\d+$/.test(value) || number < min || number > max)
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
  return number
}

/** The number of an event, as text. */
export function parseSequence(value: string): string {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('Give the number of an event.')
  return value
}
