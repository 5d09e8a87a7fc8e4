import type { Insights } from './insight-numbers.js'
import { nameBin } from './insight-numbers.js'

/** What stands behind a number: the tasks, or the approvals. */
export interface Behind {
  readonly title: string
  readonly taskIds: readonly string[]
  readonly approvalIds: readonly string[]
  /** How many there are in all; the server names at most fifty. */
  readonly count: number
}

/** The name of a number in the URL: what it is of, and the keys that find it. */
export function nameNumber(kind: string, ...keys: readonly string[]): string {
  return [kind, ...keys].map(encodeURIComponent).join(':')
}

/** What is behind the number of this name; null when there is no such number (any more). */
export function findBehind(insights: Insights, name: string): Behind | null {
  const [kind = '', first = '', second = ''] = name.split(':').map(decodeOrKeep)
  switch (kind) {
    case 'gate': {
      const gate = insights.first_try.find((one) => one.phase === first && (one.gate ?? '') === second)
      return gate === undefined ? null : tasks(`${first} ${second}: tried in these tasks`, gate.task_ids, gate.attempts)
    }
    case 'code':
      return findCounted(insights.refusals.by_code, first, `Refused with ${first}`)
    case 'phase':
      return findCounted(insights.refusals.by_phase, first, `Refused in ${first}`)
    case 'agent':
      return findCounted(insights.refusals.by_agent, first, `Refused to ${first}`)
    case 'time': {
      const phase = insights.phases.find((one) => one.phase === first)
      return phase === undefined ? null : tasks(`In ${first}`, phase.task_ids, phase.visits)
    }
    case 'stuck': {
      const stuck = insights.stuck.find((one) => one.phase === first && one.reason === second)
      return stuck === undefined ? null : tasks(`Stuck in ${first}: ${second}`, stuck.task_ids, stuck.count)
    }
    case 'waits': {
      const bins = insights.approvals.histogram
      const bin = bins[Number(first)]
      if (bin === undefined) return null
      const title = `Approvals that waited ${nameBin(bins, Number(first))}`
      return { title, taskIds: [], approvalIds: bin.approval_ids, count: bin.count }
    }
    case 'all':
      return tasks(ALL_TITLES[first] ?? 'Tasks', listAll(insights, first), insights.tasks.total)
    default:
      return null
  }
}

const ALL_TITLES: Readonly<Record<string, string>> = {
  gates: 'Tasks whose gates were tried',
  refusals: 'Tasks with refusals',
  tokens: 'Tasks that used tokens',
  tasks: 'Tasks that were worked on',
}

function listAll(insights: Insights, what: string): readonly string[] {
  const rows = what === 'gates' ? insights.first_try : what === 'refusals' ? insights.refusals.by_code : insights.phases
  return [...new Set(rows.flatMap(({ task_ids }) => task_ids))]
}

function findCounted(counted: Insights['refusals']['by_code'], key: string, title: string): Behind | null {
  const found = counted.find((one) => one.key === key)
  return found === undefined ? null : tasks(title, found.task_ids, found.count)
}

function tasks(title: string, taskIds: readonly string[], count: number): Behind {
  return { title, taskIds, approvalIds: [], count }
}

function decodeOrKeep(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
