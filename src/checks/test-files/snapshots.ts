const SNAPSHOT_CHARS_MAX = 8 * 1024 * 1024
const HEADER = /^(?:\/\/[^\n]{0,400}\n)?\s{0,20}/

/**
 * The entries of a snapshot file of jest or vitest, by name. Null if the file contains anything else: runners execute
 * it, so it may contain only texts.
 */
export function parseSnapshots(text: string): ReadonlyMap<string, string> | null {
  if (text.length > SNAPSHOT_CHARS_MAX) return null
  const entries = new Map<string, string>()
  let at = HEADER.exec(text)?.[0].length ?? 0
  while (at < text.length) {
    const name = readQuoted(text, { at, before: 'exports[`', after: '`] = ' })
    const value = name === null ? null : readQuoted(text, { at: name.end, before: '`', after: '`;' })
    if (name === null || value === null || entries.has(name.text)) return null
    entries.set(name.text, value.text)
    at = value.end
    while (text[at] === '\n') at += 1
  }
  return entries
}

/** Whether every old entry of a snapshot file is unchanged. New entries are allowed. */
export function addsSnapshotsOnly(before: string, now: string): boolean {
  const [old, entries] = [parseSnapshots(before), parseSnapshots(now)]
  return old !== null && entries !== null && [...old].every(([name, value]) => entries.get(name) === value)
}

// Reads a template string without expressions.
function readQuoted(
  text: string,
  { at, before, after }: { readonly at: number; readonly before: string; readonly after: string },
): { readonly text: string; readonly end: number } | null {
  if (!text.startsWith(before, at)) return null
  const start = at + before.length
  for (let index = start; index < text.length; index++) {
    const char = text[index]
    if (char === '\\') index += 1
    else if (char === '$' && text[index + 1] === '{') return null
    else if (char === '`')
      return text.startsWith(after, index) ? { text: text.slice(start, index), end: index + after.length } : null
  }
  return null
}
