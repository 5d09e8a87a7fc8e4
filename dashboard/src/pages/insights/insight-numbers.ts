/** What `GET /insights` answers, as far as the page needs it. */
export interface Insights {
  readonly since: string
  readonly until: string
  readonly tasks: Readonly<Record<'total' | 'completed' | 'cancelled' | 'parked' | 'open', number>>
  readonly first_try: readonly {
    readonly phase: string
    readonly gate: string | null
    readonly attempts: number
    readonly passed_first: number
    readonly task_ids: readonly string[]
  }[]
  readonly refusals: {
    readonly total: number
    readonly by_code: readonly Counted[]
    readonly by_phase: readonly Counted[]
    readonly by_agent: readonly Counted[]
    readonly matrix: readonly { readonly phase: string; readonly code: string; readonly count: number }[]
  }
  readonly phases: readonly PhaseNumbers[]
  readonly stuck: readonly {
    readonly phase: string
    readonly reason: string
    readonly count: number
    readonly task_ids: readonly string[]
  }[]
  readonly approvals: {
    readonly count: number
    readonly waiting: Readonly<Record<'median' | 'p90' | 'max', number | null>>
    readonly histogram: readonly WaitBin[]
  }
  readonly per_day: readonly { readonly day: string; readonly completed: number; readonly refusals: number }[]
  readonly truncated: boolean
}

export interface Counted {
  readonly key: string
  readonly count: number
  readonly task_ids: readonly string[]
}

export interface PhaseNumbers {
  readonly phase: string
  readonly visits: number
  readonly seconds: Readonly<Record<'p10' | 'p25' | 'median' | 'p75' | 'p90' | 'max', number>>
  readonly tokens: Readonly<Record<'median' | 'p90' | 'total', number>>
  readonly task_ids: readonly string[]
}

export interface WaitBin {
  readonly up_to_seconds: number | null
  readonly count: number
  readonly approval_ids: readonly string[]
}

/** `2 h 41 min`, `38 min`, `12 s`: at most two units, none that is zero. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return seconds <= 0 ? '0 s' : 'under 1 s'
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`
}

/** `486 k`, `1.2 M`. */
export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString('en-GB')
  if (count < 1_000_000) return `${Math.round(count / 1000)} k`
  return `${(count / 1_000_000).toFixed(1)} M`
}

/** The share of gates that opened at the first try, in whole percent; null where none was tried. */
export function computeFirstTry(gates: Insights['first_try']): number | null {
  const attempts = gates.reduce((sum, gate) => sum + gate.attempts, 0)
  const passed = gates.reduce((sum, gate) => sum + gate.passed_first, 0)
  return attempts === 0 ? null : Math.round((passed / attempts) * 100)
}

export function computeRefusalsPerTask({ refusals, tasks }: Insights): number | null {
  return tasks.total === 0 ? null : refusals.total / tasks.total
}

export function sumTokens(phases: readonly PhaseNumbers[]): number {
  return phases.reduce((sum, phase) => sum + phase.tokens.total, 0)
}

/** A round number at or above it, of which a quarter is a whole number. */
export function findScale(max: number): number {
  if (max <= 4) return 4
  const power = 10 ** Math.max(0, Math.floor(Math.log10(max)) - 1)
  const steps = [4, 8, 12, 16, 20, 24, 32, 40, 60, 80, 100].map((step) => step * power)
  return steps.find((step) => step >= max) ?? 100 * power
}

/** The end of an axis of time: a round number of seconds, minutes or hours. */
export function findTimeScale(seconds: number): number {
  const unit = seconds < 120 ? 1 : seconds < 7200 ? 60 : 3600
  return findScale(seconds / unit) * unit
}

/** The phases in the order in which tasks pass them, as the answer lists them. */
export function listPhases(insights: Insights): readonly string[] {
  const named = [
    ...insights.phases.map(({ phase }) => phase),
    ...insights.first_try.map(({ phase }) => phase),
    ...insights.refusals.matrix.map(({ phase }) => phase),
  ]
  return [...new Set(named)]
}

/** `under 5 min`, `5 to 15 min`, `over 4 h`. */
export function nameBin(bins: readonly WaitBin[], index: number): string {
  const from = bins[index - 1]?.up_to_seconds ?? 0
  const to = bins[index]?.up_to_seconds ?? null
  if (to === null) return `over ${formatSeconds(from)}`
  if (from === 0) return `under ${formatSeconds(to)}`
  const [amount, unit] = formatSeconds(to).split(' ')
  const [before, beforeUnit] = formatSeconds(from).split(' ')
  // An hour is sixty minutes beside smaller numbers: "15–60 min" fits under a bar.
  if (beforeUnit === 'min' && unit === 'h') return `${before}–${Number(amount) * 60} min`
  return beforeUnit === unit ? `${before}–${amount} ${unit}` : `${formatSeconds(from)}–${formatSeconds(to)}`
}

/** Every day of the time, also those on which nothing happened. */
export function listDays(insights: Insights, since: string, until: string): Insights['per_day'] {
  const known = new Map(insights.per_day.map((day) => [day.day, day]))
  const days: Insights['per_day'][number][] = []
  for (let at = Date.parse(since); at <= Date.parse(until) && days.length < DAYS_MAX; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10)
    days.push(known.get(day) ?? { day, completed: 0, refusals: 0 })
  }
  const last = until.slice(0, 10)
  if (days.at(-1)?.day !== last) days.push(known.get(last) ?? { day: last, completed: 0, refusals: 0 })
  return days
}

const DAY_MS = 86_400_000
const DAYS_MAX = 400
