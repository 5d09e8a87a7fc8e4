import type { ReactNode } from 'react'
import { Badge, Gate, type GateState as GateLook } from '../../ui/marks.js'
import { formatOrdinal } from '../../ui/text/ordinal.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { formatDuration, useNow } from '../../ui/time.js'
import type { GateState, PhaseState, Task, TaskStateAt } from './task-types.js'

const LOOKS: Readonly<Record<GateState['status'], GateLook>> = {
  passed: 'open',
  blocked: 'closed',
  waiting: 'waiting',
  not_tried: 'ahead',
}
const WORDS: Readonly<Record<GateState['status'], string>> = {
  passed: 'open',
  blocked: 'closed',
  waiting: 'waits for a person',
  not_tried: 'not tried',
}

/** The phases of a task with their visits and times, and the gates between them. */
export function PhaseLine({ state, isPast }: { readonly state: TaskStateAt; readonly isPast: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard
    <section className="stepper-scroll" tabIndex={0} aria-label="Phases">
      <ol className="stepper">
        {state.phases.map((phase, index) => (
          <Step
            key={phase.id}
            phase={phase}
            gate={index === state.phases.length - 1 ? undefined : findGate(state, phase.id)}
            task={state.task}
            isPast={isPast}
            until={isPast ? Date.parse(state.at.time) : findEnd(state.task)}
          />
        ))}
      </ol>
    </section>
  )
}

interface StepProps {
  readonly phase: PhaseState
  readonly gate: GateState | undefined
  readonly task: Task
  readonly isPast: boolean
  /** The moment that is shown, or the end of the task; null: now. */
  readonly until: number | null
}

function Step({ phase, gate, task, isPast, until }: StepProps) {
  const now = useNow()
  // Its own checks may hold: it is not open before a person has decided.
  const isAsked = phase.status === 'current' && task.status === 'awaiting_approval'
  const status = isAsked ? 'waiting' : (gate?.status ?? 'not_tried')
  return (
    <li className={`step ${findLook(phase, task)}`} aria-current={phase.status === 'current' ? 'step' : undefined}>
      {gate !== undefined && <Gate state={LOOKS[status]} label={`Gate ${gate.id}: ${WORDS[status]}`} />}
      <p className="step__name">
        <span className="phase">
          <PlainText text={phase.id} charsMax={64} />
        </span>
        {phase.status === 'current' && <Badge tone={findTone(task)}>{describeStatus(task, isPast)}</Badge>}
      </p>
      <p className="step__meta">
        <Visits phase={phase} now={until ?? now} />
      </p>
    </li>
  )
}

/** A task that is over spends no more time in its last phase. */
function findEnd({ status, updated_at: at }: Task): number | null {
  return status === 'completed' || status === 'cancelled' ? Date.parse(at) : null
}

function findGate({ gates }: TaskStateAt, phase: string): GateState | undefined {
  const own = gates.filter((gate) => gate.phase === phase)
  const order = ['blocked', 'waiting', 'not_tried', 'passed'] as const
  return order.map((status) => own.find((gate) => gate.status === status)).find((gate) => gate !== undefined)
}

function findLook({ status, visits }: PhaseState, task: Task): string {
  if (status === 'done') return 'step--done'
  if (status === 'ahead') return visits.length > 0 ? 'step--back' : ''
  if (task.status === 'parked') return 'step--parked'
  if (task.status === 'completed') return 'step--done'
  if (task.status === 'queued') return ''
  return task.status === 'awaiting_approval' ? 'step--wait' : 'step--now'
}

function findTone({ status }: Task) {
  if (status === 'parked') return 'parked' as const
  if (status === 'completed') return 'allowed' as const
  if (status === 'cancelled') return 'refused' as const
  if (status === 'queued') return 'neutral' as const
  return status === 'active' ? ('running' as const) : ('pending' as const)
}

function describeStatus({ status, checking }: Task, isPast: boolean): string {
  if (checking === true) return 'checking'
  return status === 'active' ? (isPast ? 'then' : 'now') : status.replaceAll('_', ' ')
}

function Visits({ phase: { visits, status }, now }: { readonly phase: PhaseState; readonly now: number }): ReactNode {
  const last = visits.at(-1)
  if (last === undefined) return status === 'ahead' ? 'not reached' : ''
  const lasted = formatDuration((last.left_at === null ? now : Date.parse(last.left_at)) - Date.parse(last.entered_at))
  const before = visits.slice(0, -1)
  if (before.length === 0) return status === 'ahead' ? `${lasted}, went back` : lasted
  const earlier = before.reduce(
    (sum, one) => sum + Date.parse(one.left_at ?? one.entered_at) - Date.parse(one.entered_at),
    0,
  )
  return (
    <>
      {lasted}, {formatOrdinal(visits.length)} visit{' '}
      <span className="more nowrap">({formatDuration(earlier)} before)</span>
    </>
  )
}
