/** What `doctor` says of one thing. */
export interface Finding {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'missing'
  readonly detail: string
  readonly remedy: string
  /** What a command wrote last, where it is what failed. */
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
