const ANY = '…'

/**
 * Where the real answer differs from the one in the document; null when it does not.
 * `…` inside a text stands for any text, as a value for any value. A field `"…"` allows fields that are not shown,
 * a last element `"…"` allows further elements. Everything else must be the same.
 */
export function jsonDifference(shown: unknown, real: unknown, path = '$'): string | null {
  if (shown === ANY) return null
  if (typeof shown === 'string')
    return typeof real === 'string' && fitsText(shown, real) ? null : differs(path, shown, real)
  if (Array.isArray(shown)) return listDifference(shown, real, path)
  if (shown !== null && typeof shown === 'object') return objectDifference(shown, real, path)
  return shown === real ? null : differs(path, shown, real)
}

/** The same for plain text, line by line. A line that is only `…` stands for any number of lines. */
export function textDifference(shown: string, real: string): string | null {
  const pattern = shown
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === ANY ? '(?:.*\n)*?' : `${patternOf(line)}\n`))
    .join('')
  return new RegExp(`^${pattern}$`).test(`${real.trimEnd()}\n`)
    ? null
    : `shown:\n${shown.trimEnd()}\nreal:\n${real.trimEnd()}`
}

function objectDifference(shown: object, real: unknown, path: string): string | null {
  if (real === null || typeof real !== 'object' || Array.isArray(real)) return differs(path, shown, real)
  const given = real as Record<string, unknown>
  const isOpen = ANY in shown
  for (const [name, value] of Object.entries(shown)) {
    if (name === ANY) continue
    if (!Object.hasOwn(given, name)) return `${path}.${name} is shown and not in the answer`
    const difference = jsonDifference(value, given[name], `${path}.${name}`)
    if (difference !== null) return difference
  }
  const hidden = Object.keys(given).filter((name) => !Object.hasOwn(shown, name))
  return isOpen || hidden.length === 0 ? null : `${path} has fields that are not shown: ${hidden.join(', ')}`
}

function listDifference(shown: readonly unknown[], real: unknown, path: string): string | null {
  if (!Array.isArray(real)) return differs(path, shown, real)
  const isOpen = shown.at(-1) === ANY
  const items = isOpen ? shown.slice(0, -1) : shown
  if (isOpen ? real.length < items.length : real.length !== items.length)
    return `${path} has ${real.length} elements, ${items.length} are shown`
  for (const [index, item] of items.entries()) {
    const difference = jsonDifference(item, real[index], `${path}[${index}]`)
    if (difference !== null) return difference
  }
  return null
}

function fitsText(shown: string, real: string): boolean {
  return new RegExp(`^${patternOf(shown)}$`, 's').test(real)
}

function patternOf(text: string): string {
  return text
    .split(ANY)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
}

function differs(path: string, shown: unknown, real: unknown): string {
  return `${path}: shown ${JSON.stringify(shown)}, real ${JSON.stringify(real)}`
}
