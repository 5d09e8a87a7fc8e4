import type { FoundTest } from '../../inverter/types.js'
import { parseTestName } from '../red-green/baseline-tests.js'

// Placeholders that a runner fills in: `adds %i`, `adds $a`, `adds ${a}`. None reads further than to the next brace.
const FILLED = /%(?:\.\d)?[a-zA-Z#%]|\$\{[^{}]{0,200}\}|\$[\w.#]{1,80}/g
// If the name is an expression, only the line is known.
const COMPUTED = /^\(line \d{1,9}\)$/
const SEPARATOR = / > |::|\.(?=\w+$)/
const PART = / > |::/
/** A longer name is only compared as a whole, and of more names with placeholders the rest is not looked at. */
const SHAPE_CHARS_MAX = 1000
const SHAPES_MAX = 500

/** The test of a file that a runner reports under this id; null if none has such a name. */
export function findTest(id: string, tests: readonly FoundTest[], path: string): FoundTest | null {
  const reported = parseTestName(id)
  const alike =
    path.endsWith('.go') || path.endsWith('.py')
      ? filterByLanguage(reported, tests, path)
      : filterByShape(reported, tests)
  const literal = alike.filter(({ name }) => !hasComputedName(name))
  // Several tests of one group with computed names cannot be distinguished.
  if (literal.length === 0 && alike.length > 1) return null
  // The name itself comes before a name with placeholders, however long that is. If several match, use the one with the
  // most assertions.
  return (
    (literal.length > 0 ? literal : alike).toSorted(
      (a, b) =>
        scoreName(reported, [b.name]) - scoreName(reported, [a.name]) ||
        b.name.length - a.name.length ||
        b.turned - a.turned,
    )[0] ?? null
  )
}

function filterByLanguage(reported: string, tests: readonly FoundTest[], path: string): readonly FoundTest[] {
  const isSame = path.endsWith('.go') ? isSameInGo : isSameInPython
  const named = tests.filter(({ name }) => isSame(reported, name))
  return named.length > 0 ? named : tests.filter(({ name }) => name.split(PART).at(-1) === reported.split(PART).at(-1))
}

function filterByShape(reported: string, tests: readonly FoundTest[]): readonly FoundTest[] {
  const index = indexOf(tests)
  const [named, alike]: [FoundTest[], FoundTest[]] = [[], []]
  const leaf = reported.split(PART).at(-1) ?? ''
  for (const test of [...(index.byLeaf.get(leaf) ?? []), ...(index.byName.get(reported) ?? []), ...index.shaped])
    if (isSameByParts(reported, test.name)) named.push(test)
    else if (matchesName(test.name.split(PART).at(-1) ?? '', leaf)) alike.push(test)
  return named.length > 0 ? [...new Set(named)] : alike
}

interface Index {
  readonly byName: ReadonlyMap<string, readonly FoundTest[]>
  readonly byLeaf: ReadonlyMap<string, readonly FoundTest[]>
  /** Tests whose name has placeholders, or is an expression. */
  readonly shaped: readonly FoundTest[]
}

const INDEXES = new WeakMap<readonly FoundTest[], Index>()

// A file may have thousands of tests, and each is looked for.
function indexOf(tests: readonly FoundTest[]): Index {
  const known = INDEXES.get(tests)
  if (known !== undefined) return known
  const byName = new Map<string, FoundTest[]>()
  const byLeaf = new Map<string, FoundTest[]>()
  const add = (map: Map<string, FoundTest[]>, key: string, test: FoundTest): void => {
    const at = map.get(key)
    if (at === undefined) map.set(key, [test])
    else at.push(test)
  }
  for (const test of tests) {
    add(byName, test.name, test)
    add(byLeaf, test.name.split(PART).at(-1) ?? '', test)
  }
  const shaped = tests.filter(({ name }) => isShape(name)).slice(0, SHAPES_MAX)
  const index = { byName, byLeaf, shaped }
  INDEXES.set(tests, index)
  return index
}

function isShape(name: string): boolean {
  return (
    name.length <= SHAPE_CHARS_MAX &&
    name.split(PART).some((part) => COMPUTED.test(part) || part.search(FILLED) >= 0 || part.includes('\\'))
  )
}

/** The value of `scoreName` where the name is written down as it is reported. */
export const WHOLE_NAME = Number.POSITIVE_INFINITY

/**
 * How well one of the names that a file writes down explains that of a reported test: by how much of it is text. -1: none
 * of them could be its name; 0: one is an expression without text.
 */
export function scoreName(id: string, names: readonly string[]): number {
  const reported = parseTestName(id)
  let best = -1
  let shapes = 0
  for (const name of names) {
    if (reported === name || reported.endsWith(` > ${name}`)) return WHOLE_NAME
    if (!isShape(name)) continue
    shapes += 1
    if (shapes > SHAPES_MAX) break
    if (
      !isSameByParts(reported, name) &&
      !matchesName(name.split(PART).at(-1) ?? '', reported.split(PART).at(-1) ?? '')
    )
      continue
    best = Math.max(best, countText(name))
  }
  return best
}

function countText(name: string): number {
  const text = name.split(PART).filter((part) => !COMPUTED.test(part))
  return text.join('').replace(FILLED, '').length
}

/** Whether the name of a test is an expression, so that it is not known before the test runs. */
export function hasComputedName(name: string): boolean {
  return COMPUTED.test(name.split(' > ').at(-1) ?? '')
}

/** Whether another test of the same group has a computed name too. */
export function isAmbiguous({ name }: FoundTest, tests: readonly FoundTest[]): boolean {
  const groupOf = (one: string): string => one.split(' > ').slice(0, -1).join(' > ')
  return (
    hasComputedName(name) &&
    tests.filter((test) => hasComputedName(test.name) && groupOf(test.name) === groupOf(name)).length > 1
  )
}

function isSameInGo(id: string, name: string): boolean {
  return /(?:^|[^\w])((?:Test|Fuzz|Example)\w*)/.exec(id.replace(/^.* > /, ''))?.[1] === name
}

function isSameInPython(id: string, name: string): boolean {
  const plain = id.replace(/\[.*\]$/s, '')
  const parts = name.split('::')
  return plain.split(SEPARATOR).at(-1) === parts.at(-1) && parts.every((part) => plain.includes(part))
}

function isSameByParts(id: string, name: string): boolean {
  const reported = id.split(PART)
  const parts = name.split(PART)
  const tail = reported.slice(-parts.length)
  if (
    parts.length === tail.length &&
    parts.every((part, at) => COMPUTED.test(part) || matchesName(part, tail[at] ?? ''))
  )
    return true
  // A name that contains the separator of name parts.
  return id === name || id.endsWith(` > ${name}`)
}

/** Whether a runner could make this name from this text; escapes and placeholders match anything. */
function matchesName(text: string, name: string): boolean {
  if (text === name) return true
  if (text.length > SHAPE_CHARS_MAX) return false
  const [first = '', ...rest] = text.replace(/\\./g, '%s').split(FILLED)
  if (rest.length === 0 || !name.startsWith(first)) return false
  let at = first.length
  for (const part of rest.slice(0, -1)) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  const last = rest.at(-1) ?? ''
  return name.length - last.length >= at && name.endsWith(last)
}
