import { type ArchiveRequest, type MadeArchive, makeArchive } from '../../store/archive/make-archive.js'
import { removeArchived } from '../../store/archive/remove-archived.js'
import { recordOffline } from './record-offline.js'

const TASKS_LISTED_MAX = 500

/**
 * Archives tasks that ended long ago: first the file, then the record in the ledger, then the removal. If it is
 * interrupted in between, everything is still in the store: archive again.
 */
export async function archiveOffline(request: ArchiveRequest, reason: string): Promise<MadeArchive | null> {
  const made = await makeArchive(request)
  if (made === null) return null
  const { id: archive, sha256, tasks, events } = made
  const fact = {
    type: 'tasks_archived' as const,
    archive,
    sha256,
    reason,
    count: tasks.length,
    tasks: tasks.slice(0, TASKS_LISTED_MAX),
    events: events.length,
  }
  await recordOffline(request, [fact], () => removeArchived(request, made))
  return made
}
