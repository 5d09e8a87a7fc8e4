import type { Writable } from './writable.js'

const ALTERNATIVES_MAX = 64
const PATTERN_CHARS_MAX = 4096

/** A pattern of one side that may match a path which a pattern of the other may match, too; null: there is no such path. */
export function writeOverlap(
  mine: Writable,
  theirs: Writable,
): { readonly mine: string; readonly theirs: string } | null {
  for (const one of mine.allowed)
    for (const other of theirs.allowed) {
      const isKept = isCovered(mine.forbidden, other) || isCovered(theirs.forbidden, one)
      if (!isKept && mayOverlap(one, other)) return { mine: one, theirs: other }
    }
  return null
}

/** The same patterns, of a work tree that lies in another one. */
export function prefixPatterns(folder: string, patterns: readonly string[]): readonly string[] {
  if (folder === '') return patterns
  // A folder whose name could be read as a pattern may be any folder.
  return patterns.map((pattern) => (PLAIN.test(folder) ? `${folder}/${pattern.replace(/^(\.?\/)+/, '')}` : '**'))
}

/**
 * Whether some path may match both globs. It never misses one; where a pattern holds more than `**`, `*`, `?` and `{a,b}` it may say
 * that there is one although there is none.
 */
export function mayOverlap(one: string, other: string): boolean {
  const [mine, theirs] = [expand(one), expand(other)]
  return mine.some((a) => theirs.some((b) => canSegmentsMeet(splitSegments(a), splitSegments(b))))
}

// A name that is nothing but itself in a pattern.
const PLAIN = /^[\p{L}\p{N}_./ ~=,:%-]*$/u
const ANYTHING = '**'

// What is forbidden as a whole folder takes away every pattern that begins with that folder's name.
function isCovered(forbidden: readonly string[], pattern: string): boolean {
  return forbidden.some((one) => {
    if (one === pattern || one === ANYTHING) return true
    const folder = one.endsWith('/**') ? one.slice(0, -3) : null
    return (
      folder !== null &&
      folder !== '' &&
      PLAIN.test(folder) &&
      !folder.includes(',') &&
      pattern.startsWith(`${folder}/`)
    )
  })
}

// Braces are written out; whatever cannot be read for certain is anything.
function expand(pattern: string): readonly string[] {
  if (pattern.length > PATTERN_CHARS_MAX || /[\\()|"'`]/.test(pattern)) return [ANYTHING]
  let done: readonly string[] = [pattern]
  while (done.some((one) => BRACES.test(one))) {
    done = done.flatMap(expandBraces)
    if (done.length > ALTERNATIVES_MAX) return [ANYTHING]
  }
  return done
}

const BRACES = /\{([^{}]*)\}/

function expandBraces(pattern: string): readonly string[] {
  const found = BRACES.exec(pattern)
  if (found === null) return [pattern]
  const [whole, inside = ''] = found
  const before = pattern.slice(0, found.index)
  const after = pattern.slice(found.index + whole.length)
  // With a range the matcher takes every dot of the pattern for any character, a slash too.
  if (inside.includes('..')) return [ANYTHING]
  // A single word in braces: from this name on it may be anything.
  if (!inside.includes(',')) return [cutToFolder(before)]
  return inside.split(',').map((one) => `${before}${one}${after}`)
}

function cutToFolder(before: string): string {
  const slash = before.lastIndexOf('/')
  return slash === -1 ? ANYTHING : `${before.slice(0, slash)}/**`
}

function splitSegments(pattern: string): readonly string[] {
  const segments: string[] = []
  for (const segment of pattern.split('/')) {
    if (segment === '' || segment === '.') continue
    const isKnown = PLAIN.test(segment.replace(/[*?]/g, ''))
    if (!isKnown) return [...segments, ANYTHING]
    segments.push(segment.includes('**') ? ANYTHING : segment)
  }
  return segments
}

// Both are read from left to right at once; `**` takes any number of names, none included.
function canSegmentsMeet(mine: readonly string[], theirs: readonly string[]): boolean {
  return canMeet(mine, theirs, { isMany: (one) => one === ANYTHING, fits: canNamesMeet })
}

function canNamesMeet(mine: string, theirs: string): boolean {
  const fits = (a: string, b: string): boolean => a === b || a === '?' || b === '?'
  return canMeet([...splitUnits(mine)], [...splitUnits(theirs)], { isMany: (one) => one === '*', fits })
}

// The characters that the matcher counts, not those that people see.
function splitUnits(text: string): readonly string[] {
  return Array.from({ length: text.length }, (_, at) => text.charAt(at))
}

interface Meeting {
  readonly isMany: (part: string) => boolean
  readonly fits: (mine: string, theirs: string) => boolean
}

/** Whether two sequences with parts that stand for any number of others can stand for the same one. */
function canMeet(mine: readonly string[], theirs: readonly string[], by: Meeting): boolean {
  let row: boolean[] = []
  for (let i = mine.length; i >= 0; i -= 1) {
    const next: boolean[] = []
    for (let j = theirs.length; j >= 0; j -= 1) {
      const [a, b] = [mine[i], theirs[j]]
      if (a === undefined && b === undefined) next[j] = true
      else if (a !== undefined && by.isMany(a)) next[j] = row[j] === true || (b !== undefined && next[j + 1] === true)
      else if (b !== undefined && by.isMany(b)) next[j] = next[j + 1] === true || (a !== undefined && row[j] === true)
      else next[j] = a !== undefined && b !== undefined && by.fits(a, b) && row[j + 1] === true
    }
    row = next
  }
  return row[0] === true
}
