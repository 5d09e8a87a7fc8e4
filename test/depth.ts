/** `npm run torture` goes to the full depth; `npm test` looks at every class of cases, and at fewer of each. */
const IS_FULL = process.env.PHASELOCK_DEPTH === 'full'

/** How many cases: as many as usual, or all of them at full depth. */
export function depth<T>(usual: T, full: T): T {
  return IS_FULL ? full : usual
}
