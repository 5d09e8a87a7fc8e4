import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import type { CommandResult } from '../ledger/ledger.js'

/** The outcome of a call whose changes were discarded; null when they were kept. */
export function findDroppedOutcome({ events }: CommandResult): ToolOutcome | null {
  const dropped = events.find((event) => event.type === 'changes_dropped')
  if (dropped === undefined) return null
  return failTool(dropped.detail, dropped.code, {
    paths: dropped.paths,
    path_count: dropped.pathCount,
    retry: { ...dropped.retry },
  })
}
