import type { UseQueryResult } from '@tanstack/react-query'
import type { Schema } from './answers.js'
import { keys } from './keys.js'
import type { ApiProblem } from './problem.js'
import { useRead } from './use-api.js'

export type InboxItem = Schema<'InboxItem'>
export type InboxKind = InboxItem['kind']

/** What waits for a person, oldest first. Every page asks for it, for the number in its title. */
export function useInbox(): UseQueryResult<Schema<'Inbox'>, ApiProblem> {
  return useRead(keys.inbox, '/inbox')
}
