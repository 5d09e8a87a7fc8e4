import type { IconName } from '../../ui/icon.js'
import { dropToolList } from '../../ui/text/drop-tool-list.js'
import type { Tone } from '../../ui/tone.js'
import { type Blocker, readRecords, readText, type TaskEvent } from './task-types.js'

/** An event in one line: what happened, then the particulars. */
export interface EventLine {
  readonly icon: IconName
  readonly tone: Tone
  readonly title: string
  /** Names of the contract or code, shown in the fixed-width font. */
  readonly code?: string
  readonly text?: string
  /** Words of an agent or operator, shown in quotes below. */
  readonly quote?: string
}

type Describe = (data: TaskEvent['data'], event: TaskEvent) => EventLine

/** What an event says to a person. A type that is not known is shown by its name. */
export function describeEvent(event: TaskEvent): EventLine {
  const describe = LINES[event.type]
  return describe === undefined
    ? { icon: 'contract', tone: 'neutral', title: event.type.replaceAll('_', ' ') }
    : describe(event.data, event)
}

const bare =
  (icon: IconName, tone: Tone, title: string): Describe =>
  (data) => ({ icon, tone, title, ...withQuote(data) })

const refused =
  (title: string): Describe =>
  (data) => ({ icon: 'ban', tone: 'refused', title, code: readText(data, 'tool_name') || readText(data, 'to') })

