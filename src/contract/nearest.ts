const CHARS_MAX = 64

/** The valid name closest to the typed one, if it is close enough. */
export function findNearest(typed: string, valid: Iterable<string>): string | null {
  const wanted = typed.slice(0, CHARS_MAX).toLowerCase()
  let best: string | null = null
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1
  for (const name of valid) {
    const distance = computeEditDistance(wanted, name.slice(0, CHARS_MAX).toLowerCase())
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

/** `Did you mean 'x'? ` or nothing, to prefix a remedy. */
export function formatDidYouMean(typed: string, valid: Iterable<string>): string {
  const name = findNearest(typed, valid)
  return name === null ? '' : `Did you mean '${name}'? `
}

function computeEditDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
