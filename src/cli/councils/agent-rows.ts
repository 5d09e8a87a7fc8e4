import { type CoordinationRun, tally } from '../../core/councils/council.js'
import { type AgentStatus, buildRunStatus } from '../../core/councils/status.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatCount, formatDuration } from '../../core/text.js'
import { countColumns, cut, padText } from '../terminal/table.js'
import { paintText } from '../terminal/terminal.js'
import type { Size } from '../terminal/top-frame.js'
import type { Lane, Live } from './live-council.js'

const LANE_LINES = 2
const INDENT = '    '
const NAME_COLUMNS_MAX = 28

/** The agents of a council, one block each, within the given lines and columns. Everything in it is safe to print. */
export function renderLanes(live: Live, { columns, rows }: Size, now: number): readonly string[] {
  const { run } = live
  if (run === null || rows < 1) return []
  const head = paintText('bold', cut(formatHeadLine(run, now), columns))
  const agents = [...run.ids.values()]
  const room = rows - 1
  // Rather show all agents without their output than some with it.
  const isRoomy = agents.length * LANE_LINES <= room
  const shown = isRoomy || agents.length <= room ? agents.length : Math.max(0, room - 1)
  const { agents: statuses } = buildRunStatus(run, now)
  const wide = Math.min(NAME_COLUMNS_MAX, Math.max(...agents.map((id) => countColumns(formatLaneName(run, id)))))
  const lanes = agents.slice(0, shown).flatMap((id) => {
    const status = statuses[id]
    if (status === undefined) return []
    const lane = live.lanes.get(id)
    const line = cut(formatLaneLine({ name: padText(formatLaneName(run, id), wide), run, id, status, lane }), columns)
    return isRoomy
      ? [paintLine(line, status), paintText('dim', cut(getLastLine(lane), columns))]
      : [paintLine(line, status)]
  })
  const left = agents.length - shown
  return [head, ...lanes, ...(left > 0 && room > 0 ? [cut(`… and ${formatCount(left, 'more agent')}`, columns)] : [])]
}

function formatHeadLine(run: CoordinationRun, now: number): string {
  const seconds = Math.max(0, Math.floor(((run.endedAt ?? now) - run.startedAt) / 1000))
  const votes = [...tally(run).values()].reduce((sum, count) => sum + count, 0)
  const parts = [formatCount(run.answers.length, 'answer'), formatCount(votes, 'vote'), formatDuration(seconds)]
  return `${plainLine(run.id)}  ${parts.join(', ')}  (Ctrl-C cancels)`
}

interface LaneShown {
  readonly name: string
  readonly run: CoordinationRun
  readonly id: string
  readonly status: AgentStatus
  readonly lane: Lane | undefined
}

function formatLaneLine({ name, run, id, status, lane }: LaneShown): string {
  const agent = run.agents.get(id)
  const refused = agent?.reliability.count ?? 0
  const parts = [
    `round ${agent?.round ?? 1}`,
    describeActivity(status, lane),
    ...(status.latest_answer_label === null ? [] : [status.latest_answer_label]),
    ...(refused === 0 ? [] : [`refused ${refused}`]),
  ]
  return `${name}  ${parts.join('  ')}`
}

function describeActivity(status: AgentStatus, lane: Lane | undefined): string {
  if (status.error !== null) return `${status.status}: ${plainLine(status.error.message)}`
  if (status.vote_cast !== null) return `voted for ${status.vote_cast.voted_for_label}`
  return status.status === 'streaming' && lane?.doing !== null && lane !== undefined ? lane.doing : status.status
}

function getLastLine(lane: Lane | undefined): string {
  // Cleaned as a whole before it is split: a control sequence may contain a line break.
  const lines = plainText(lane?.tail ?? '').split('\n')
  return `${INDENT}${plainLine(lines.findLast((line) => line.trim() !== '') ?? '')}`.trimEnd()
}

function paintLine(line: string, status: AgentStatus): string {
  if (status.error !== null) return paintText('red', line)
  return status.vote_cast === null ? line : paintText('green', line)
}

function formatLaneName(run: CoordinationRun, id: string): string {
  return plainLine(`${run.agents.get(id)?.anonymousId ?? ''} ${id}`)
}
