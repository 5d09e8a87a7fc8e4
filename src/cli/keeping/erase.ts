import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eraseOffline, findErasable } from '../../app/ledger/erase-offline.js'
import { plainLine } from '../../core/plain-text.js'
import { lockDirectory } from '../../store/directory-lock.js'
import type { FoundText } from '../../store/erasure/find-text.js'
import { refuseBusyPostgres } from '../../store/postgres/moved-database.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { readInput } from '../read-input.js'
import { readStoreUrl } from '../server/store-url.js'
import { mustConfirm, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { runOnStore } from './refused-store.js'

const FILE_BYTES_MAX = 16 * 1024 * 1024
const FILES_MAX = 20_000

export interface EraseOptions {
  readonly textFile: string
  readonly reason: string
  readonly stateDir?: string
  readonly store?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** Erases a text from a ledger. Each event keeps its hash, and a record of the erasure binds what is left of it. */
export async function eraseCommand(options: EraseOptions): Promise<void> {
  const dir = findLedgerStateDir(options.stateDir)
  if (dir === null)
    throw new Stop(EXIT.refused, 'There is no ledger here. Name its state directory with --state-dir DIR.')
  const text = readInput(options.textFile, '--text-file').split(/\r?\n/)[0] ?? ''
  if (options.reason.includes(text)) throw new Stop(EXIT.usage, '--reason contains the text to erase.')
  const place = { dir, url: readStoreUrl(options.store) }
  const found = await runOnStore('The erasure', async () => {
    // Asked again when it is written; here so that nobody confirms what cannot be done.
    lockDirectory(dir).release()
    if (place.url !== null) await refuseBusyPostgres(place.url)
    return showProgress('Verifying and searching', options.json === true, () => findErasable(place, text))
  })
  const counts = countFound(found)
  if (counts.total === 0) throw new Stop(EXIT.refused, 'The text is not in the ledger. Nothing was changed.')
  if (options.yes !== true)
    await mustConfirm(`Erase it from ${formatCounts(counts)}? This cannot be undone.`, {
      unasked: `It is in ${formatCounts(counts)}. Nobody can be asked here: give --yes.`,
      no: 'Nothing was erased.',
    })
  await runOnStore('The erasure', () =>
    showProgress('Erasing', options.json === true, () => eraseOffline(place, found, options.reason)),
  )
  const files = findFiles(dir, text)
  if (options.json === true) return printJson({ state_dir: dir, ...counts, files })
  print(`Erased it from ${formatCounts(counts)}. \`phaselock audit verify\` still holds.`)
  for (const file of files) tell(`The text is also in ${plainLine(file)}`)
  tell('Backups, exports and work trees may still contain it. Replace a secret that leaked: others may have read it.')
}

function countFound({ events, tasks, blobs, answers }: FoundText) {
  const counts = { events: events.length, tasks: tasks.length, contents: blobs.length, answers: answers.length }
  return { ...counts, total: events.length + tasks.length + blobs.length + answers.length }
}

function formatCounts({ events, tasks, contents, answers }: ReturnType<typeof countFound>): string {
  return `${events} events, ${tasks} tasks, ${contents} stored contents and ${answers} kept answers`
}

/** Other files of the state directory that contain the text: logs, stashes, what trees should look like. */
function findFiles(dir: string, text: string): readonly string[] {
  const found: string[] = []
  const folders = [dir]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined && seen < FILES_MAX; folder = folders.pop())
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      seen += 1
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile() && !entry.name.startsWith('ledger.db') && lstatSync(path).size <= FILE_BYTES_MAX)
        if (readFileSync(path).includes(text)) found.push(path)
    }
  return found
}
