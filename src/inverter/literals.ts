/** How literals are changed: the same for a whole file, different for each seed. */
export interface LiteralChange {
  /** -3 to 3 without 0. */
  readonly step: number
  readonly word: string
  readonly signs: string
}

/** For a file that is only read. */
export const NO_CHANGE: LiteralChange = { step: 1, word: 'other', signs: '' }

/** The source of a number near a literal one, null if its form is unknown. Stays within the integer types. */
export function changeNumber(text: string, { step }: LiteralChange): string | null {
  const match = /^([0-9][0-9_]*)(\.[0-9]+)?((?:_?[iu](?:8|16|32|64|128|size))|_?f32|_?f64)?$/.exec(text)
  if (match === null || (match[1] ?? '').length > 18 || /^0\d/.test(text)) return null
  const whole = BigInt((match[1] ?? '').replaceAll('_', ''))
  const by = BigInt(Math.abs(step))
  const goesUp = whole < by || (step > 0 && !LARGEST.some((largest) => whole <= largest && largest < whole + by))
  return `${goesUp ? whole + by : whole - by}${match[2] ?? ''}${match[3] ?? ''}`
}

/**
 * The source of another string of the same length, so that comparing lengths alone does not distinguish them. One
 * without a plain letter or digit, or with escapes, gets an extra word.
 */
export function changeText(text: string, { word, step }: LiteralChange): string {
  const at = text.includes('\\') ? -1 : text.search(/[A-Za-z0-9]/)
  if (at < 0) return `${text.slice(0, -1)}${word}${text.slice(-1)}`
  const letters = /[0-9]/.test(text[at] ?? '') ? '0123456789' : 'abcdefghijklmnopqrstuvwxyz'
  const index = letters.indexOf((text[at] ?? '').toLowerCase()) + step + letters.length
  return `${text.slice(0, at)}${letters[index % letters.length]}${text.slice(at + 1)}`
}

// A number beyond these could leave the type of the value, and the file would not compile.
const LARGEST: readonly bigint[] = [8n, 16n, 32n, 64n].flatMap((bits) => [
  2n ** (bits - 1n) - 1n,
  2n ** (bits - 1n),
  2n ** bits - 1n,
])
