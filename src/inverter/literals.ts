/** The source of a number near a written one, null where its form is not known. Stays within the small integer types. */
export function changeNumber(text: string): string | null {
  const match = /^([0-9][0-9_]*)(\.[0-9]+)?((?:_?[iu](?:8|16|32|64|128|size))|_?f32|_?f64)?$/.exec(text)
  if (match === null || (match[1] ?? '').length > 18 || /^0\d/.test(text)) return null
  const whole = BigInt((match[1] ?? '').replaceAll('_', ''))
  const next = LARGEST.includes(whole) ? whole - 1n : whole + 1n
  return `${next}${match[2] ?? ''}${match[3] ?? ''}`
}

// One more could leave the type of the value, and the file would not compile.
const LARGEST: readonly bigint[] = [127n, 255n, 32_767n, 65_535n, 2_147_483_647n, 4_294_967_295n]
