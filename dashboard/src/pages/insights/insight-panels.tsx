import type { ReactNode } from 'react'
import { Panel } from '../../ui/layout-parts.js'
import { ScrollBox } from '../../ui/scroll-box.js'
import { nameNumber } from './find-behind.js'
import { findTimeScale, formatCount, formatSeconds, type Insights, listPhases } from './insight-numbers.js'
import { DayBars, findHeat, ShareBar, SpreadRow, WaitBars } from './insight-plots.js'

/** A link to what is behind a number. */
export type RenderNumber = (
  name: string,
  children: ReactNode,
  /** `label`: said instead of a number that stands alone. */
  about?: { readonly label?: string; readonly className?: string },
) => ReactNode

interface PanelProps {
  readonly insights: Insights
  readonly numberLink: RenderNumber
}

const LOW_PERCENT = 65

export function GatesPanel({ insights, numberLink }: PanelProps) {
  return (
    <Panel title="Gates passed at first try" className="ins-narrow">
      {insights.first_try.length === 0 ? <p className="muted">No gate was tried in this time.</p> : null}
      <div className="ins-gates">
        {insights.first_try.map(({ phase, gate, attempts, passed_first }) => {
          const percent = attempts === 0 ? 0 : Math.round((passed_first / attempts) * 100)
          return numberLink(
            nameNumber('gate', phase, gate ?? ''),
            <>
              <span className="ins-gate">
                <span className="phase">{phase}</span> <span className="mono">{gate ?? 'checkpoint'}</span>
              </span>
              <span className="ins-value">
                <b>{percent} %</b> {passed_first} of {attempts}
              </span>
              <ShareBar percent={percent} low={LOW_PERCENT} />
            </>,
          )
        })}
      </div>
    </Panel>
  )
}

export function DaysPanel({ insights, numberLink, perDay }: PanelProps & { readonly perDay: Insights['per_day'] }) {
  const { refusals } = insights
  const days = perDay.map(({ day, refusals: count }) => ({ day, label: nameDay(day, perDay.length), count }))
  return (
    <Panel title="Refusals by code" sub={`${refusals.total} in all, per day`} className="ins-wide">
      <ul className="ins-legend">
        {refusals.by_code.slice(0, LEGEND_MAX).map(({ key, count }) => (
          <li key={key}>
            {numberLink(
              nameNumber('code', key),
              <>
                <span className="mono">{key}</span> <b>{count}</b>
                <span className="sr"> refusals</span>
              </>,
            )}
          </li>
        ))}
        {refusals.by_code.length > LEGEND_MAX ? (
          <li className="muted">{refusals.by_code.length - LEGEND_MAX} more codes</li>
        ) : null}
      </ul>
      {refusals.total === 0 ? (
        <p className="muted">Nothing was refused in this time.</p>
      ) : (
        <DayBars
          days={days}
          label={`Refusals per day: ${days.map(({ label, count }) => `${label.join(' ')}: ${count}`).join(', ')}`}
        />
      )}
    </Panel>
  )
}

const LEGEND_MAX = 8

