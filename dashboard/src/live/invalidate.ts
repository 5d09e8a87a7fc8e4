import type { Query, QueryClient } from '@tanstack/react-query'
import { getConnection, subscribeToEvents, subscribeToState } from './connection.js'
import type { LedgerEvent } from './event.js'

// An answer is asked for again at once after a quiet moment, and no more often than this while events stream in.
const PAUSE_MS = 1000
// Long lists cost the server and this page more than one thing does.
const LIST_PAUSE_MS = 2500
const SOON_MS = 30
const LISTS: ReadonlySet<unknown> = new Set(['tasks', 'insights', 'audit', 'agents', 'activity', 'coordinations'])

/** Refreshes cached answers when events say that they changed. A hidden tab only keeps the number in its title. */
export function refreshOnEvents(client: QueryClient): () => void {
  const due = new Set<Query>()
  const refreshedAt = new Map<string, number>()
  let timer: ReturnType<typeof setTimeout> | null = null

  const flush = (): void => {
    timer = null
    const now = Date.now()
    let next = Number.POSITIVE_INFINITY
    for (const query of due) {
      const isForLater = document.hidden && query.queryKey[0] !== 'inbox'
      if (isForLater) continue
      const readyAt =
        (refreshedAt.get(query.queryHash) ?? 0) + (LISTS.has(query.queryKey[0]) ? LIST_PAUSE_MS : PAUSE_MS)
      if (readyAt > now) {
        next = Math.min(next, readyAt)
        continue
      }
      due.delete(query)
      refreshedAt.set(query.queryHash, now)
      void client.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false })
    }
    if (next !== Number.POSITIVE_INFINITY) timer = setTimeout(flush, next - now)
  }
  const schedule = (): void => {
    timer ??= setTimeout(flush, SOON_MS)
  }
  const unsubscribe = subscribeToEvents((event) => {
    for (const query of client.getQueryCache().getAll()) if (isTouched(query, event)) due.add(query)
    if (due.size > 0) schedule()
  })
  // What happened before the stream was open is not in it.
  let status = getConnection().status
  const unsubscribeState = subscribeToState(() => {
    const now = getConnection().status
    if (now === 'live' && status !== 'live')
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    status = now
  })
  document.addEventListener('visibilitychange', schedule)
  return () => {
    unsubscribe()
    unsubscribeState()
    document.removeEventListener('visibilitychange', schedule)
    if (timer !== null) clearTimeout(timer)
  }
}

/** Whether an event may change a cached answer. */
function isTouched({ queryKey, state }: Query, { stream, type, data }: LedgerEvent): boolean {
  const [kind, id] = queryKey
  const [streamKind, streamId] = splitStream(stream)
  if (kind === 'audit' || kind === 'status' || kind === 'inbox') return true
  if (streamKind === 'task') {
    if (kind === 'task') return id === streamId
    if (kind === 'approval') return (state.data as { task_id?: unknown } | undefined)?.task_id === streamId
    return OF_TASKS.has(kind)
  }
  if (streamKind === 'coordination' || streamKind === 'run')
    return kind === 'coordinations' || (kind === 'coordination' && id === streamId)
  if (kind === 'agent') return data.agent_id === id
  return REGISTRY_KINDS.some(([word, name]) => name === kind && type.includes(word))
}

const OF_TASKS: ReadonlySet<unknown> = new Set(['tasks', 'activity', 'approvals', 'agents', 'agent', 'questions'])

// By a word in the type of an event that belongs to no task.
const REGISTRY_KINDS: readonly (readonly [string, string])[] = [
  ['agent', 'agents'],
  ['paused', 'activity'],
  ['operator', 'operators'],
  ['session', 'sessions'],
  ['login', 'sessions'],
  ['passkey', 'passkeys'],
  ['contract', 'contracts'],
  ['contract', 'contract'],
  ['webhook', 'webhooks'],
]

function splitStream(stream: string): readonly [string, string] {
  const at = stream.indexOf(':')
  return at === -1 ? [stream, ''] : [stream.slice(0, at), stream.slice(at + 1)]
}
