/** How the server writes to standard error. `auto`: text on a terminal, JSON elsewhere. */
export const LOG_FORMATS = ['auto', 'text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
