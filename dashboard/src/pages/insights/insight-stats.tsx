import type { ReactNode } from 'react'
import { nameNumber } from './find-behind.js'
import {
  computeFirstTry,
  computeRefusalsPerTask,
  formatCount,
  formatSeconds,
  type Insights,
  sumTokens,
} from './insight-numbers.js'
import type { RenderNumber } from './insight-panels.js'
import { Spark } from './insight-plots.js'

interface StatsProps {
  readonly insights: Insights
  readonly before: Insights | null
  readonly numberLink: RenderNumber
}

/** The five numbers that matter, each beside that of the time before. */
export function InsightStats({ insights, before, numberLink }: StatsProps): ReactNode {
  const stats = listStats(insights, before)
  return (
    <div className="ins-stats">
      {stats.map(({ name, number, unit, sub, link, days }) =>
        numberLink(
          link,
          <>
            <span className="ins-stat-name">{name}</span>
            <span className="ins-stat-number">
              {number} <small>{unit}</small>
            </span>
            <span className="ins-stat-sub">{sub}</span>
            {days.length === 0 ? null : <Spark values={days} />}
          </>,
          { className: 'ins-stat' },
        ),
      )}
    </div>
  )
}

interface Stat {
  readonly name: string
  readonly number: string
  readonly unit: string
  readonly sub: ReactNode
  readonly link: string
  readonly days: readonly number[]
}

function listStats(insights: Insights, before: Insights | null): readonly Stat[] {
  const firstTry = computeFirstTry(insights.first_try)
  const perTask = computeRefusalsPerTask(insights)
  const { waiting, count } = insights.approvals
  const perDay = (value: (day: Insights['per_day'][number]) => number) => insights.per_day.map(value)
  return [
    {
      name: 'Gates passed at first try',
      number: firstTry === null ? '–' : String(firstTry),
      unit: firstTry === null ? '' : '%',
      sub: (
        <Change
          now={firstTry}
          before={before === null ? null : computeFirstTry(before.first_try)}
          unit="points"
          more="better"
        />
      ),
      link: nameNumber('all', 'gates'),
      days: [],
    },
    {
      name: 'Refusals per task',
      number: perTask === null ? '–' : perTask.toFixed(1),
      unit: '',
      sub: (
        <>
          {formatCount(insights.refusals.total)} in {formatCount(insights.tasks.total)} tasks{' '}
          <Change now={perTask} before={before === null ? null : computeRefusalsPerTask(before)} unit="" more="worse" />
        </>
      ),
      link: nameNumber('all', 'refusals'),
      days: perDay((day) => day.refusals),
    },
    {
      name: 'Tasks completed',
      number: formatCount(insights.tasks.completed),
      unit: `of ${formatCount(insights.tasks.total)}`,
      sub: `${insights.tasks.open} open, ${insights.tasks.parked} parked, ${insights.tasks.cancelled} cancelled`,
      link: nameNumber('all', 'tasks'),
      days: perDay((day) => day.completed),
    },
    {
      name: 'Approval waits, median',
      number: waiting.median === null || count === 0 ? '–' : formatSeconds(waiting.median),
      unit: '',
      sub: count === 1 ? '1 approval' : `${formatCount(count)} approvals`,
      link: nameNumber(
        'waits',
        String(
          Math.max(
            0,
            insights.approvals.histogram.findLastIndex((bin) => bin.count > 0),
          ),
        ),
      ),
      days: [],
    },
    {
      name: 'Tokens',
      number: formatCount(sumTokens(insights.phases)),
      unit: '',
      sub:
        insights.tasks.total === 0
          ? ''
          : `${formatCount(Math.round(sumTokens(insights.phases) / insights.tasks.total))} per task`,
      link: nameNumber('all', 'tokens'),
      days: [],
    },
  ]
}

/** By how much a number changed, and whether that is good. Nothing where there is nothing to compare with. */
function Change({
  now,
  before,
  unit,
  more,
}: {
  readonly now: number | null
  readonly before: number | null
  readonly unit: string
  readonly more: 'better' | 'worse'
}): ReactNode {
  if (now === null || before === null) return null
  const by = now - before
  const size = Number.isInteger(by) ? Math.abs(by) : Math.abs(by).toFixed(1)
  if (Number(size) === 0) return <>as in the time before</>
  const isGood = by > 0 === (more === 'better')
  const word = more === 'better' ? (by > 0 ? 'better' : 'worse') : by > 0 ? 'more' : 'fewer'
  return (
    <span className={isGood ? 'ok' : 'bad'}>
      {size} {unit === '' ? '' : `${unit} `}
      {word}
    </span>
  )
}
