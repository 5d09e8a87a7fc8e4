import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type CheckedConfirmation, ConfirmationCheck } from '../../app/identity/verify-confirmations.js'
import { isObject, type JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { exportLedger } from '../../store/export/export-ledger.js'
import { verifyExport } from '../../store/export/verify-export.js'
import { StoreRefused } from '../../store/store.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { readStoreUrl } from '../server/store-url.js'
import { formatTable } from '../terminal/table.js'
import { print, printJson } from '../terminal/terminal.js'

export interface ConfirmationsOptions {
  readonly stateDir?: string
  readonly json?: boolean
}

/** Verifies the confirmations of operators, from an export or from the files of the ledger: no server is asked. */
export async function verifyConfirmationsCommand(
  file: string | undefined,
  options: ConfirmationsOptions,
): Promise<void> {
  const check = new ConfirmationCheck()
  await (file === undefined ? readLedger(check, options) : readExport(check, file))
  const { checked } = check
  const wrong = checked.filter(({ problem }) => problem !== null)
  if (options.json === true) printJson({ ok: wrong.length === 0, confirmations: checked })
  else print(formatChecked(checked, wrong.length))
  if (wrong.length > 0) throw new Stop(EXIT.refused, '')
}

async function readLedger(check: ConfirmationCheck, { stateDir }: ConfirmationsOptions): Promise<void> {
  const dir = findLedgerStateDir(stateDir)
  if (dir === null)
    throw new Stop(EXIT.refused, 'There is no ledger here. Name its state directory with --state-dir DIR.')
  try {
    await exportLedger({ dir, url: readStoreUrl(undefined) }, (line) => takeLine(check, line))
  } catch (error) {
    throw error instanceof StoreRefused ? new Stop(EXIT.refused, error.message) : error
  }
}

async function readExport(check: ConfirmationCheck, file: string): Promise<void> {
  if (!existsSync(file)) throw new Stop(EXIT.usage, `There is no file ${file}.`)
  const openLines = () => createInterface({ input: createReadStream(file), crlfDelay: 0 })
  const { problem } = await verifyExport(openLines())
  if (problem !== null)
    throw new Stop(EXIT.refused, `${file}:${problem.line}: ${problem.code}: ${plainLine(problem.detail)}`)
  for await (const line of openLines()) await takeLine(check, line)
}

// The first and the last line of an export are no events.
async function takeLine(check: ConfirmationCheck, line: string): Promise<void> {
  const event = JSON.parse(line) as JsonObject
  if (typeof event.seq !== 'number' || typeof event.data !== 'string') return
  const data: unknown = JSON.parse(event.data)
  if (!isObject(data)) return
  const { seq, stream, type, actor } = event
  await check.take({ seq, stream: String(stream), type: String(type), actor: String(actor), data })
}

function formatChecked(checked: readonly CheckedConfirmation[], wrong: number): string {
  if (checked.length === 0) return 'No confirmed acts in the ledger.'
  const table = formatTable(checked, [
    { title: 'EVENT', text: (row) => row.seq },
    { title: 'TYPE', text: (row) => row.type },
    { title: 'BY', text: (row) => row.actor },
    { title: 'WITH', text: (row) => row.method },
    { title: 'RESULT', text: (row) => row.problem ?? describeHolding(row), isFlexible: true },
  ])
  const said = wrong === 0 ? 'Every signature holds.' : `${formatCount(wrong, 'confirmation')} NOT valid.`
  return `${table}\n${said}`
}

function describeHolding({ method }: CheckedConfirmation): string {
  return method === 'passkey' ? 'signed' : 'checked by the server'
}
