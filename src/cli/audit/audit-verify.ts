import { createPublicKey } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { LedgerCheck } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { type ArchiveReport, verifyArchive } from '../../store/archive/verify-archive.js'
import { verifyExport } from '../../store/export/verify-export.js'
import { verifyPostgresLedger } from '../../store/postgres/verify-postgres.js'
import { verifyDirectory } from '../../store/verify/verify-ledger.js'
import { openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { findLiveServerNote } from '../client/server-file.js'
import { EXIT, Stop } from '../exit.js'
import { runOnStore } from '../keeping/refused-store.js'
import { readStoreUrl } from '../server/store-url.js'
import { paintText, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'

export interface VerifyOptions extends ClientOptions {
  readonly publicKey?: string
  readonly archive?: readonly string[]
}

// A killed server may leave its note and even its process id behind: a server that does not answer is not running.
async function reportOf(
  dir: string | null,
  options: VerifyOptions,
): Promise<LedgerCheck & { readonly where?: string }> {
  const isQuiet = options.json === true
  if (dir === null || findLiveServerNote(dir) !== null) {
    tell('Verifying the ledger through the server …')
    try {
      return await showProgress('Verifying', isQuiet, async () => (await openClient(options)).verifyLedger())
    } catch (error) {
      if (dir === null || !(error instanceof Stop) || error.exit !== EXIT.unreachable) throw error
      tell('No server answers; verifying its files instead …')
    }
  }
  const url = readStoreUrl(undefined)
  const check = await showProgress('Verifying', isQuiet, () =>
    url === null ? verifyDirectory(dir) : verifyPostgresLedger(url, dir),
  )
  return { where: dir, ...check }
}

/** Verifies an export, or the ledger: through its server, or on its files when none runs. */
export async function verifyLedgerCommand(file: string | undefined, options: VerifyOptions): Promise<void> {
  if (file !== undefined) return verifyFile(file, options)
  if (options.publicKey !== undefined) throw new Stop(EXIT.usage, '--public-key is for an export: name its file.')
  const dir = options.url === undefined ? findLedgerStateDir(options.stateDir) : null
  const report = await reportOf(dir, options)
  const archives = dir === null ? [] : await readArchivesBack(dir, options.archive ?? [])
  if (options.json === true) printJson(options.archive === undefined ? report : { ...report, archives })
  else {
    for (const { file: read, events } of archives) print(`The archive ${read} is intact: ${events} events.`)
    for (const { code, detail } of report.problems) print(`${paintText('red', code)}: ${plainLine(detail)}`)
    const counted = `${formatCount(report.events, 'event')} in ${formatCount(report.streams, 'stream')}, ${formatCount(report.checkpoints, 'checkpoint')}`
    print(report.ok ? `The ledger is intact: ${counted}.` : `The ledger is NOT intact (${counted} read).`)
    if (report.where !== undefined) print(`Checked without a server in ${report.where}`)
  }
  if (!report.ok) throw new Stop(EXIT.refused, '')
}

/** Compares archives with the tombstones in the ledger. */
async function readArchivesBack(dir: string, files: readonly string[]) {
  const place = { dir, url: readStoreUrl(undefined) }
  const found: ArchiveReport[] = []
  for (const file of files) {
    if (!existsSync(file)) throw new Stop(EXIT.usage, `There is no file ${file}.`)
    found.push(await runOnStore('The archive', () => verifyArchive(file, place)))
  }
  return found
}

async function verifyFile(file: string, options: VerifyOptions): Promise<void> {
  if (!existsSync(file)) throw new Stop(EXIT.usage, `There is no file ${file}.`)
  const key = options.publicKey === undefined ? undefined : readKey(options.publicKey)
  const report = await showProgress('Verifying', options.json === true, () =>
    verifyExport(createInterface({ input: createReadStream(file), crlfDelay: 0 }), key),
  )
  if (options.json === true) printJson(report)
  else if (report.problem === null) {
    print(`The export is intact: ${report.events} events in ${report.streams} streams.`)
    if (report.key === 'embedded')
      print(
        'It is signed with the key that it contains. To know who signed it, give --public-key FILE with the key of the server.',
      )
  } else {
    const { line, code, detail } = report.problem
    print(`${file}:${line}: ${paintText('red', code)}: ${plainLine(detail)}`)
    print(`The export is NOT intact; ${report.events} events before that line are.`)
  }
  if (!report.ok) throw new Stop(EXIT.refused, '')
}

function readKey(file: string): string {
  try {
    const pem = readFileSync(file, 'utf8')
    createPublicKey(pem)
    return pem
  } catch {
    throw new Stop(EXIT.usage, `--public-key: ${file} is not a readable public key in PEM form.`)
  }
}