function nameDay(day: string, count: number): readonly [string, string] {
  const at = new Date(`${day}T12:00:00Z`)
  const format = (part: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', part).format(at)
  return [format(count <= 8 ? { weekday: 'short' } : { month: 'short' }), format({ day: 'numeric' })]
}

export function TimePanel({ insights, numberLink }: PanelProps) {
  const scale = findTimeScale(Math.max(1, ...insights.phases.map(({ seconds }) => seconds.p90)))
  return (
    <Panel title="Time and tokens by phase" sub="median, middle half, 10 to 90 %" className="ins-wide">
      {insights.phases.length === 0 ? <p className="muted">No phase was visited in this time.</p> : null}
      <div className="ins-times">
        {insights.phases.map((phase) => (
          <div key={phase.phase} className="ins-time">
            <span className="phase">{phase.phase}</span>
            <SpreadRow phase={phase} scale={scale} />
            {numberLink(nameNumber('time', phase.phase), formatSeconds(phase.seconds.median), {
              label: `${phase.phase}: median ${formatSeconds(phase.seconds.median)} in ${phase.visits} visits`,
              className: 'ins-link',
            })}
            <span className="muted" title={`median ${phase.tokens.median}, 90 % under ${phase.tokens.p90}`}>
              {formatCount(phase.tokens.median)} tokens
            </span>
          </div>
        ))}
        {insights.phases.length === 0 ? null : (
          <div className="ins-time ins-axis" aria-hidden="true">
            <span />
            <span>
              <span>0</span>
              <span>{formatSeconds(scale / 2)}</span>
              <span>{formatSeconds(scale)}</span>
            </span>
          </div>
        )}
      </div>
    </Panel>
  )
}

export function StuckPanel({ insights, numberLink }: PanelProps) {
  return (
    <Panel title="Where tasks get stuck" className="ins-narrow" flush>
      {insights.stuck.length === 0 ? <p className="ins-pad muted">No task got stuck in this time.</p> : null}
      {insights.stuck.length === 0 ? null : (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">What happened</th>
              <th scope="col">In</th>
              <th scope="col" className="r">
                Tasks
              </th>
            </tr>
          </thead>
          <tbody>
            {insights.stuck.map(({ phase, reason, count }) => (
              <tr key={`${phase} ${reason}`}>
                <td>{reason}</td>
                <td>
                  <span className="phase">{phase}</span>
                </td>
                <td className="r">
                  {numberLink(nameNumber('stuck', phase, reason), count, {
                    label: `${count} tasks stuck in ${phase}: ${reason}`,
                    className: 'ins-link',
                  })}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

const CODES_MAX = 10

export function HeatPanel({ insights, numberLink }: PanelProps) {
  const phases = listPhases(insights).filter((phase) => insights.refusals.matrix.some((cell) => cell.phase === phase))
  const counts = new Map(insights.refusals.matrix.map(({ phase, code, count }) => [`${phase} ${code}`, count]))
  const codes = insights.refusals.by_code.slice(0, CODES_MAX)
  const max = Math.max(0, ...counts.values())
  return (
    <Panel title="Refusals by phase and code" className="ins-wide">
      {codes.length === 0 ? <p className="muted">Nothing was refused in this time.</p> : null}
      {codes.length === 0 ? null : (
        <ScrollBox className="ins-scroll" label="Refusals by phase and code">
          <table className="ins-heat">
            <thead>
              <tr>
                <th scope="col">Code</th>
                {phases.map((phase) => (
                  <th key={phase} scope="col" className="phase">
                    {phase}
                  </th>
                ))}
                <th scope="col">All</th>
              </tr>
            </thead>
            <tbody>
              {codes.map(({ key, count }) => (
                <tr key={key}>
                  <th scope="row" className="mono">
                    {key}
                  </th>
                  {phases.map((phase) => {
                    const cell = counts.get(`${phase} ${key}`) ?? 0
                    return (
                      <td key={phase} className={`ins-heat-${findHeat(cell, max)}`}>
                        {numberLink(nameNumber('events', phase, key), cell, { label: `${key} in ${phase}: ${cell}` })}
                      </td>
                    )
                  })}
                  <td className="ins-sum">
                    {numberLink(nameNumber('code', key), count, { label: `${key}: ${count}`, className: 'ins-link' })}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
    </Panel>
  )
}

export function WaitsPanel({ insights, numberLink }: PanelProps) {
  const { count, waiting, histogram } = insights.approvals
  return (
    <Panel title="How long approvals waited" sub={`${count} in all`} className="ins-narrow">
      {count === 0 ? <p className="muted">No approval was asked for in this time.</p> : null}
      {count === 0 ? null : (
        <WaitBars
          bins={histogram}
          renderBin={(bin, name, bar) =>
            numberLink(
              nameNumber('waits', String(histogram.indexOf(bin))),
              <>
                {bar}
                <b>{bin.count}</b>
                <span>{name}</span>
              </>,
            )
          }
        />
      )}
      {waiting.max === null || count === 0 ? null : (
        <p className="ins-note">
          The longest waited {formatSeconds(waiting.max)}; nine of ten waited {formatSeconds(waiting.p90 ?? 0)} or less.
        </p>
      )}
    </Panel>
  )
}

const AGENTS_MAX = 12

export function AgentsPanel({ insights, numberLink }: PanelProps) {
  const rows = insights.refusals.by_agent.slice(0, AGENTS_MAX)
  const max = Math.max(1, ...rows.map(({ count }) => count))
  return (
    <Panel title="Refusals by agent" className="ins-full">
      {rows.length === 0 ? <p className="muted">Nothing was refused in this time.</p> : null}
      <div className="ins-gates">
        {rows.map(({ key, count }) =>
          numberLink(
            nameNumber('agent', key),
            <>
              <span className="ins-gate">{key}</span>
              <span className="ins-value">
                <b>{count}</b>
                <span className="sr"> refusals</span>
              </span>
              <ShareBar percent={(count / max) * 100} />
            </>,
          ),
        )}
      </div>
    </Panel>
  )
}
