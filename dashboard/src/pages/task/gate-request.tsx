import { CheckList } from '../../ui/checks.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { isWaiting } from './describe-event.js'
import { RawEvents } from './raw-event.js'
import { type Blocker, type CheckState, type Grade, readRecords, readText, type TaskEvent } from './task-types.js'

/** A check in `transition_requested`. */
interface CheckSeen {
  readonly gate: string | null
  readonly artifact: string | null
  readonly check: string
  readonly severity: string
  readonly result: 'holds' | 'fails' | 'error' | 'not_run'
  readonly grade: Grade | null
  readonly found: string
}

interface RunSeen {
  readonly command: string
  readonly duration_ms: number
  readonly cached: boolean
}

/** What a request to leave a phase met: every check with its grade, what was in the way, and which commands ran. */
export function GateRequest({ asked, outcome }: { readonly asked: TaskEvent | null; readonly outcome: TaskEvent }) {
  const checks = listChecks(asked, outcome)
  const others = listOtherBlockers(outcome, checks)
  const runs = asked === null ? [] : readRecords<RunSeen>(asked.data, 'observed')
  const code = readText(outcome.data, 'code')
  const holds = checks.filter(({ status }) => status === 'passed').length
  return (
    <div className="gatebox">
      <div className="gatebox__head">
        <span className="mono strong">
          <PlainText text={readText(outcome.data, 'gate') || 'no gate'} charsMax={100} />
        </span>
        {outcome.type === 'gate_blocked' ? (
          <span className={`code ${isWaiting(code) ? 'tone-pending' : 'tone-refused'}`}>{code}</span>
        ) : (
          <span className="ok">{checks.length === 0 ? 'open' : `${holds} of ${checks.length} checks hold`}</span>
        )}
        <span className="gatebox__end">{runs.length > 0 && formatRuns(runs)}</span>
        <RawEvents events={asked === null ? [outcome] : [asked, outcome]} />
      </div>
      <CheckList checks={[...checks, ...others]} />
    </div>
  )
}

/** The checks of a request: those that the request recorded, else what blocked or warned. */
export function listChecks(asked: TaskEvent | null, outcome: TaskEvent): readonly CheckState[] {
  const seen = asked === null ? [] : readRecords<CheckSeen>(asked.data, 'checks')
  const found = listFound(outcome)
  return seen.map((check) => {
    const blocker = found.find((one) => one.check === check.check && one.gate === check.gate)
    return {
      check: check.check,
      status: toStatus(check),
      grade: check.grade,
      message: blocker?.message ?? check.found,
      remedy: blocker?.remedy ?? null,
    }
  })
}

function toStatus({ result, severity }: CheckSeen): CheckState['status'] {
  if (result === 'holds') return 'passed'
  if (result === 'not_run') return 'not_run'
  return severity === 'warning' ? 'warning' : 'failed'
}

function listOtherBlockers(outcome: TaskEvent, checks: readonly CheckState[]): readonly CheckState[] {
  return listFound(outcome)
    .filter((one) => !checks.some(({ check }) => check === one.check))
    .map((one) => ({
      check: one.check ?? one.artifact ?? one.code,
      status: findBlockerStatus(one),
      grade: one.grade ?? null,
      message: one.message,
      remedy: one.remedy,
    }))
}

// What waits for people has not failed.
function findBlockerStatus({ code, severity }: Blocker): CheckState['status'] {
  if (isWaiting(code)) return 'not_run'
  return severity === 'warning' ? 'warning' : 'failed'
}

function listFound({ data }: TaskEvent): readonly Blocker[] {
  return [
    ...readRecords<Blocker>(data, 'blockers'),
    ...readRecords<Blocker>(data, 'violations'),
    ...readRecords<Blocker>(data, 'warnings'),
  ]
}

function formatRuns(runs: readonly RunSeen[]): string {
  const seconds = Math.round(runs.reduce((sum, run) => sum + (run.cached ? 0 : run.duration_ms), 0) / 1000)
  const commands = [...new Set(runs.map(({ command }) => command))]
  return `Phaselock ran ${commands.slice(0, 2).join(', ')}${commands.length > 2 ? ' and more' : ''}, ${seconds} s`
}
