import { createPublicKey } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { JsonObject } from '../../core/json.js'
import { verifyExport } from '../../store/export/verify-export.js'
import { verifyDirectory } from '../../store/verify/verify-ledger.js'
import { listOf, toText } from '../client/answer-values.js'
import { Client } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { findLiveServerNote } from '../client/server-file.js'
import { EXIT, Stop } from '../exit.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { paintText, print, printJson, tell } from '../terminal/terminal.js'

const VERIFY_MS_MAX = 30 * 60_000

export interface VerifyOptions extends ClientOptions {
  readonly publicKey?: string
}

// A server that was killed may leave its note and even its process id behind: whoever does not answer does not run.
async function reportOf(dir: string | null, options: VerifyOptions): Promise<JsonObject> {
  if (dir === null || findLiveServerNote(dir) !== null) {
    tell('Verifying the ledger through the server …')
    try {
      return await new Client(options).get('/audit/verify', {}, VERIFY_MS_MAX)
    } catch (error) {
      if (dir === null || !(error instanceof Stop) || error.exit !== EXIT.unreachable) throw error
      tell('No server answers; verifying its files instead …')
    }
  }
  const found = await verifyDirectory(dir)
  return { where: dir, ...found, problems: found.problems.map((problem) => ({ ...problem })) }
}

/** Verifies an export, or the ledger: through its server, or on its files when none runs. */
export async function verifyLedgerCommand(file: string | undefined, options: VerifyOptions): Promise<void> {
  if (file !== undefined) return verifyFile(file, options)
  if (options.publicKey !== undefined) throw new Stop(EXIT.usage, '--public-key is for an export: name its file.')
  const dir = options.url === undefined ? findLedgerStateDir(options.stateDir) : null
  const report = await reportOf(dir, options)
  const problems = listOf(report.problems as never)
  if (options.json === true) printJson(report)
  else {
    for (const one of problems) print(`${paintText('red', toText(one.code))}: ${toPlainLine(toText(one.detail))}`)
    const counted = `${report.events} events in ${report.streams} streams, ${report.checkpoints} checkpoints`
    print(report.ok === true ? `The ledger is intact: ${counted}.` : `The ledger is NOT intact (${counted} read).`)
    if (report.where !== undefined) print(`Checked without a server in ${toText(report.where)}`)
  }
  if (report.ok !== true) throw new Stop(EXIT.refused, '')
}

async function verifyFile(file: string, options: VerifyOptions): Promise<void> {
  if (!existsSync(file)) throw new Stop(EXIT.usage, `There is no file ${file}.`)
  const key = options.publicKey === undefined ? undefined : readKey(options.publicKey)
  const report = await verifyExport(createInterface({ input: createReadStream(file), crlfDelay: 0 }), key)
  if (options.json === true) printJson(report)
  else if (report.problem === null) {
    print(`The export is intact: ${report.events} events in ${report.streams} streams.`)
    if (report.key === 'embedded')
      print('Its own key vouches for it. To know who signed it, give --public-key FILE with the key of the server.')
  } else {
    const { line, code, detail } = report.problem
    print(`${file}:${line}: ${paintText('red', code)}: ${toPlainLine(detail)}`)
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