const LINES: Readonly<Record<string, Describe>> = {
  task_created: (data) => ({
    icon: 'plus',
    tone: 'neutral',
    title: 'Task created',
    text: `under ${readText(data, 'contract_name')} ${readText(data, 'contract_version')}`,
  }),
  task_updated: bare('contract', 'neutral', 'Title, description or priority changed'),
  task_claimed: (data) => ({
    icon: 'agent',
    tone: 'running',
    title: data.resumed === true ? 'Claimed again' : 'Claimed',
    text: `by ${readText(data, 'agent_id')}`,
  }),
  task_released: (data) => ({
    icon: 'agent',
    tone: 'neutral',
    title: 'Released',
    text: `by ${readText(data, 'agent_id')}`,
    ...withQuote(data),
  }),
  task_reassigned: (data) => ({
    icon: 'agent',
    tone: 'pending',
    title: 'Reassigned',
    text: data.agent_id === null ? 'to the next agent that claims it' : `to ${readText(data, 'agent_id')}`,
    ...withQuote(data),
  }),
  task_parked: (data) => ({
    icon: 'pause',
    tone: 'parked',
    title: 'Parked',
    code: readText(data, 'code'),
    quote: dropToolList(readText(data, 'reason')),
  }),
  task_resumed: bare('play', 'running', 'Resumed'),
  task_cancelled: bare('stop', 'refused', 'Cancelled'),
  task_completed: bare('ok-circle', 'allowed', 'Completed'),
  task_rewound: (data) => ({
    icon: 'back',
    tone: 'pending',
    title: 'Rewound',
    text: `to ${readText(data, 'to')}; older tokens are void`,
    ...withQuote(data),
  }),
  phase_entered: (data) => ({
    icon: data.back === true ? 'back' : 'right',
    tone: data.back === true ? 'pending' : 'neutral',
    title: data.back === true ? 'Went back' : 'Entered',
    code: readText(data, 'to'),
    text:
      data.back === true
        ? `from ${readText(data, 'from')}; older tokens are void`
        : data.from === null
          ? ''
          : `from ${readText(data, 'from')}`,
  }),
  transition_requested: (data) => ({
    icon: 'file',
    tone: 'neutral',
    title: 'Transition requested',
    text: `to ${readText(data, 'to')}${listHandedIn(data)}`,
  }),
  gate_blocked: (data, event) => ({
    icon: 'lock',
    tone: onlyWaits(data) ? 'pending' : 'refused',
    title: onlyWaits(data) ? 'Gate waits' : 'Gate stayed closed',
    text: describeWay(data, event),
  }),
  gate_passed: (data, event) => ({
    icon: 'open',
    tone: 'allowed',
    title: 'Gate opened',
    text: describeWay(data, event),
  }),
  approval_requested: (data) => ({
    icon: 'lock',
    tone: 'pending',
    title: 'Approval requested',
    code: readText(data, 'gate'),
    text: `to enter ${readText(data, 'to')}`,
  }),
  approval_decided: describeDecision,
  approval_expired: bare('clock', 'pending', 'Approval expired'),
  approval_voided: bare('close', 'neutral', 'Approval void'),
  consensus_requested: (data) => ({
    icon: 'council',
    tone: 'pending',
    title: 'Vote opened',
    text: `to enter ${readText(data, 'to')}`,
  }),
  question_asked: (data) => ({ icon: 'ask', tone: 'pending', title: 'Asked', quote: readText(data, 'question') }),
  question_answered: (data) => ({
    icon: 'ask',
    tone: 'allowed',
    title: 'Answered',
    text: `by ${readText(data, 'by')}`,
    quote: readText(data, 'answer'),
  }),
  question_withdrawn: bare('ask', 'neutral', 'Question withdrawn'),
  rule_violated: (data) => ({
    icon: 'pause',
    tone: 'parked',
    title: data.shadow === true ? 'Would have interrupted' : 'Interrupt',
    code: readText(data, 'rule'),
    text: readText(data, 'detail'),
  }),
  rule_acknowledged: (data) => ({
    icon: 'play',
    tone: 'neutral',
    title: 'Interrupt acknowledged',
    code: readText(data, 'rule'),
  }),
  rule_cleared: (data) => ({ icon: 'check', tone: 'allowed', title: 'Rule holds again', code: readText(data, 'rule') }),
  unledgered_change_found: (data) => ({
    icon: 'diff',
    tone: 'refused',
    title: 'Unexplained change',
    text: formatPaths(data),
  }),
  tree_accepted: (data) => ({
    icon: 'diff',
    tone: 'pending',
    title: 'Changes accepted',
    text: formatPaths(data),
    ...withQuote(data),
  }),
  tree_reverted: (data) => ({
    icon: 'back',
    tone: 'allowed',
    title: 'Changes reverted',
    text: formatPaths(data),
    ...withQuote(data),
  }),
  alert_raised: (data) => ({
    icon: 'alert',
    tone: 'pending',
    title: 'Alert',
    code: readText(data, 'alert'),
    text: readText(data, 'message'),
  }),
  alert_cleared: (data) => ({ icon: 'alert', tone: 'neutral', title: 'Alert over', code: readText(data, 'alert') }),
  lease_lapsed: (data) => ({
    icon: 'clock',
    tone: 'pending',
    title: 'Lease ran out',
    text: `of ${readText(data, 'agent_id')}`,
  }),
  agent_dropped: (data) => ({
    icon: 'agent',
    tone: 'refused',
    title: 'Agent ended early',
    text: readText(data, 'agent_id'),
    ...withQuote(data),
  }),
  baseline_recorded: (data) => ({
    icon: 'test',
    tone: 'neutral',
    title: 'Tests at the start',
    text: formatCounts(data),
    ...withQuote(data),
  }),
  tests_pinned: (data) => ({
    icon: 'lock',
    tone: 'neutral',
    title: 'Tests recorded',
    text: `${Object.keys(Object(data.files)).length} files stay as they failed`,
  }),
  held_out_failed: bare('test', 'refused', 'Held-out examples failed'),
  checkpoint_passed: bare('file', 'allowed', 'Evidence accepted'),
  phase_task_finished: (data) => ({
    icon: 'check',
    tone: 'neutral',
    title: 'Part finished',
    code: readText(data, 'task'),
  }),
  reviewer_added: (data) => ({
    icon: 'person',
    tone: 'neutral',
    title: 'Reviewer added',
    text: readText(data, 'reviewer'),
  }),
  reviewer_revoked: (data) => ({
    icon: 'person',
    tone: 'neutral',
    title: 'Reviewer removed',
    text: readText(data, 'reviewer'),
    ...withQuote(data),
  }),
  reviewers_wanted: (data) => ({
    icon: 'person',
    tone: 'pending',
    title: 'Reviewers wanted',
    text: readRecords<string>(data, 'names').join(', '),
  }),
  review_submitted: (data) => ({
    icon: 'file',
    tone: data.blocking_issues === 0 ? 'allowed' : 'pending',
    title: 'Review',
    text: `by ${readText(data, 'reviewer')}: ${readText(data, 'status').replaceAll('_', ' ')}, ${String(data.blocking_issues)} blocking`,
  }),
  tools_accepted: bare('contract', 'pending', 'Upstream tools accepted'),
  install_finished: (data) => ({
    icon: 'download',
    tone: 'neutral',
    title: 'Dependencies installed',
    ...(readRecords<string>(data, 'command').length === 0
      ? {}
      : { code: readRecords<string>(data, 'command').join(' ') }),
  }),
  worktree_merged: (data) => ({
    icon: 'merge',
    tone: 'allowed',
    title: 'Merged',
    text: `into ${readText(data, 'into')}`,
    ...withQuote(data),
  }),
  worktree_handed_over: bare('merge', 'neutral', 'Handed over as a branch'),
  worktree_discarded: bare('close', 'neutral', 'Work discarded'),
  tool_denied: refused('Refused'),
  changes_dropped: refused('Changes dropped'),
  transition_refused: refused('Transition refused'),
  checkpoint_refused: refused('Evidence refused'),
  approval_refused: refused('Tried to answer an approval'),
  question_refused: refused('Question refused'),
  review_refused: refused('Review refused'),
  token_refused: refused('Token refused'),
}

