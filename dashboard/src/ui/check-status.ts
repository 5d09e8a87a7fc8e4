/** How a check of a gate ended. */
export type CheckStatus = 'passed' | 'failed' | 'warning' | 'not_run'
