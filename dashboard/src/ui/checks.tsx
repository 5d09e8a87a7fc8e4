import type { ReactNode } from 'react'
import type { CheckStatus } from './check-status.js'
import { Icon, type IconName } from './icon.js'
import { Code, Gate, type GateState, Grade, Pips } from './marks.js'
import { PlainText } from './text/plain-text.js'
import { type Tone, toToneClass } from './tone.js'

const MESSAGE_CHARS_MAX = 2000

export interface CheckResult {
  readonly check: string
  readonly status: CheckStatus
  readonly grade: string | null
  readonly message: string | null
  readonly remedy?: string | null
}

const CHECK_LOOK: Readonly<Record<CheckStatus, { icon: IconName; tone: Tone; word: string }>> = {
  passed: { icon: 'check', tone: 'allowed', word: 'Passed' },
  failed: { icon: 'close', tone: 'refused', word: 'Failed' },
  warning: { icon: 'warn', tone: 'pending', word: 'Warning' },
  not_run: { icon: 'clock', tone: 'neutral', word: 'Not run' },
}

/** The checks of a gate, in the order in which they ran, each with what its result is worth. */
export function CheckList({ checks }: { readonly checks: readonly CheckResult[] }): ReactNode {
  return (
    <ul className="checks">
      {checks.map(({ check, status, grade, message, remedy }, index) => {
        const { icon, tone, word } = findLook(status, message)
        const tinted = status === 'failed' || status === 'warning' ? ' check--tinted' : ''
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a gate may ask for the same check twice
          <li key={`${check} ${index}`} className={`check ${toToneClass(tone)}${tinted}`}>
            <Icon name={icon} />
            <div className="check__text">
              <p className="check__name">
                <span className="sr">{word}: </span>
                <PlainText text={check} charsMax={200} />
              </p>
              <div className="check__msg">
                <PlainText text={message ?? ''} charsMax={MESSAGE_CHARS_MAX} />
                {status === 'failed' && remedy ? (
                  <p className="check__remedy">
                    <PlainText text={remedy} charsMax={MESSAGE_CHARS_MAX} />
                  </p>
                ) : null}
              </div>
            </div>
            {grade !== null ? <Grade grade={grade} /> : null}
            {grade === null && status === 'not_run' ? <span className="muted nowrap">no result</span> : null}
          </li>
        )
      })}
    </ul>
  )
}

// A check that had nothing to judge yet keeps no gate closed, but it has not shown anything either.
function findLook(status: CheckStatus, message: string | null): (typeof CHECK_LOOK)[CheckStatus] {
  if (status === 'passed' && message?.startsWith('not judged') === true) return CHECK_LOOK.not_run
  return CHECK_LOOK[status] ?? CHECK_LOOK.not_run
}

interface GateBoxProps {
  readonly name: string
  readonly state?: GateState
  readonly phase?: string | null
  readonly end?: ReactNode
  readonly checks: readonly CheckResult[]
}

const GATE_WORDS: Readonly<Record<GateState, string>> = {
  open: 'open',
  waiting: 'waits for a person',
  closed: 'closed',
  ahead: 'not reached',
}

/** A gate with its checks. */
export function GateBox({ name, state, phase, end, checks }: GateBoxProps): ReactNode {
  return (
    <div className="gatebox">
      <div className="gatebox__head">
        {state === undefined ? null : <Gate state={state} label={`Gate ${name}: ${GATE_WORDS[state]}`} />}
        {phase ? <span className="phase">{phase}</span> : null}
        <span className="mono">{name}</span>
        {state === undefined ? null : <span className="muted">{GATE_WORDS[state]}</span>}
        {end === undefined ? null : <span className="gatebox__end">{end}</span>}
      </div>
      {checks.length === 0 ? null : <CheckList checks={checks} />}
    </div>
  )
}

interface RefusalProps {
  readonly code: string
  readonly title: string
  readonly tried: ReactNode
  readonly why: ReactNode
  readonly remedy: ReactNode
  readonly tries?: { readonly used: number; readonly max: number } | null
  /** At the end of its first line. */
  readonly end?: ReactNode
  readonly foot?: ReactNode
}

/** An opened refusal: what was tried, why it was refused, what to do. */
export function RefusalCard({ code, title, tried, why, remedy, tries, end, foot }: RefusalProps): ReactNode {
  return (
    <div className="refusal">
      <div className="refusal__head">
        <Code>{code}</Code>
        <span>{title}</span>
        <span className="refusal__tries">
          {tries ? (
            <>
              <Pips used={tries.used} max={tries.max} /> try {tries.used} of {tries.max}
            </>
          ) : null}
        </span>
        {end}
      </div>
      <div className="refusal__grid">
        <RefusalPart title="What it tried">{tried}</RefusalPart>
        <RefusalPart title="Why it was refused">{why}</RefusalPart>
        <RefusalPart title="What to do">{remedy}</RefusalPart>
      </div>
      {foot === undefined ? null : <div className="refusal__foot">{foot}</div>}
    </div>
  )
}

function RefusalPart({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="refusal__part">
      <h4>{title}</h4>
      <p>{children}</p>
    </div>
  )
}
