import type { Writable } from './writable.js'

const ALTERNATIVES_MAX = 64
const PATTERN_CHARS_MAX = 4096

/** A pattern of one side that overlaps a pattern of the other side; null: none. */
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

/** The same patterns for a work tree inside another one. */
export function prefixPatterns(folder: string, patterns: readonly string[]): readonly string[] {
  if (folder === '') return patterns
  // A folder name that looks like a pattern may match any folder.
  return patterns.map((pattern) => (PLAIN.test(folder) ? `${folder}/${pattern.replace(/^(\.?\/)+/, '')}` : '**'))
}

/**
 * Whether some path may match both globs. It never misses an overlap; for patterns beyond `**`, `*`, `?` and `{a,b}` it
 * may report one that does not exist.
 */
export function mayOverlap(one: string, other: string): boolean {
  const [mine, theirs] = [expand(one), expand(other)]
  return mine.some((a) => theirs.some((b) => canSegmentsMeet(splitSegments(a), splitSegments(b))))
}

// A literal name in a pattern.
const PLAIN = /^[\p{L}\p{N}_./ ~=,:%-]*$/u
const ANYTHING = '**'

// A forbidden folder removes every pattern that begins with its name.
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

// Braces are expanded; anything unclear matches everything.
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
  // With a range the matcher treats every dot of the pattern as any character, including a slash.
  if (inside.includes('..')) return [ANYTHING]
  // A single word in braces: from this name on, anything may match.
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

// Both are read from left to right at once; `**` matches any number of names, including none.
function canSegmentsMeet(mine: readonly string[], theirs: readonly string[]): boolean {
  return canMeet(mine, theirs, { isMany: (one) => one === ANYTHING, fits: canNamesMeet })
}

function canNamesMeet(mine: string, theirs: string): boolean {
  const fits = (a: string, b: string): boolean => a === b || a === '?' || b === '?'
  return canMeet([...splitUnits(mine)], [...splitUnits(theirs)], { isMany: (one) => one === '*', fits })
}

// Characters as the matcher counts them, not as people see them.
function splitUnits(text: string): readonly string[] {
  return Array.from({ length: text.length }, (_, at) => text.charAt(at))
}

interface Meeting {
  readonly isMany: (part: string) => boolean
  readonly fits: (mine: string, theirs: string) => boolean
}

/** Whether two sequences with wildcard parts can match the same sequence. */
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
