const RULES = new Intl.PluralRules('en', { type: 'ordinal' })
const ENDINGS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' }

/** "1st", "2nd", "3rd", "4th". */
export function formatOrdinal(count: number): string {
  return `${count}${ENDINGS[RULES.select(count)] ?? 'th'}`
}
