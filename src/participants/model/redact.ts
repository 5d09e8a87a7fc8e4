/** Servers quote keys in part; shorter pieces than this must stay readable: words, numbers. */
const PIECE_CHARS = 8
const DETAIL_CHARS_MAX = 300

/** A server's message, safe to show: one line, bounded, and without the key or any longer piece of it. */
export function redact(text: string, apiKey: string | null): string {
  const line = text
    .slice(0, DETAIL_CHARS_MAX * 4)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  const shown = apiKey === null || apiKey === '' ? line : redactPieces(line, apiKey)
  const points = [...shown]
  return points.length > DETAIL_CHARS_MAX ? `${points.slice(0, DETAIL_CHARS_MAX).join('')}…` : shown
}

function redactPieces(line: string, apiKey: string): string {
  const width = Math.min(PIECE_CHARS, apiKey.length)
  let shown = ''
  let from = 0
  while (from < line.length) {
    let to = from + width
    if (to > line.length || !apiKey.includes(line.slice(from, to))) {
      shown += line[from]
      from += 1
      continue
    }
    while (to < line.length && apiKey.includes(line.slice(to - width + 1, to + 1))) to += 1
    shown += '[key]'
    from = to
  }
  return shown
}
