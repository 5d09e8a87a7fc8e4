import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.js'
import { type Tone, toToneClass } from './tone.js'

interface BadgeProps {
  readonly tone?: Tone
  readonly icon?: IconName
  readonly plain?: boolean
  readonly children: ReactNode
}

/** A state in a word. What is normal gets none. */
export function Badge({ tone = 'neutral', icon, plain, children }: BadgeProps): ReactNode {
  return (
    <span className={`badge ${toToneClass(tone)}${plain === true ? ' badge--plain' : ''}`}>
      {icon === undefined ? null : <Icon name={icon} size={12} />}
      {children}
    </span>
  )
}

/** A code of the error table. */
export function Code({ children, tone = 'refused' }: { readonly children: string; readonly tone?: Tone }): ReactNode {
  return <span className={`code ${toToneClass(tone)}`}>{children}</span>
}

/** A phase, written as in the contract. */
export function Phase({ children }: { readonly children: string | null }): ReactNode {
  return children === null ? null : <span className="phase">{children}</span>
}

/** Two letters for an agent or a person. */
export function Avatar({ name, person, small }: { name: string; person?: boolean; small?: boolean }): ReactNode {
  const classes = `avatar${person === true ? ' avatar--person' : ''}${small === true ? ' avatar--sm' : ''}`
  return (
    <span className={classes} aria-hidden="true">
      {toInitials(name)}
    </span>
  )
}

function toInitials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '?', last] = [words[0], words.length > 1 ? words.at(-1) : undefined]
  return (last === undefined ? first.slice(0, 2) : `${first.slice(0, 1)}${last.slice(0, 1)}`).toUpperCase()
}

const GRADES = ['reported', 'artifact', 'observed', 'proved'] as const
export type GradeName = (typeof GRADES)[number]

const GRADE_MEANS: Readonly<Record<GradeName, string>> = {
  reported: 'Rests on the agent’s word',
  artifact: 'Read from what the agent handed in',
  observed: 'Phaselock ran it and saw the result',
  proved: 'Phaselock ran it, and showed that it can fail',
}

/** What a result is worth. Stands beside a result, never alone. */
export function Grade({ grade }: { readonly grade: string | null }): ReactNode {
  const worth = GRADES.indexOf(grade as GradeName)
  if (grade === null || worth === -1) return grade === null ? null : <span className="grade">{grade}</span>
  return (
    <span className={`grade grade--${grade}`} title={GRADE_MEANS[grade as GradeName]}>
      <svg className="grade__bars" viewBox="0 0 13 9" aria-hidden="true">
        {GRADES.map((name, index) => (
          <rect
            key={name}
            className={index > worth ? 'off' : undefined}
            x={index * 3.5}
            y={6 - index * 2}
            width="2.5"
            height={3 + index * 2}
            rx="0.5"
          />
        ))}
      </svg>
      {grade}
    </span>
  )
}

export type GateState = 'open' | 'waiting' | 'closed' | 'ahead'
const GATE_CLASS: Readonly<Record<GateState, string>> = {
  open: 'gate--open',
  waiting: 'gate--wait',
  closed: 'gate--shut',
  ahead: '',
}

/** A lock between two phases. The label says its name and state. */
export function Gate({
  state,
  label,
  className = '',
}: {
  state: GateState
  label: string
  className?: string
}): ReactNode {
  return (
    <span className={`gate ${GATE_CLASS[state]} ${className}`} title={label}>
      <Icon name={state === 'open' ? 'open' : 'lock'} />
      <span className="sr">{label}</span>
    </span>
  )
}

export type PhaseState = 'done' | 'current' | 'waiting' | 'parked' | 'ahead'

/** The phases of a task in one line. */
export function PhaseBar({ phases }: { readonly phases: readonly { id: string; state: PhaseState }[] }): ReactNode {
  const done = phases.filter(({ state }) => state === 'done').length
  return (
    <span className="pbar" role="img" aria-label={`${done} of ${phases.length} phases done`}>
      {phases.map(({ id, state }) => (
        <i key={id} className={state} />
      ))}
    </span>
  )
}

/** How many tries are used, and how many there were. */
export function Pips({ used, max }: { readonly used: number; readonly max: number }): ReactNode {
  const count = Math.min(max, 10)
  return (
    <span className="pips" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pips have no other identity
        <i key={index} className={index < used ? 'on' : undefined} />
      ))}
    </span>
  )
}

/** Refusals of a task. */
export function Refusals({ count }: { readonly count: number }): ReactNode {
  if (count === 0) return null
  return (
    <span className="refs" title={`${count} ${count === 1 ? 'refusal' : 'refusals'}`}>
      <Icon name="ban" />
      <span className="sr">Refusals: </span>
      {count}
    </span>
  )
}

/** Added and removed lines. */
export function Delta({ additions, deletions }: { readonly additions: number; readonly deletions: number }): ReactNode {
  return (
    <span className="delta">
      <span className="add">+{additions}</span> <span className="del">−{deletions}</span>
    </span>
  )
}