// The gate of the last phase leads nowhere else.
function describeWay(data: TaskEvent['data'], { phase }: TaskEvent): string {
  const to = readText(data, 'to')
  return phase === to ? `end of ${to}` : `${phase ?? ''} to ${to}`
}

function describeDecision(data: TaskEvent['data']): EventLine {
  const isApproval = data.decision === 'approve'
  const confirmation = Object(data.confirmation) as { readonly method?: string }
  const how = confirmation.method === undefined ? '' : `, confirmed with a ${confirmation.method}`
  return {
    icon: isApproval ? 'ok-circle' : 'x-circle',
    tone: isApproval ? 'allowed' : 'refused',
    title: isApproval ? 'Approved' : 'Rejected',
    text: `by ${readText(data, 'by')}${how}`,
    quote: readText(data, 'comment'),
  }
}

function onlyWaits(data: TaskEvent['data']): boolean {
  const blockers = readRecords<Blocker>(data, 'blockers')
  return blockers.length > 0 && blockers.every(({ code }) => isWaiting(code))
}

/** Whether a blocker only says that people have not decided yet. */
export function isWaiting(code: string): boolean {
  return code === 'approval_pending' || code === 'consensus_pending'
}

function listHandedIn(data: TaskEvent['data']): string {
  const types = readRecords<{ readonly type: string }>(data, 'artifacts').map(({ type }) => type)
  return types.length === 0 ? '' : `, with ${types.join(', ')}`
}

function withQuote(data: TaskEvent['data']): { readonly quote?: string } {
  const reason = readText(data, 'reason')
  return reason === '' ? {} : { quote: reason }
}

const PATHS_SHOWN = 3

function formatPaths(data: TaskEvent['data']): string {
  const paths = readRecords<string>(data, 'paths')
  const count = typeof data.path_count === 'number' ? data.path_count : paths.length
  const more = count - Math.min(paths.length, PATHS_SHOWN)
  return `in ${paths.slice(0, PATHS_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function formatCounts({ passed, failed, skipped }: TaskEvent['data']): string {
  return `${String(passed)} pass, ${String(failed)} fail, ${String(skipped)} skipped`
}
