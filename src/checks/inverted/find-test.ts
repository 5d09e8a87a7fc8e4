import type { FoundTest } from '../../inverter/types.js'
import { parseTestName } from '../red-green/baseline-tests.js'

// Placeholders that a runner fills in: `adds %i`, `adds $a`, `adds ${a}`.
const FILLED = /%(?:\.\d)?[a-zA-Z#%]|\$\{[^}]{0,200}\}|\$[\w.#]{1,80}/g
// If the name is an expression, only the line is known.
const COMPUTED = /^\(line \d{1,9}\)$/
const SEPARATOR = / > |::|\.(?=\w+$)/

/** The test of a file that a runner reports under this id; null if none has such a name. */
export function findTest(id: string, tests: readonly FoundTest[], path: string): FoundTest | null {
  const isSame = path.endsWith('.go') ? isSameInGo : path.endsWith('.py') ? isSameInPython : isSameByParts
  const reported = parseTestName(id)
  const named = tests.filter(({ name }) => isSame(reported, name))
  const alike = named.length > 0 ? named : tests.filter(({ name }) => hasSameLeaf(reported, name))
  const literal = alike.filter(({ name }) => !hasComputedName(name))
  // Several tests of one group with computed names cannot be distinguished.
  if (literal.length === 0 && alike.length > 1) return null
  // If several match, use the one with the most assertions.
  return (
    (literal.length > 0 ? literal : alike).toSorted(
      (a, b) => b.name.length - a.name.length || b.turned - a.turned,
    )[0] ?? null
  )
}

/** Whether one of these names in a file may be that of the reported test, as far as it is written down. */
export function couldBeNamed(id: string, names: readonly string[]): boolean {
  const reported = parseTestName(id)
  return names.some((name) => isSameByParts(reported, name) || hasSameLeaf(reported, name))
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
  const reported = id.split(/ > |::/)
  const parts = name.split(/ > |::/)
  const tail = reported.slice(-parts.length)
  if (
    parts.length === tail.length &&
    parts.every((part, at) => COMPUTED.test(part) || matchesName(part, tail[at] ?? ''))
  )
    return true
  // A name that contains the separator of name parts.
  return id === name || id.endsWith(` > ${name}`)
}

function hasSameLeaf(id: string, name: string): boolean {
  return matchesName(name.split(/ > |::/).at(-1) ?? '', id.split(/ > |::/).at(-1) ?? '')
}

/** Whether a runner could make this name from this text; escapes and placeholders match anything. */
function matchesName(text: string, name: string): boolean {
  if (text === name) return true
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
