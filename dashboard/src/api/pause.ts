import { keys } from './keys.js'
import { useRead } from './use-api.js'

/** Why all agents are paused; null: they are not, or it is not known yet. */
export function usePauseReason(): string | null {
  const { data } = useRead<{ readonly paused: string | null }>(keys.activity, '/activity')
  return data?.paused ?? null
}
