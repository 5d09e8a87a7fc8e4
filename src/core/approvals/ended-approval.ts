import type { DecisionChannel } from '../task/fact-parts.js'
import { formatClock, formatCount } from '../text.js'

const DAY_MS = 86_400_000

interface EndedApproval {
  readonly status: string
  readonly expiresAt: number
  readonly decisions: readonly {
    readonly by: string
    readonly comment: string
    readonly at: number
    /** Null: over the API. Absent: not known. */
    readonly channel?: string | null
  }[]
}

const CHANNEL_WORDS: ReadonlyMap<string, string> = new Map<DecisionChannel, string>([
  ['in_chat', 'in the chat'],
  ['cli', 'on the command line'],
  ['dashboard', 'in the dashboard'],
])

/** Why an approval cannot be answered any more: who decided what, where and when. */
export function formatEndedApproval({ status, expiresAt, decisions }: EndedApproval, now: number): string {
  const last = decisions.at(-1)
  if (status === 'void') return 'is void: the task no longer waits for an approval of this content'
  if (status === 'pending' || status === 'expired' || last === undefined)
    return `has expired: too few answered until ${formatMoment(expiresAt, now)}`
  const where = last.channel === undefined ? '' : ` ${formatChannel(last.channel)}`
  const by = decisions.map((decision) => decision.by).join(', ')
  const what = status === 'rejected' ? 'rejected' : 'approved'
  const said = status === 'rejected' && last.comment !== '' ? ` (${last.comment})` : ''
  return `was ${what}${where} by ${status === 'rejected' ? last.by : by} at ${formatMoment(last.at, now)}${said}; there is nothing to do`
}

/** `in the chat` */
export function formatChannel(channel: string | null): string {
  return CHANNEL_WORDS.get(channel ?? '') ?? 'over the API'
}

function formatMoment(at: number, now: number): string {
  const days = Math.floor((now - at) / DAY_MS)
  return `${formatClock(at)} UTC${days < 1 ? '' : `, ${formatCount(days, 'day')} ago`}`
}
