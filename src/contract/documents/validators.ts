import type { Json } from '../../core/json.js'
import type { MapNode, SourceEntry, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import type { Draft } from './field.js'
import { readRules } from './rules.js'
import type { Sink } from './source.js'

/** The `validators` of a gate file: expressions in Python's syntax, by name. They are read, never run. */
export class Validators {
  readonly #used = new Set<string>()

  private constructor(
    private readonly entries: ReadonlyMap<string, SourceEntry>,
    private readonly report: Sink,
  ) {}

  static read(node: SourceNode | undefined, report: Sink): Validators {
    if (node === undefined) return new Validators(new Map(), report)
    const isMap = node.kind === 'map'
    const entries = isMap ? node.entries : new Map<string, SourceEntry>()
    if (!isMap) report({ code: 'bad_yaml', at: node.at, message: 'validators must be a map of expressions.' })
    for (const [name, { value }] of entries)
      if (value.kind !== 'scalar' || typeof value.value !== 'string')
        report({ code: 'bad_yaml', at: value.at, message: `The validator '${name.slice(0, 80)}' must be a text.` })
    return new Validators(entries, report)
  }

  /** Adds the requirements of a field's `validator` to its draft; refuses what is not certain. */
  apply(draft: Draft, validator: string, params: ReadonlyMap<string, Json>): void {
    const own = this.entries.get(validator)?.value
    this.#used.add(validator)
    const text = own?.kind === 'scalar' ? String(own.value) : (COMMON.get(validator) ?? validator)
    if (/^lambda\b/.test(text)) readLambda(draft, text, params)
    else if (params.size > 0) draft.reportUnknown(validator, `It takes no validator_params. ${REMEDY}`)
    else if (own === undefined) readRules(draft, text)
    else draft.reportUnknown(text, REMEDY)
  }

  /** Reports validators that no field names: they require nothing. */
  reportUnused(): void {
    for (const [name, { keyAt }] of this.entries) {
      if (this.#used.has(name)) continue
      const message = `No field names the validator '${name.slice(0, 80)}'.`
      this.report({ code: 'contract.effect_differs', at: keyAt, message, remedy: 'Name it in a field, or remove it.' })
    }
  }
}

// Names that gate files use without defining them, as expressions that are read below.
const COMMON: ReadonlyMap<string, string> = new Map([
  ['non_empty', 'lambda x: len(x) > 0'],
  ['list_not_empty', 'lambda x: len(x) > 0'],
  ['min_length', 'lambda x, min_len: len(x) >= min_len'],
  ['list_min_length', 'lambda x, min_len: len(x) >= min_len'],
  ['non_negative', 'lambda x: x >= 0'],
  ['negative', 'lambda x: x < 0'],
  ['in_range', 'lambda x, min_val, max_val: min_val <= x <= max_val'],
  ['equals', 'lambda x, expected: x == expected'],
  ['greater_than', 'lambda x, threshold: x > threshold'],
  ['less_than', 'lambda x, threshold: x < threshold'],
])

const REMEDY =
  'Code is never run. Use min, max, min_length, pattern, enum or must_be of the field, or a CEL expression under `rules`.'
const EXPRESSION_CHARS_MAX = 500
const LAMBDA = /^lambda\s+([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*:\s*(.+)$/s

function readLambda(draft: Draft, text: string, params: ReadonlyMap<string, Json>): void {
  const [, names = '', body = ''] = text.length > EXPRESSION_CHARS_MAX ? [] : (LAMBDA.exec(text.trim()) ?? [])
  const [value = '', ...others] = names.split(',').map((name) => name.trim())
  const unset = others.find((name) => !params.has(name))
  const extra = [...params.keys()].find((name) => !others.includes(name))
  if (value === '') draft.reportUnknown(text, REMEDY)
  else if (unset !== undefined) draft.reportUnknown(text, `Give '${unset}' in validator_params.`)
  else if (extra !== undefined) draft.reportUnknown(text, `validator_params gives '${extra}', which it does not take.`)
  else if (!readBody(draft, body.trim(), { value, params })) draft.reportUnknown(text, REMEDY)
}

interface Names {
  /** The name of the field's value in the expression. */
  readonly value: string
  readonly params: ReadonlyMap<string, Json>
}

function readBody(draft: Draft, body: string, names: Names): boolean {
  // Inside quotes `and` is text.
  const parts = /['"]/.test(body) ? [body] : body.split(/\s+and\s+/)
  return parts.every((part) => readPart(draft, part.trim(), names))
}

const COMPARED = /^(.+?)\s*(<=|>=|==|<|>|\bis\b)\s*(.+?)(?:\s*(<=|<)\s*(.+))?$/
const MIRRORED: Readonly<Record<string, string>> = { '<=': '>=', '>=': '<=', '<': '>', '>': '<', '==': '==' }

function readPart(draft: Draft, part: string, names: Names): boolean {
  const [, left = '', operator = '', middle = '', second, right = ''] = COMPARED.exec(part) ?? []
  const subject = (text: string): 'value' | 'length' | null =>
    text === names.value ? 'value' : text.replace(/\s/g, '') === `len(${names.value})` ? 'length' : null
  if (second !== undefined) {
    const of = subject(middle)
    const low = parseConstant(left, names)
    const high = parseConstant(right, names)
    if (of === null || low === undefined || high === undefined || !/^<=?$/.test(operator)) return false
    return compare(draft, of, MIRRORED[operator] ?? '', low) && compare(draft, of, second, high)
  }
  const of = subject(left)
  const value = parseConstant(of === null ? left : middle, names)
  if (value === undefined) return false
  if (of !== null) return compare(draft, of, operator, value)
  const mirrored = subject(middle)
  return mirrored !== null && compare(draft, mirrored, MIRRORED[operator] ?? '', value)
}

/** The value of a literal or a parameter; undefined for anything else. */
function parseConstant(text: string, { params }: Names): Json | undefined {
  if (params.has(text)) return params.get(text)
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (text === 'True' || text === 'False') return text === 'True'
  return /^(?:'[^'\\]*'|"[^"\\]*")$/.test(text) ? text.slice(1, -1) : undefined
}

function compare(draft: Draft, of: 'value' | 'length', operator: string, bound: Json): boolean {
  if (of === 'value' && (operator === '==' || (operator === 'is' && typeof bound === 'boolean'))) {
    draft.mustBe(bound, `must be ${JSON.stringify(bound)}`)
    return true
  }
  if (typeof bound !== 'number') return false
  const words = `${of === 'length' ? 'length ' : ''}${operator} ${bound}`
  const isNumeric = draft.type === 'integer' || draft.type === 'number'
  if (operator === '>' || operator === '>=') {
    if (isNumeric === (of === 'value')) draft.setLower(bound, operator === '>=', words)
    else draft.reportMismatch(words)
    return true
  }
  if (of === 'length' || (operator !== '<' && operator !== '<=')) return false
  if (operator === '<' && draft.type === 'number') return false
  draft.setUpper(operator === '<' ? Math.ceil(bound) - 1 : bound, words)
  return true
}

const CHECKPOINT_KEYS = ['strict', 'allow_override']

/** The `checkpoint` section of a gate file. Evidence is always enforced: settings that say otherwise are reported. */
export function readCheckpointSection(node: MapNode, report: Sink): void {
  for (const [key, { keyAt, value }] of node.entries) {
    if (key.startsWith('x-')) continue
    if (!CHECKPOINT_KEYS.includes(key)) {
      const remedy = `${formatDidYouMean(key, CHECKPOINT_KEYS)}Known: ${CHECKPOINT_KEYS.join(', ')}.`
      report({ code: 'contract.unknown_key', at: keyAt, message: `The key '${key}' is not known here.`, remedy })
    } else if (value.kind !== 'scalar' || typeof value.value !== 'boolean') {
      report({ code: 'bad_yaml', at: value.at, message: `${key} must be true or false.` })
    } else if (value.value === (key === 'allow_override')) {
      const message =
        key === 'strict'
          ? '`strict: false` has no effect: evidence that does not hold always keeps the phase closed.'
          : '`allow_override: true` has no effect: nobody can pass a checkpoint whose evidence does not hold.'
      const remedy = key === 'strict' ? 'Make fields optional that may be missing, or say `strict: true`.' : undefined
      report({ code: 'contract.effect_differs', at: keyAt, message, remedy })
    }
  }
}
