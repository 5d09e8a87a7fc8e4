import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Icon, type IconName } from '../../ui/icon.js'
import { Panel } from '../../ui/layout-parts.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { type Tone, toToneClass } from '../../ui/tone.js'
import type { DoctorCheck } from './settings-answers.js'

const LOOKS: Readonly<
  Record<DoctorCheck['status'], { readonly icon: IconName; readonly tone: Tone; readonly word: string }>
> = {
  ok: { icon: 'check', tone: 'allowed', word: 'fine' },
  warning: { icon: 'warn', tone: 'pending', word: 'warning' },
  problem: { icon: 'x-circle', tone: 'refused', word: 'problem' },
}

const ORDER: readonly DoctorCheck['status'][] = ['problem', 'warning', 'ok']

/** What `phaselock doctor` says about the server: problems first, each with what to do. */
export function DoctorChecks(): ReactNode {
  const query = useRead<{ readonly checks: readonly DoctorCheck[] }>(keys.doctor, '/doctor')
  return (
    <Panel
      title="Doctor"
      flush
      end={
        <Button icon="retry" busy={query.isFetching} onClick={() => void query.refetch()}>
          Check again
        </Button>
      }
    >
      <Loaded what="The check of the server" query={query} rows={6}>
        {({ checks }) =>
          checks.length === 0 ? (
            <EmptyState icon="ok-circle" title="There is nothing to check" />
          ) : (
            <ul className="checks">
              {[...checks]
                .sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
                .map((check, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: doctor can have two findings of one name
                  <Finding key={index} check={check} />
                ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  )
}

function Finding({ check }: { readonly check: DoctorCheck }): ReactNode {
  const { icon, tone, word } = LOOKS[check.status] ?? LOOKS.problem
  return (
    <li className={`check ${toToneClass(tone)}${check.status === 'ok' ? '' : ' check--tinted'}`}>
      <Icon name={icon} />
      <div className="check__text">
        <p className="check__name">
          <span className="sr">{word}: </span>
          {check.name}
        </p>
        <div className="check__msg">
          {check.detail}
          {check.remedy === null || check.remedy === '' ? null : <p className="check__remedy">{check.remedy}</p>}
        </div>
      </div>
    </li>
  )
}
