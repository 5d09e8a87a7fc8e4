const PATTERN_CHARS_MAX = 1000
const BLANKS_MAX = 100

/** The characters that mark comments and strings in a language. */
interface Language {
  readonly line: readonly string[]
  readonly block: boolean
  readonly texts: readonly string[]
}

const C_LIKE: Language = { line: ['//'], block: true, texts: ['"', "'", '`'] }
// In these languages a single quote begins a lifetime or a character, not a string.
const QUOTE_IS_SIGN: Language = { line: ['//'], block: true, texts: ['"', '`'] }
const HASH_LIKE: Language = { line: ['#'], block: false, texts: ['"""', "'''", '"', "'"] }

/** The code of a file without comments and with empty strings: words in them have no effect. */
export function stripCommentsAndTexts(path: string, text: string): string {
  return strip(detectLanguage(path), text, true)
}

/** The code of a file without its comments. */
export function stripComments(path: string, text: string): string {
  return strip(detectLanguage(path), text, false)
}

function detectLanguage(path: string): Language {
  if (/\.(py|rb|exs?|sh|bash|bats|pl|r|jl)$/i.test(path)) return HASH_LIKE
  return /\.(rs|go)$/.test(path) ? QUOTE_IS_SIGN : C_LIKE
}

function strip(language: Language, text: string, emptiesTexts: boolean): string {
  const out: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = findCommentEnd(language, text, at)
    if (end > at) {
      out.push(' ')
      at = end
      continue
    }
    const quote = language.texts.find((sign) => text.startsWith(sign, at))
    if (quote !== undefined) {
      const close = findTextEnd(text, at, quote)
      out.push(emptiesTexts ? '""' : text.slice(at, close))
      at = close
      continue
    }
    const pattern = language === C_LIKE && text[at] === '/' ? findPatternEnd(text, at) : at
    out.push(pattern > at ? '/ /' : (text[at] ?? ''))
    at = Math.max(pattern, at + 1)
  }
  return out.join('')
}

function findCommentEnd(language: Language, text: string, at: number): number {
  if (language.block && text.startsWith('/*', at)) {
    const end = text.indexOf('*/', at + 2)
    return end === -1 ? text.length : end + 2
  }
  if (!language.line.some((sign) => text.startsWith(sign, at))) return at
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

function findTextEnd(text: string, at: number, quote: string): number {
  const isLong = quote.length > 1 || quote === '`'
  for (let next = at + quote.length; next < text.length; next += 1) {
    if (text[next] === '\\') next += 1
    else if (text.startsWith(quote, next)) return next + quote.length
    // A one-line string that is not closed ends with its line: it must not hide what follows.
    else if (!isLong && text[next] === '\n') return next
  }
  return text.length
}

// A slash begins a pattern if no value can precede it.
function findPatternEnd(text: string, at: number): number {
  let before = at - 1
  while (before >= 0 && at - before < BLANKS_MAX && /\s/.test(text[before] ?? '')) before -= 1
  const last = before < 0 ? '' : (text[before] ?? '')
  const isAfterReturn = /\breturn$/.test(text.slice(Math.max(0, before - 6), before + 1))
  if (!'(,=:[!&|?{};+-*%~^<>'.includes(last) && !isAfterReturn) return at
  let isInClass = false
  for (let next = at + 1; next < Math.min(text.length, at + PATTERN_CHARS_MAX); next += 1) {
    const sign = text[next]
    if (sign === '\n') return at
    if (sign === '\\') next += 1
    else if (sign === '[') isInClass = true
    else if (sign === ']') isInClass = false
    else if (sign === '/' && !isInClass) return next + 1
  }
  return at
}
