import { type ReactNode, useSyncExternalStore } from 'react'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const LOW_MS = MINUTE_MS
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

// Made once: making one takes far longer than using it, and a list that is scrolled uses hundreds.
const CLOCKS = new Intl.DateTimeFormat([], { ...CLOCK })
const CLOCKS_WITH_SECONDS = new Intl.DateTimeFormat([], { ...CLOCK, second: '2-digit' })
const EXACT_TIMES = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'medium' })
const DAYS = new Intl.DateTimeFormat([], { day: 'numeric', month: 'short' })
const COUNTS = new Intl.NumberFormat('en')

/** "48 min", "2 h 41 min", "3 d 4 h". */
export function formatDuration(ms: number): string {
  const positive = Math.max(0, ms)
  if (positive < MINUTE_MS) return `${Math.floor(positive / 1000)} s`
  if (positive < HOUR_MS) return `${Math.floor(positive / MINUTE_MS)} min`
  if (positive < DAY_MS) return joinParts(positive, [HOUR_MS, 'h'], [MINUTE_MS, 'min'])
  return joinParts(positive, [DAY_MS, 'd'], [HOUR_MS, 'h'])
}

function joinParts(ms: number, large: readonly [number, string], small: readonly [number, string]): string {
  const rest = Math.floor((ms % large[0]) / small[0])
  return `${Math.floor(ms / large[0])} ${large[1]}${rest === 0 ? '' : ` ${rest} ${small[1]}`}`
}

export function formatClock(iso: string): string {
  return formatWith(CLOCKS, iso)
}

/** The time of day, with the date where it was not today. */
export function formatMoment(iso: string): string {
  const isToday = new Date(iso).toDateString() === new Date().toDateString()
  return isToday ? formatClock(iso) : `${formatWith(DAYS, iso)}, ${formatClock(iso)}`
}

export function formatClockSeconds(iso: string): string {
  return formatWith(CLOCKS_WITH_SECONDS, iso)
}

/** Date and time with seconds, for tooltips. */
export function formatExact(iso: string): string {
  return formatWith(EXACT_TIMES, iso)
}

export function formatCount(count: number): string {
  return COUNTS.format(count)
}

// A formatter throws on an invalid time; a page must not.
function formatWith(formatter: Intl.DateTimeFormat, iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? 'Invalid Date' : formatter.format(at)
}

// One clock for the whole page: rows that show an age do not each have a timer.
let now = Date.now()
const ticking = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | null = null

function subscribeToClock(listener: () => void): () => void {
  ticking.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const tick of ticking) tick()
  }, 1000)
  return () => {
    ticking.delete(listener)
    if (ticking.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

/** The time now, renewed every second, rounded down so that a component renders only when its text can change. */
export function useNow(stepMs = 1000): number {
  return useSyncExternalStore(subscribeToClock, () => Math.floor(now / stepMs) * stepMs)
}

/** How long ago: "48 min". The exact time is in the tooltip. */
export function Age({ since, prefix = '' }: { readonly since: string; readonly prefix?: string }): ReactNode {
  const current = useNow()
  return (
    <time dateTime={since} title={formatExact(since)}>
      {prefix}
      {formatDuration(current - Date.parse(since))}
    </time>
  )
}

/** A point in time: "14:31", with a day when it is not today's. */
export function Time({ at, seconds }: { readonly at: string; readonly seconds?: boolean }): ReactNode {
  const clock = seconds === true ? formatClockSeconds(at) : formatClock(at)
  const isToday = new Date(at).toDateString() === new Date().toDateString()
  const day = isToday ? '' : `${formatWith(DAYS, at)}, `
  return (
    <time dateTime={at} title={formatExact(at)}>
      {day}
      {clock}
    </time>
  )
}

/** How much of a lease is left: a ring and the time; amber below a minute, red when it is over. */
export function Lease({ until, seconds }: { readonly until: string; readonly seconds: number }): ReactNode {
  const leftMs = Date.parse(until) - useNow()
  const part = Math.max(0, Math.min(100, (leftMs / (seconds * 1000)) * 100))
  const tone = leftMs <= 0 ? ' lease--over' : leftMs < LOW_MS ? ' lease--low' : ''
  return (
    <span className={`lease${tone}`} title={`Lease until ${formatExact(until)}`}>
      <svg className="lease__ring" viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="7" cy="7" r="5.5" />
        <circle cx="7" cy="7" r="5.5" pathLength="100" strokeDasharray={`${part} 100`} />
      </svg>
      <span>
        <span className="sr">Lease, time left: </span>
        {leftMs <= 0 ? 'over' : formatLeft(leftMs)}
      </span>
    </span>
  )
}

function formatLeft(ms: number): string {
  if (ms >= HOUR_MS) return formatDuration(ms)
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
