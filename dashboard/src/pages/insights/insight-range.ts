/** The spans that the page offers, by what stands in the URL. */
export const SPANS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const
export type Span = keyof typeof SPANS

export const SPAN_NAMES: Readonly<Record<Span, string>> = {
  '24h': '24 h',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

export interface TimeRange {
  readonly since: string
  readonly until: string
}

export function isSpan(value: unknown): value is Span {
  return typeof value === 'string' && value in SPANS
}

/** From the span to the end of this minute, so that the same request is asked once a minute and misses nothing. */
export function findRange(span: Span, now: number): TimeRange {
  const until = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS
  return toRange(until - SPANS[span] * DAY_MS, until)
}

/** As long a time, just before it: what the numbers are compared with. */
export function findRangeBefore({ since, until }: TimeRange): TimeRange {
  const start = Date.parse(since)
  return toRange(start - (Date.parse(until) - start), start)
}

function toRange(since: number, until: number): TimeRange {
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
}

/** `9 to 15 November 2026`, or with both months where they differ. */
export function describeRange({ since, until }: TimeRange): string {
  const [from, to] = [new Date(since), new Date(until)]
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric' })
  const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long' })
  const whole = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
  const isSameMonth = from.getMonth() === to.getMonth() && from.getFullYear() === to.getFullYear()
  if (isSameMonth && from.getDate() === to.getDate()) return whole.format(to)
  return `${(isSameMonth ? day : dayAndMonth).format(from)} to ${whole.format(to)}`
}
