import type { ReactNode } from 'react'
import { findScale, formatSeconds, nameBin, type PhaseNumbers, type WaitBin } from './insight-numbers.js'

const SPARK = { width: 100, height: 28, top: 4, bottom: 26 } as const

/** A line without axes: only whether it rises or falls. */
export function Spark({ values }: { readonly values: readonly number[] }) {
  if (values.length < 2) return <svg className="ins-spark" aria-hidden="true" viewBox="0 0 100 28" />
  const max = Math.max(...values)
  const min = Math.min(...values)
  const points = values.map((value, index) => {
    const share = max === min ? 0.5 : (value - min) / (max - min)
    const x = (index / (values.length - 1)) * SPARK.width
    return `${x.toFixed(1)} ${(SPARK.bottom - share * (SPARK.bottom - SPARK.top)).toFixed(1)}`
  })
  const line = `M${points.join(' L')}`
  return (
    <svg className="ins-spark" viewBox="0 0 100 28" preserveAspectRatio="none" aria-hidden="true">
      <path className="ins-spark-area" d={`${line} L100 28 L0 28Z`} />
      <path d={line} />
    </svg>
  )
}

export interface DayBar {
  readonly day: string
  /** `Tue` and `10`: narrow screens show the second part only. */
  readonly label: readonly [string, string]
  readonly count: number
}

const LABELS_MAX = 14

/** One bar a day. With many days only some are named. */
export function DayBars({ days, label }: { readonly days: readonly DayBar[]; readonly label: string }) {
  const scale = findScale(Math.max(0, ...days.map(({ count }) => count)))
  const slot = 100 / Math.max(1, days.length)
  const every = Math.ceil(days.length / LABELS_MAX)
  return (
    <div className="ins-days">
      <div className="ins-days-scale" aria-hidden="true">
        {[4, 3, 2, 1, 0].map((part) => (
          <span key={part}>{(scale / 4) * part}</span>
        ))}
      </div>
      <svg className="ins-days-plot" role="img" aria-label={label}>
        {[0, 25, 50, 75, 100].map((y) => (
          <line key={y} className={y === 100 ? 'ins-base' : 'ins-grid'} x1="0" x2="100%" y1={`${y}%`} y2={`${y}%`} />
        ))}
        {days.map(({ day, count }, index) => (
          <rect
            key={day}
            x={`${index * slot + slot * 0.2}%`}
            width={`${slot * 0.6}%`}
            y={`${100 - (count / scale) * 100}%`}
            height={`${(count / scale) * 100}%`}
          />
        ))}
      </svg>
      <div className="ins-days-names" aria-hidden="true">
        {days.map(({ day, label: name, count }, index) => (
          <span key={day}>
            {index % every === 0 ? (
              <>
                <span className="hide-s">{name[0]}</span> {name[1]}
                <b>{count}</b>
              </>
            ) : null}
          </span>
        ))}
      </div>
    </div>
  )
}

/** A share as a bar; under `low` percent it is amber, because somebody should look. */
export function ShareBar({ percent, low = 0 }: { readonly percent: number; readonly low?: number }) {
  return (
    <svg className="ins-share" aria-hidden="true">
      <rect className="ins-track" width="100%" height="6" rx="3" />
      <rect className={percent < low ? 'ins-fill ins-fill-low' : 'ins-fill'} width={`${percent}%`} height="6" rx="3" />
    </svg>
  )
}

/** Median, middle half and the tenth to the ninetieth percentile of the time in a phase. */
export function SpreadRow({ phase, scale }: { readonly phase: PhaseNumbers; readonly scale: number }) {
  const { p10, p25, median, p75, p90 } = phase.seconds
  const at = (seconds: number) => `${Math.min(100, (seconds / scale) * 100).toFixed(1)}%`
  const width = `${Math.max(0.6, Math.min(100, ((p75 - p25) / scale) * 100)).toFixed(1)}%`
  const said = `median ${formatSeconds(median)}, half between ${formatSeconds(p25)} and ${formatSeconds(p75)}`
  return (
    <svg className="ins-spread" role="img" aria-label={`${phase.phase}: ${said}`}>
      <line className="ins-whisker" x1={at(p10)} x2={at(p90)} y1="10" y2="10" />
      <rect className="ins-half" x={at(p25)} width={width} y="3" height="14" rx="2" />
      <line className="ins-median" x1={at(median)} x2={at(median)} y1="2" y2="18" />
    </svg>
  )
}

/** How dark a cell of the table of refusals is: 0 for none, 3 for the most. */
export function findHeat(count: number, max: number): 0 | 1 | 2 | 3 {
  if (count === 0 || max === 0) return 0
  const share = count / max
  return share > 0.5 ? 3 : share > 0.2 ? 2 : 1
}

const LONG_WAIT_SECONDS = 4 * 3600

/** How many approvals waited how long; the last bin, which has no end, is amber. */
export function WaitBars({
  bins,
  renderBin,
}: {
  readonly bins: readonly WaitBin[]
  readonly renderBin: (bin: WaitBin, name: string, bar: ReactNode) => ReactNode
}) {
  const max = Math.max(1, ...bins.map(({ count }) => count))
  return (
    <div className="ins-waits">
      {bins.map((bin, index) => {
        const height = (bin.count / max) * 100
        const from = bins[index - 1]?.up_to_seconds ?? 0
        return renderBin(
          bin,
          nameBin(bins, index),
          <svg aria-hidden="true">
            <rect
              className={from >= LONG_WAIT_SECONDS ? 'ins-over' : ''}
              y={`${100 - height}%`}
              width="100%"
              height={`${height}%`}
              rx="2"
            />
          </svg>,
        )
      })}
    </div>
  )
}
