import { CheckList } from '../../ui/checks.js'
import { KeyValues, Panel } from '../../ui/layout-parts.js'
import { Gate } from '../../ui/marks.js'
import { PlainText } from '../../ui/text/plain-text.js'
import type { GateState, TaskStateAt } from './task-types.js'

const LOOKS = { passed: 'open', blocked: 'closed', waiting: 'waiting', not_tried: 'ahead' } as const
const WORDS = {
  passed: 'is open',
  blocked: 'is closed',
  waiting: 'waits for a person',
  not_tried: 'has not been tried',
} as const

const OVER: readonly string[] = ['completed', 'cancelled']

/** Beside the timeline: the gates of the phase, what the agent is told, and the facts. */
export function NowRail({ state, nextStep }: { readonly state: TaskStateAt; readonly nextStep: string | null }) {
  const { task } = state
  const gates = state.gates.filter(({ phase }) => phase === task.phase)
  return (
    <aside className="rail" aria-label="As it stands">
      {gates.map((gate) => (
        <GatePanel key={gate.id} gate={gate} />
      ))}
      {nextStep !== null && nextStep !== '' && !OVER.includes(task.status) && (
        <Panel title={`What ${task.agent_id ?? 'the agent'} is told now`}>
          <p className="quote agent-text">
            <PlainText text={nextStep} charsMax={1500} />
          </p>
        </Panel>
      )}
      <section className="panel panel--sunk">
        <div className="panel__body">
          <KeyValues
            rows={[
              ['Epoch', String(task.epoch)],
              ['Mode', task.mode],
              ['Work tree', <Place key="tree" path={task.workspace} />],
              ['Branch', task.worktree === undefined ? null : task.worktree.branch],
              ['Based on', task.worktree === undefined ? null : task.worktree.base.slice(0, 12)],
              ['Merges into', task.worktree?.into ?? null],
            ]}
          />
        </div>
      </section>
    </aside>
  )
}

/** A long path below its name, from the left. */
function Place({ path }: { readonly path: string }) {
  return (
    <span className="mono kv__long">
      <PlainText text={path} charsMax={300} />
    </span>
  )
}

function GatePanel({ gate }: { readonly gate: GateState }) {
  const name = `${gate.id} ${WORDS[gate.status]}`
  return (
    <Panel
      flush
      title={
        <span className="gate-title">
          <Gate state={LOOKS[gate.status]} label="" />
          <PlainText text={name} charsMax={120} />
        </span>
      }
    >
      {gate.checks.length > 0 && <CheckList checks={gate.checks} />}
      {gate.checks.length === 0 && <p className="pad muted">{describeEmpty(gate)}</p>}
    </Panel>
  )
}

function describeEmpty({ status, type, phase }: GateState): string {
  if (status === 'not_tried') return `Its checks run when the agent asks to leave ${phase}.`
  return type === 'approval' ? 'It has no checks: a person decides.' : 'It has no checks.'
}
