const DAY_MS = 86_400_000
const MINUTE_S = 60
const HOUR_S = 3600

// Line breaks, controls and terminal escapes; marks that reorder text, are invisible or hide letters; lone surrogates.
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

const UNITS = [
  [DAY_MS / 1000, 'd'],
  [HOUR_S, 'h'],
  [MINUTE_S, 'm'],
  [1, 's'],
] as const

/** `26h 5m 3s`, without zero parts; the short form has days, and only the two largest parts: `1d 2h`. */
export function formatDuration(seconds: number, form: 'long' | 'short' = 'long'): string {
  let left = seconds
  const parts = UNITS.slice(form === 'short' ? 0 : 1).map(([size, unit]) => {
    const count = size === 1 ? left : Math.floor(left / size)
    left -= count * size
    return { count, text: `${formatThousands(count)}${unit}` }
  })
  const first = parts.findIndex(({ count }) => count > 0)
  if (first === -1) return '0s'
  const shown = parts.slice(first, form === 'short' ? first + 2 : parts.length)
  return shown.flatMap(({ count, text }) => (count > 0 ? [text] : [])).join(' ')
}

/** An agent's text on one line, without control sequences or misleading characters, and truncated. */
export function toOneLine(text: string, charsMax: number): string {
  const cut = text.length > charsMax ? text.slice(0, charsMax) : text
  const safe = cut.replace(UNSAFE, escapeOf)
  if (cut === text && safe.length <= charsMax) return safe
  const shown = safe.slice(0, charsMax - 1)
  // The cut must not split a character.
  return `${/[\uD800-\uDBFF]$/.test(shown) ? shown.slice(0, -1) : shown}…`
}

function escapeOf(found: string): string {
  const code = found.codePointAt(0) ?? 0
  return NAMED.get(found) ?? (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`)
}
