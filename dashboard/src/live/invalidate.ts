import type { QueryClient } from '@tanstack/react-query'
import { getConnection, subscribeToEvents, subscribeToState } from './connection.js'
import type { LedgerEvent } from './event.js'

// Answers are asked for again at once after a quiet moment, and at most this often while events stream in.
const PAUSE_MS = 1000

/** Refreshes cached answers when events say that they changed. */
export function refreshOnEvents(client: QueryClient): () => void {
  const due = new Map<string, readonly unknown[]>()
  let timer: ReturnType<typeof setTimeout> | null = null
  let lastFlush = 0
  const flush = (): void => {
    timer = null
    lastFlush = Date.now()
    const batch = [...due.values()]
    due.clear()
    for (const queryKey of batch) void client.invalidateQueries({ queryKey }, { cancelRefetch: false })
  }
  const unsubscribe = subscribeToEvents((event) => {
    for (const key of findTouchedKeys(event)) due.set(JSON.stringify(key), key)
    timer ??= setTimeout(flush, Math.max(20, lastFlush + PAUSE_MS - Date.now()))
  })
  // What happened before the stream was open, or while another server was asked, is not in it.
  let status = getConnection().status
  const unsubscribeState = subscribeToState(() => {
    const now = getConnection().status
    if (now === 'live' && status !== 'live')
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    status = now
  })
  return () => {
    unsubscribe()
    unsubscribeState()
    if (timer !== null) clearTimeout(timer)
  }
}

/** The keys of answers that an event may change. */
export function findTouchedKeys({ stream, type, data }: LedgerEvent): readonly (readonly unknown[])[] {
  const [kind, id] = splitStream(stream)
  const ofAll = [['audit'], ['status']]
  if (kind === 'task')
    return [
      ...ofAll,
      ['task', id],
      ['tasks'],
      ['inbox'],
      ['activity'],
      ['approvals'],
      ['approval'],
      ['agents'],
      ['questions'],
    ]
  if (kind === 'coordination' || kind === 'run') return [...ofAll, ['coordination', id], ['coordinations'], ['inbox']]
  const agent = typeof data.agent_id === 'string' ? [['agent', data.agent_id]] : []
  const named = REGISTRY_KEYS.filter(([word]) => type.includes(word)).map(([, key]) => [key])
  return [...ofAll, ...agent, ...named, ['inbox'], ['activity']]
}

// By a word in the type of an event that belongs to no task.
const REGISTRY_KEYS: readonly (readonly [string, string])[] = [
  ['agent', 'agents'],
  ['operator', 'operators'],
  ['session', 'sessions'],
  ['passkey', 'passkeys'],
  ['contract', 'contracts'],
  ['contract', 'contract'],
  ['webhook', 'webhooks'],
]

function splitStream(stream: string): readonly [string, string] {
  const at = stream.indexOf(':')
  return at === -1 ? [stream, ''] : [stream.slice(0, at), stream.slice(at + 1)]
}
