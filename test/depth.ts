/** Whether this run goes to full depth: `npm run test:full` and `npm run torture` do, `npm test` does not. */
export function isFullDepth(): boolean {
  return process.env.PHASELOCK_DEPTH === 'full'
}

/** `npm test` looks at every class of cases, and at fewer of each; a full run looks at all of them. */
export function depth<T>(usual: T, full: T): T {
  return isFullDepth() ? full : usual
}
