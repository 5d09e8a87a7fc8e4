import { isObject, type Json, type JsonObject } from '../core/json.js'

/** One problem of the agents of a council. */
export interface AgentProblem {
  /** As the file spells it: `agents[0].script[1].delay_ms`. */
  readonly path: string
  readonly message: string
  readonly remedy: string
}

const TEXT_CHARS_MAX = 256 * 1024
const SHOWN_CHARS_MAX = 80
const PROBLEMS_MAX = 100

type Report = (path: string, message: string, remedy: string) => void

/** Collects problems, up to a maximum. */
export function reportInto(problems: AgentProblem[]): Report {
  return (path, message, remedy) => {
    if (problems.length < PROBLEMS_MAX) problems.push({ path, message, remedy })
  }
}

/** The written value, short enough for a message. */
export function shortenText(text: string): string {
  return `'${text.slice(0, SHOWN_CHARS_MAX).toWellFormed()}'`
}

export function describeKind(value: Json | undefined): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? 'a text' : `${typeof value} ${String(value)}`
}

/** One map, read field by field. Every getter reports problems and then returns a fallback. */
export class AgentFields {
  readonly path: string
  readonly report: Report
  private readonly map: JsonObject

  constructor(map: JsonObject, path: string, report: Report) {
    this.map = map
    this.path = path
    this.report = report
  }

  /** Reports keys that are not in `keys` and do not start with `x-`. */
  checkKeys(keys: readonly string[]): void {
    for (const key of Object.keys(this.map)) {
      if (keys.includes(key) || key.startsWith('x-')) continue
      const remedy = `Known keys: ${keys.join(', ')}. Keys of your own start with x-.`
      this.report(this.path, `The key ${shortenText(key)} is not known here.`, remedy)
    }
  }

  get(key: string): Json | undefined {
    return Object.hasOwn(this.map, key) ? this.map[key] : undefined
  }

  has(key: string): boolean {
    return Object.hasOwn(this.map, key)
  }

  reportBad(key: string, message: string, remedy: string): void {
    this.report(`${this.path}.${key}`, message, remedy)
  }

  /** A required, non-empty text; empty when it is missing. */
  needText(key: string, example: string): string {
    if (!this.has(key)) {
      this.report(this.path, `The field '${key}' is missing.`, `Add ${key}, for example ${example}.`)
      return ''
    }
    const text = this.text(key)
    if (text?.trim() === '')
      this.reportBad(key, `The field '${key}' is empty.`, `Write ${key}, for example ${example}.`)
    return text ?? ''
  }

  /** Null when it is missing or not a text. */
  text(key: string): string | null {
    const value = this.get(key)
    if (value === undefined) return null
    if (typeof value !== 'string') {
      this.reportBad(key, `Expected a text, found ${describeKind(value)}.`, 'Write a text; numbers in quotes.')
      return null
    }
    if (value.length <= TEXT_CHARS_MAX) return value
    this.reportBad(key, `The text is longer than ${TEXT_CHARS_MAX} characters.`, 'Shorten it.')
    return null
  }

  /** One of `values`; null when it is missing or not one of them. */
  choice<T extends string>(key: string, values: readonly T[]): T | null {
    const text = this.text(key)
    if (text === null) return null
    const found = values.find((value) => value === text)
    if (found === undefined)
      this.reportBad(key, `${shortenText(text)} is not a known ${key}.`, `Known: ${values.join(', ')}.`)
    return found ?? null
  }

  getFlag(key: string, fallback: boolean): boolean {
    const value = this.get(key)
    if (value === undefined || typeof value === 'boolean') return value ?? fallback
    this.reportBad(key, `Expected true or false, found ${describeKind(value)}.`, 'Write true or false.')
    return fallback
  }

  /** A whole number from `min` to `max`; null when it is missing or invalid. */
  getWhole(key: string, min: number, max: number): number | null {
    const value = this.get(key)
    if (value === undefined) return null
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    this.reportBad(
      key,
      `Expected a whole number from ${min} to ${max}, found ${describeKind(value)}.`,
      'Correct the number.',
    )
    return null
  }

  /** A list of at most `max` entries; empty when it is missing or invalid. */
  list(key: string, max: number): readonly Json[] {
    const value = this.get(key)
    if (value === undefined) return []
    if (!Array.isArray(value)) {
      this.reportBad(key, `Expected a list, found ${describeKind(value)}.`, 'Write a list.')
      return []
    }
    if (value.length > max)
      this.reportBad(key, `The list has ${value.length} entries, more than ${max}.`, 'Shorten it.')
    return value.slice(0, max) as readonly Json[]
  }

  /** The maps of a list, each with its position. */
  listMaps(key: string, max: number): readonly AgentFields[] {
    return this.list(key, max).flatMap((value, index) => {
      const path = this.path === '' ? `${key}[${index}]` : `${this.path}.${key}[${index}]`
      if (isObject(value)) return [new AgentFields(value, path, this.report)]
      this.report(path, `Expected a map of keys and values, found ${describeKind(value)}.`, 'Write keys and values.')
      return []
    })
  }
}
