import type { InboxItem, InboxKind } from '../../api/inbox.js'
import type { IconName } from '../../ui/icon.js'
import type { Tone } from '../../ui/tone.js'

interface Look {
  readonly name: string
  readonly icon: IconName
  readonly tone: Tone
}

const LOOKS: Readonly<Record<InboxKind, Look>> = {
  approval: { name: 'Approval', icon: 'lock', tone: 'pending' },
  question: { name: 'Question', icon: 'ask', tone: 'running' },
  parked: { name: 'Parked', icon: 'pause', tone: 'parked' },
  unexplained: { name: 'Unexplained change', icon: 'diff', tone: 'refused' },
  tree_missing: { name: 'Work tree missing', icon: 'folder', tone: 'refused' },
  alert: { name: 'Alert', icon: 'clock', tone: 'pending' },
  contract: { name: 'Contract to trust', icon: 'contract', tone: 'neutral' },
}

/** How an item looks. A kind that this page does not know is shown as an alert. */
export function getLook(kind: InboxKind): Look {
  return LOOKS[kind] ?? LOOKS.alert
}

/** Where an item leads. */
export function toItemLink({ kind, id, task_id }: InboxItem): { readonly to: string; readonly search?: object } {
  if (kind === 'approval') return { to: `/approvals/${encodeURIComponent(id)}` }
  if (kind === 'contract') return { to: `/contracts/${encodeURIComponent(id)}` }
  const to = `/tasks/${encodeURIComponent(task_id ?? id)}`
  return kind === 'unexplained' ? { to, search: { tab: 'changes' } } : { to }
}
