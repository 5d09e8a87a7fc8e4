/** JSON of unknown origin: nothing is taken for granted, not even that a name is not in a prototype. */
export type Fields = Readonly<Record<string, unknown>>

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

export function get(fields: Fields | null, name: string): unknown {
  return fields !== null && Object.hasOwn(fields, name) ? fields[name] : undefined
}

export function getText(fields: Fields | null, name: string): string {
  const value = get(fields, name)
  return typeof value === 'string' ? value : ''
}

export function listIn(fields: Fields | null, name: string): readonly unknown[] {
  const value = get(fields, name)
  return Array.isArray(value) ? value : []
}

export function countIn(fields: Fields | null, name: string): number | null {
  const value = get(fields, name)
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

const CANDIDATES_MAX = 8
/** Begins a result document of vitest, jest, mocha or RSpec. */
export const DOCUMENT = /^\{\s{0,20}"(?:num[A-Z]|stats"|version":"\d)/

/** The last result document in the output of a command: runners print it at the end. */
export function lastDocument(text: string): Fields | null {
  let from = text.length
  for (let tries = 0; tries < CANDIDATES_MAX; ) {
    const start = from < 0 ? -1 : text.lastIndexOf('{', from)
    if (start < 0) return null
    from = start - 1
    if ((start > 0 && text[start - 1] !== '\n') || !DOCUMENT.test(text.slice(start, start + 64))) continue
    tries++
    const document = asFields(parseJson(extractDocument(text, start)))
    if (document !== null) return document
  }
  return null
}

// Strings in JSON have no line breaks: a document ends with its line, or with the first line that is only a brace.
function extractDocument(text: string, start: number): string {
  const lineEnd = text.indexOf('\n', start)
  if (lineEnd < 0) return text.slice(start)
  if (text[start + 1] !== '\n') return text.slice(start, lineEnd)
  const end = text.indexOf('\n}', start)
  return end < 0 ? text.slice(start) : text.slice(start, end + 2)
}
