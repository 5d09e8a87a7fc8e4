/** A run of text as it is shown: plain, or one character that would hide, move or reorder what is around it. */
export type TextPart =
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'hidden'; readonly code: string; readonly name: string; readonly count: number }

const NAMES: Readonly<Record<number, string>> = {
  0: 'null',
  7: 'bell',
  8: 'backspace',
  13: 'carriage return',
  27: 'escape',
  127: 'delete',
  173: 'soft hyphen',
  1564: 'Arabic letter mark',
  8203: 'zero width space',
  8204: 'zero width non-joiner',
  8205: 'zero width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'end of direction',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'end of isolate',
  65279: 'byte order mark',
}

// Controls but tab and line feed; format characters that have no width or turn the direction; fillers and blanks that
// look like nothing; tags and variation selectors, which can carry a hidden message; halves of surrogate pairs.
// The emoji selector U+FE0F is left alone.
const HIDDEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is meant by itself
  /(?![\t\n])[\p{Cc}\p{Cs}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu

/** Splits a text so that every character that would not be seen can be shown by its code. Repeats are counted. */
export function splitHidden(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: char, index } of text.matchAll(HIDDEN)) {
    if (index > end) parts.push({ kind: 'plain', text: text.slice(end, index) })
    end = index + char.length
    const point = char.codePointAt(0) ?? 0
    const code = formatCode(point)
    const last = parts.at(-1)
    if (last?.kind === 'hidden' && last.code === code) parts[parts.length - 1] = { ...last, count: last.count + 1 }
    else parts.push({ kind: 'hidden', code, name: NAMES[point] ?? 'invisible character', count: 1 })
  }
  if (end < text.length || parts.length === 0) parts.push({ kind: 'plain', text: text.slice(end) })
  return parts
}

/** The same as one string, for titles and labels: an invisible character between a and b becomes `a[U+202E]b`. */
export function showHidden(text: string): string {
  return splitHidden(text)
    .map((part) => (part.kind === 'plain' ? part.text : `[${part.code}]${part.count > 1 ? `×${part.count}` : ''}`))
    .join('')
}

/** The first characters of a text, without cutting a pair of surrogates, and how many were left out. */
export function cutText(text: string, charsMax: number): { readonly text: string; readonly left: number } {
  if (text.length <= charsMax) return { text, left: 0 }
  const last = text.charCodeAt(charsMax - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? charsMax - 1 : charsMax
  return { text: text.slice(0, end), left: text.length - end }
}

function formatCode(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}
