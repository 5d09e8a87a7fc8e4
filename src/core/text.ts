const DAY_MS = 86_400_000
const MINUTE_S = 60
const HOUR_S = 3600

// Line breaks, controls and terminal escapes; marks that reorder text, take no room or hide letters; halves of characters.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const NAMED: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** `HH:MM:SS`, UTC. */
export function formatClock(at: number): string {
  const seconds = Math.floor((((at % DAY_MS) + DAY_MS) % DAY_MS) / 1000)
  return [Math.floor(seconds / HOUR_S), Math.floor(seconds / MINUTE_S) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

/** `6,200` */
export function formatThousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 minute`, `2 minutes`, `90 seconds` */
export function formatSpan(seconds: number): string {
  return seconds % MINUTE_S === 0 ? formatCount(seconds / MINUTE_S, 'minute') : formatCount(seconds, 'second')
}

/** `1 time`, `5 times` */
export function formatCount(count: number, unit: string): string {
  return `${formatThousands(count)} ${unit}${count === 1 ? '' : 's'}`
}

/** `1h 5m 3s`, without the parts that are zero. */
export function formatDuration(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / HOUR_S), 'h'],
    [Math.floor(seconds / MINUTE_S) % 60, 'm'],
    [seconds % 60, 's'],
  ]
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${formatThousands(count)}${unit}`)
  return said.length === 0 ? '0s' : said.join(' ')
}

/** Text that an agent wrote, on one line, without anything that a terminal or a reader could be led by, and not too long. */
export function toOneLine(text: string, charsMax: number): string {
  const cut = text.length > charsMax ? text.slice(0, charsMax) : text
  const safe = cut.replace(UNSAFE, escapeOf)
  if (cut === text && safe.length <= charsMax) return safe
  const shown = safe.slice(0, charsMax - 1)
  // The cut must not leave half of a character.
  return `${/[\uD800-\uDBFF]$/.test(shown) ? shown.slice(0, -1) : shown}…`
}

function escapeOf(found: string): string {
  const code = found.codePointAt(0) ?? 0
  return NAMED.get(found) ?? (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`)
}
