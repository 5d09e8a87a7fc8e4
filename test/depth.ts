/** Whether this run goes to full depth: `npm run test:full` and `npm run torture` do, `npm test` does not. */
export function isFullDepth(): boolean {
  return process.env.PHASELOCK_DEPTH === 'full'
}

/** `npm test` looks at every class of cases, and at fewer of each; a full run looks at all of them. */
export function depth<T>(usual: T, full: T): T {
  return isFullDepth() ? full : usual
}

/** Some of the cases, spread evenly over all of them; all of them at full depth. */
export function sample<T>(all: readonly T[], usual: number): readonly T[] {
  if (isFullDepth() || all.length <= usual) return all
  return Array.from({ length: usual }, (_, index) => all[Math.floor((index * all.length) / usual)] as T)
}
