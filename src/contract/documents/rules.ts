import type { EvidenceGrade } from '../../core/contract/phase-document.js'
import type { Json } from '../../core/json.js'
import { compilePattern } from '../patterns.js'
import type { Draft } from './field.js'

const UNITS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const NUMBER = String.raw`-?\d[\d,_]*(?:\.\d+)?`
const WORD_NUMBER = `${UNITS.join('|')}|zero`

// Without these, `at least twenty` would mean more than 0.
const OTHER_NUMBERS =
  /^(eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|half|a (?:hundred|thousand|million|dozen|couple|few))\b/i
const MULTIPLIERS = /^[\s-]+(hundred|thousand|million|billion|dozen)\b/i

type LeadingNumber =
  | { readonly status: 'number'; readonly value: number; readonly length: number }
  | { readonly status: 'none' }
  | { readonly status: 'unreadable' }

/** The number at the beginning of a text: digits, or one of the words one to ten. */
function parseLeadingNumber(text: string): LeadingNumber {
  const trimmed = text.replace(/^[\s*_`]+/, '')
  const skipped = text.length - trimmed.length
  if (OTHER_NUMBERS.test(trimmed)) return { status: 'unreadable' }
  const found = new RegExp(`^(?:(${NUMBER})|(${WORD_NUMBER})(?![a-z]))`, 'i').exec(trimmed)
  if (found === null) return { status: 'none' }
  const [whole, digits, word] = found
  const value =
    digits === undefined ? UNITS.indexOf((word ?? '').toLowerCase()) + 1 : Number(digits.replace(/[,_]+/g, ''))
  const rest = trimmed.slice(whole.length)
  if (!Number.isFinite(value) || MULTIPLIERS.test(rest) || /^[a-z]/i.test(rest)) return { status: 'unreadable' }
  return { status: 'number', value, length: skipped + whole.length }
}

const HINT =
  'Known: required, optional, at least N, min_length N, at most N, greater than N, between N and M, non-zero, non-empty, must be X, may be false, one of A, B, matches RE2, reported, artifact, observed.'

/** Reads a text that contains only rules: a cell of a rule column, or the parentheses after a field. */
export function readRules(draft: Draft, text: string): void {
  let rest = text.trim().replace(/\s+/g, ' ')
  while (rest !== '') {
    const used = readRule(draft, rest)
    if (used === null) {
      draft.reportUnknown(rest, HINT)
      return
    }
    rest = rest.slice(used).replace(/^[\s.]*(?:[,;]|and\b)?[\s]*/i, '')
  }
}

type Reader = (draft: Draft, words: RegExpExecArray, rest: string) => number | null

const RULES: readonly (readonly [RegExp, Reader])[] = [
  [/^(?:not optional|required|present|not null|must (?:be present|exist))\b/i, (d, m) => consumeFlag(d, m, false)],
  [/^(?:optional|may be (?:empty|absent)|not required)\b/i, (d, m) => consumeFlag(d, m, true)],
  [/^(?:grade[:\s]+)?(reported|artifact|observed)\b/i, readGrade],
  [/^min_length[\s:=_]*(?=\d)/i, readLength],
  [/^(?:at least|minimum(?: of)?|min|>=|≥)(?![a-z]|_+[a-z])/i, (d, m, r) => readLower(d, m, r, true)],
  [/^(?:greater than|more than|>)(?![a-z=])/i, (d, m, r) => readLower(d, m, r, false)],
  [/^(?:at most|maximum(?: of)?|max|<=|≤|no more than|up to)(?![a-z]|_+[a-z])/i, readUpper],
  [/^between\b/i, readBetween],
  [/^(?:non-?zero|positive)\b/i, (d, m) => consumeMatch(m, () => d.setLower(0, false, m[0]))],
  [/^(?:non-?empty|not empty)\b/i, (d, m) => consumeMatch(m, () => d.requireNotEmpty(m[0]))],
  [
    /^(?:may be false|false is (?:fine|accepted|allowed)|true or false)\b/i,
    (d, m) => consumeMatch(m, () => d.mayBeFalse(m[0])),
  ],
  [
    /^must (?:be|equal)\s+("[^"]*"|'[^']*'|`[^`]*`|[^,;\s]+)/i,
    (d, m) => consumeMatch(m, () => d.mustBe(parseWordValue(d, m[1] ?? ''), m[0])),
  ],
  [/^one of:?\s+([^;]+)/i, (d, m) => consumeMatch(m, () => d.setValues(parseValues(d, m[1] ?? ''), m[0]))],
  [/^(?:matches|matching|pattern:?)\s+(.+)$/i, readPattern],
]

function readRule(draft: Draft, text: string): number | null {
  for (const [words, read] of RULES) {
    const found = words.exec(text)
    if (found !== null) return read(draft, found, text.slice(found[0].length))
  }
  return null
}

function consumeMatch(found: RegExpExecArray, act: () => void): number {
  act()
  return found[0].length
}

function consumeFlag(draft: Draft, found: RegExpExecArray, isOptional: boolean): number {
  return consumeMatch(found, () => draft.optional(isOptional))
}

function readGrade(draft: Draft, found: RegExpExecArray): number {
  return consumeMatch(found, () => draft.grade((found[1] ?? '').toLowerCase() as EvidenceGrade))
}

function readLower(draft: Draft, found: RegExpExecArray, rest: string, isIncluded: boolean): number | null {
  const counted = parseLeadingNumber(rest)
  if (counted.status === 'unreadable') return null
  if (counted.status === 'none')
    return RULE_END.test(rest) ? consumeMatch(found, () => draft.setLower(0, false, found[0])) : null
  const used = counted.length + measureUnit(rest.slice(counted.length))
  draft.setLower(counted.value, isIncluded, `${found[0]}${rest.slice(0, used)}`)
  return found[0].length + used
}

// `min length 1` is refused as a whole: it is not the rule `min` followed by two words.
const RULE_END = /^\s*(?:$|[,;.]|and\b)/i

function readLength(draft: Draft, found: RegExpExecArray, rest: string): number | null {
  const counted = parseLeadingNumber(rest)
  if (counted.status !== 'number') return null
  const words = `${found[0]}${rest.slice(0, counted.length)}`
  if (draft.type === 'string' || draft.type === 'array') draft.setLower(counted.value, true, words)
  else draft.reportMismatch(words)
  return words.length
}

function readUpper(draft: Draft, found: RegExpExecArray, rest: string): number | null {
  const counted = parseLeadingNumber(rest)
  if (counted.status !== 'number') return null
  const used = counted.length + measureUnit(rest.slice(counted.length))
  draft.setUpper(counted.value, `${found[0]}${rest.slice(0, used)}`)
  return found[0].length + used
}

function readBetween(draft: Draft, found: RegExpExecArray, rest: string): number | null {
  const low = parseLeadingNumber(rest)
  if (low.status !== 'number') return null
  const and = /^\s+and\s+/i.exec(rest.slice(low.length))
  if (and === null) return null
  const start = low.length + and[0].length
  const high = parseLeadingNumber(rest.slice(start))
  if (high.status !== 'number') return null
  const used = start + high.length
  const words = `${found[0]}${rest.slice(0, used)}`
  draft.setLower(low.value, true, words)
  draft.setUpper(high.value, words)
  return found[0].length + used + measureUnit(rest.slice(used))
}

// One word may name the counted things: `at least 3 items`. A word that could change the rule is left for the next one.
function measureUnit(rest: string): number {
  const unit =
    /^\s*(?:%|[\s-]*(?!(?:optional|required|reported|artifact|observed|unless|except|if|or|and|but|may|must|not|non|in|per)\b)[a-z]+)(?=\s*(?:$|[,;.]))/i.exec(
      rest,
    )
  return unit === null ? 0 : unit[0].length
}

function readPattern(draft: Draft, found: RegExpExecArray): number | null {
  const pattern = (found[1] ?? '').trim().replace(/^(?:`(.*)`|\/(.*)\/)$/, '$1$2')
  const compiled = compilePattern(pattern)
  if (compiled.ok) draft.setPattern(pattern, found[0])
  else draft.reportUnknown(found[0], `The pattern is refused: ${compiled.reason}.`)
  return found[0].length
}

function parseValues(draft: Draft, text: string): readonly Json[] {
  return text
    .split(/\s*(?:,|\||\bor\b)\s*/)
    .filter((word) => word.trim() !== '')
    .map((word) => parseWordValue(draft, word))
}

function parseWordValue(draft: Draft, word: string): Json {
  const bare = word.trim()
  const text = bare.replace(/^(["'`])(.*)\1$/, '$2')
  if (draft.type === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  const isNumber = draft.type === 'integer' || draft.type === 'number'
  return isNumber && text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** Reads the rules in a sentence; the rest of it is ignored. */
export function readSentenceRules(draft: Draft, sentence: string): void {
  const text = sentence.replace(/\s+/g, ' ')
  parseBound(draft, text, /\bat least\b/i, true)
  parseBound(draft, text, /\bgreater than\b/i, false)
  if (/\bnon-?zero\b/i.test(text)) draft.setLower(0, false, 'non-zero')
  if (/\b(?:non-?empty|not empty)\b/i.test(text)) draft.requireNotEmpty('non-empty')
  else if (/\bmust contain\b/i.test(text)) draft.requireNotEmpty('must contain')
  if (/\b(?:may be false|false is (?:fine|accepted|allowed))\b/i.test(text)) draft.mayBeFalse('may be false')
  if (/(?<!(?:\b(?:not|non|never|no longer|cannot be)|n['’]t)[\s-])\boptional\b|\bmay be empty\b/i.test(text))
    draft.optional(true)
}

function parseBound(draft: Draft, text: string, words: RegExp, isIncluded: boolean): void {
  const found = words.exec(text)
  if (found === null) return
  const rest = text.slice(found.index + found[0].length)
  const counted = parseLeadingNumber(rest)
  if (counted.status === 'unreadable')
    draft.reportUnknown(
      `${found[0]}${rest.slice(0, 30)}`,
      'Write the number in digits; only one to ten are read as words.',
    )
  else if (counted.status === 'none') draft.setLower(0, false, found[0])
  else draft.setLower(counted.value, isIncluded, `${found[0]}${rest.slice(0, counted.length)}`)
}
