import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { archiveOffline } from '../../app/ledger/archive-offline.js'
import { lockDirectory } from '../../store/directory-lock.js'
import { refuseBusyPostgres } from '../../store/postgres/moved-database.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { readStoreUrl } from '../server/store-url.js'
import { mustConfirm, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { readProgramVersion } from '../version.js'
import { runOnStore } from './refused-store.js'

const DAY_MS = 86_400_000

export interface ArchiveOptions {
  readonly olderThan: number
  readonly to: string
  readonly reason: string
  readonly stateDir?: string
  readonly store?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** Moves tasks that ended long ago from the ledger of a stopped server to a signed file. */
export async function archiveCommand(options: ArchiveOptions): Promise<void> {
  const dir = findLedgerStateDir(options.stateDir)
  if (dir === null)
    throw new Stop(EXIT.refused, 'There is no ledger here. Name its state directory with --state-dir DIR.')
  const url = readStoreUrl(options.store)
  if (options.yes !== true)
    await mustConfirm(`Archive tasks of ${dir} that ended more than ${options.olderThan} days ago?`, {
      unasked: 'Nobody can be asked here: give --yes.',
      no: 'Nothing was archived.',
    })
  const folder = resolve(options.to)
  const time = new Date().toISOString().replace(/[-:]/g, '').replace(/\..*/, 'Z')
  const made = await runOnStore('The archive', async () => {
    // Asked again when the record is written; here so that no file is left behind.
    lockDirectory(dir).release()
    if (url !== null) await refuseBusyPostgres(url)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const to = join(folder, `${time}.archive`)
    const before = Date.now() - options.olderThan * DAY_MS
    return showProgress('Verifying and archiving', options.json === true, () =>
      archiveOffline({ dir, url, to, before, programVersion: readProgramVersion() }, options.reason),
    )
  })
  if (options.json === true)
    return printJson({ file: made?.file ?? null, tasks: made?.tasks.length ?? 0, events: made?.events.length ?? 0 })
  if (made === null) return print('No task ended that long ago. Nothing was archived.')
  print(`Archived ${made.tasks.length} tasks with ${made.events.length} events to ${made.file}\nSHA-256 ${made.sha256}`)
  tell(`Read it back with: phaselock audit verify --archive ${made.file}`)
}
