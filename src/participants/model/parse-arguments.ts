import type { Json } from '../../core/json.js'

/** Deeper than any tool's schema, and far below where JSON functions run out of stack. */
const DEPTH_MAX = 64

/**
 * The arguments of a call: parsed, or the raw text when they do not parse, are nested too deeply or reach for a
 * prototype. An empty text is `{}`.
 */
export function parseArguments(text: string): Json {
  if (text.trim() === '') return {}
  if (isTooDeep(text)) return text
  try {
    let isPoisoned = false
    const value = JSON.parse(text, (key, member) => {
      if (key === '__proto__') isPoisoned = true
      return member
    })
    return isPoisoned ? text : (value as Json)
  } catch {
    return text
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at += 1
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    if (depth > DEPTH_MAX) return true
  }
  return false
}
