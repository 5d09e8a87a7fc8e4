import type { UseQueryResult } from '@tanstack/react-query'
import { keys } from './keys.js'
import type { ApiProblem } from './problem.js'
import { useRead } from './use-api.js'

export type InboxKind = 'approval' | 'question' | 'parked' | 'unexplained' | 'alert' | 'contract'

export interface InboxItem {
  readonly kind: InboxKind
  readonly id: string
  readonly task_id: string | null
  readonly task_title: string | null
  readonly agent_id: string | null
  readonly phase: string | null
  readonly since: string
  readonly title: string
  readonly detail: string
  readonly actions: readonly string[]
}

export interface Inbox {
  readonly items: readonly InboxItem[]
  readonly total: number
}

/** What waits for a person, oldest first. Every page asks for it, for the number in its title. */
export function useInbox(): UseQueryResult<Inbox, ApiProblem> {
  return useRead<Inbox>(keys.inbox, '/inbox')
}
