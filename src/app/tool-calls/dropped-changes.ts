import { failed, type ToolOutcome } from '../../tools/tool-place.js'
import type { Handled } from '../ledger/ledger.js'

/** The outcome of a call whose changes were dropped; null when they were kept. */
export function droppedBy({ events }: Handled): ToolOutcome | null {
  const dropped = events.find((event) => event.type === 'changes_dropped')
  if (dropped === undefined) return null
  return failed(dropped.detail, dropped.code, {
    paths: dropped.paths,
    path_count: dropped.pathCount,
    retry: { ...dropped.retry },
  })
}
