// A string sequence ends with its terminator; from an overlong one only the introducer is removed, so that it stays
// readable.
const STRING_CHARS_MAX = 2048

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: this file exists to remove them.
const STRINGS = new RegExp(
  `(?:\\u001B[PX\\]^_]|[\\u0090\\u0098\\u009D\\u009E\\u009F])[^\\u0007\\u001B\\u009C]{0,${STRING_CHARS_MAX}}(?:\\u0007|\\u001B\\\\|\\u009C)`,
  'g',
)
const CONTROL_SEQUENCES = /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]/g
const ESCAPES = /\u001B[ -/]*[0-~]/g
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: this file exists to remove them.

// Marks that reorder text, are invisible or hide letters: displayed text must equal the actual text.
const INVISIBLE =
  /[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu
const LONE_SURROGATES = /\p{Cs}/gu

/** The display form of an answer field; empty for null. */
export type Shown = string | number | boolean | null | undefined

/** Untrusted text without terminal control sequences. Line breaks and tabs stay. */
export function plainText(text: Shown): string {
  return String(text ?? '')
    .replaceAll('\r\n', '\n')
    .replace(STRINGS, '')
    .replace(CONTROL_SEQUENCES, '')
    .replace(ESCAPES, '')
    .replace(CONTROLS, '')
    .replace(INVISIBLE, '')
    .replace(LONE_SURROGATES, '\uFFFD')
}

/** The same on one line. */
export function plainLine(text: Shown): string {
  return plainText(text).replace(/\s+/g, ' ').trim()
}

/** JSON that is safe to display: characters that JSON leaves unescaped but terminals interpret are escaped. */
export function plainJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(
    /[\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDC7F]/g,
    (found) => [...Array(found.length).keys()].map((at) => escapeUnicode(found.charCodeAt(at))).join(''),
  )
}

function escapeUnicode(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
