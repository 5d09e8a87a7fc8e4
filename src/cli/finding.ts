/** One finding of `doctor`. */
export interface Finding {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'missing'
  readonly detail: string
  readonly remedy: string
  /** The last output of a failed command. */
  readonly last_lines?: readonly string[]
}

export function ok(name: string, detail: string): Finding {
  return { name, status: 'ok', detail, remedy: '' }
}

export function warning(name: string, detail: string, remedy: string): Finding {
  return { name, status: 'warning', detail, remedy }
}

export function missing(name: string, detail: string, remedy: string): Finding {
  return { name, status: 'missing', detail, remedy }
}
