import type { EvidenceType } from '../../core/contract/contract.js'
import type { EvidenceGrade } from '../../core/contract/phase-document.js'
import type { Json } from '../../core/json.js'
import type { Place } from '../diagnostic.js'
import type { EvidenceDocument } from '../document.js'
import { isOfType } from '../read/read-checkpoint.js'
import type { DocumentCode } from './codes.js'

/** One field that a document requires, and what its author wrote about it. */
export interface Requirement {
  readonly name: string
  readonly at: Place
  readonly field: EvidenceDocument
  /** The parts that the document states; the rest is assumed. */
  readonly said: ReadonlySet<'type' | 'rules' | 'optional' | 'grade'>
}

/** Why a part of a requirement is not accepted. */
interface Problem {
  readonly code: DocumentCode
  readonly message: string
  readonly remedy?: string
}

const TYPE_NAMES: ReadonlyMap<string, EvidenceType> = new Map<string, EvidenceType>([
  ['string', 'string'],
  ['text', 'string'],
  ['str', 'string'],
  ['integer', 'integer'],
  ['int', 'integer'],
  ['number', 'number'],
  ['float', 'number'],
  ['boolean', 'boolean'],
  ['bool', 'boolean'],
  ['flag', 'boolean'],
  ['array', 'array'],
  ['list', 'array'],
  ['object', 'object'],
  ['map', 'object'],
  ['dict', 'object'],
])

export function findTypeByName(word: string): EvidenceType | null {
  return TYPE_NAMES.get(word.trim().toLowerCase()) ?? null
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/

// Never a key of evidence: it would set the prototype of an object that is read later.
const NAMES_REFUSED = new Set(['__proto__'])

export function isFieldName(text: string): boolean {
  return NAME.test(text) && !NAMES_REFUSED.has(text)
}

/** The words of a text as a field name: `All functions listed!` is `all_functions_listed`; '' when nothing is left. */
export function toSnakeCase(text: string): string {
  const words = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g)
  const name = (words ?? []).join('_').replace(/^[0-9_]+/, '')
  return name.slice(0, 64).replace(/_+$/, '')
}

const WORDS_OF_TYPES: readonly (readonly [EvidenceType, readonly string[]])[] = [
  ['integer', ['count', 'number', 'quantity']],
  ['array', ['list', 'array', 'collection']],
  ['boolean', ['flag', 'boolean', 'true', 'false']],
]

/**
 * The type that the words of a text suggest. Whole words: `discount` is not a count; `function_count` has two words.
 */
export function guessType(text: string): EvidenceType {
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))
  return WORDS_OF_TYPES.find(([, names]) => names.some((name) => words.has(name)))?.[0] ?? 'string'
}

/** A field while its rules are being read. */
export class Draft {
  readonly problems: Problem[] = []
  readonly said = new Set<'type' | 'rules' | 'optional' | 'grade'>()
  private readonly field: EvidenceDocument

  constructor(type: EvidenceType, description: string) {
    this.field = { type, optional: false, grade: 'reported', description }
  }

  get type(): EvidenceType {
    return this.field.type
  }

  /** At least this, or more than this: the value of a number, the length of a text or list. */
  setLower(bound: number, isIncluded: boolean, words: string): void {
    this.note(words)
    const { field } = this
    if (field.type === 'integer' || (field.type === 'number' && isIncluded)) {
      const least = isIncluded ? bound : Math.floor(bound) + 1
      field.min = Math.max(field.min ?? least, least)
    } else if (field.type === 'number') field.above = Math.max(field.above ?? bound, bound)
    else if (field.type === 'string' || field.type === 'array') this.setMinLength(isIncluded ? bound : bound + 1, words)
    else this.reportMismatch(words)
  }

  setUpper(bound: number, words: string): void {
    this.note(words)
    const { field } = this
    if (field.type === 'integer' || field.type === 'number') field.max = Math.min(field.max ?? bound, bound)
    else this.reportMismatch(words)
  }

  requireNotEmpty(words: string): void {
    this.note(words)
    if (this.field.type === 'string' || this.field.type === 'array') this.setMinLength(1, words)
    else this.reportMismatch(words)
  }

  setPattern(pattern: string, words: string): void {
    this.note(words)
    if (this.field.type === 'string') this.field.pattern = pattern
    else this.reportMismatch(words)
  }

  setValues(values: readonly Json[], words: string): void {
    this.note(words)
    this.field.enum = [...values]
    if (values.some((value) => !isOfType(value, this.field.type))) this.reportMismatch(words)
  }

  mustBe(value: Json, words: string): void {
    this.note(words)
    this.field.must_be = value
    if (!isOfType(value, this.field.type)) this.reportMismatch(words)
  }

  mayBeFalse(words: string): void {
    this.note(words)
    if (this.field.type === 'boolean') this.field.may_be_false = true
    else this.reportMismatch(words)
  }

  optional(isOptional: boolean): void {
    if (this.said.has('optional') && this.field.optional !== isOptional) this.reportMismatch('required and optional')
    this.said.add('optional')
    this.field.optional = isOptional
  }

  grade(grade: EvidenceGrade): void {
    this.said.add('grade')
    this.field.grade = grade
  }

  reportUnknown(words: string, hint: string): void {
    this.problems.push({
      code: 'unknown_validator',
      message: `'${shortenName(words)}' is not a known rule.`,
      remedy: hint,
    })
  }

  reportMismatch(words: string): void {
    const message = `A field of type ${this.field.type} takes no rule '${shortenName(words)}'.`
    this.problems.push({ code: 'rule_type_mismatch', message })
  }

  makeRequirement(name: string, at: Place, file: string): Requirement {
    const { min, max, must_be } = this.field
    const others = [min, max, this.field.above, this.field.min_length, this.field.pattern, this.field.enum]
    if (must_be !== undefined && others.some((other) => other !== undefined))
      this.reportMismatch('must be, together with another rule')
    if (min !== undefined && max !== undefined && min > max) this.reportMismatch(`${min} to ${max}`)
    return { name, at, said: this.said, field: { ...this.field, source: { file, line: at.line } } }
  }

  private setMinLength(least: number, words: string): void {
    if (!Number.isSafeInteger(least) || least < 0) this.reportMismatch(words)
    else if (least > 0) this.field.min_length = Math.max(this.field.min_length ?? least, least)
  }

  private note(words: string): void {
    this.said.add('rules')
    this.field.rules = [...(this.field.rules ?? []), shortenName(words)]
  }
}

const WORDS_CHARS_MAX = 200

function shortenName(words: string): string {
  const text = words.trim().replace(/\s+/g, ' ')
  return text.length <= WORDS_CHARS_MAX ? text : `${text.slice(0, WORDS_CHARS_MAX)}…`
}
