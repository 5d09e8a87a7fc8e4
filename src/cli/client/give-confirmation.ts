import { isObject, type JsonObject } from '../../core/json.js'
import { readInput } from '../read-input.js'
import { askHidden, canAsk, tell } from '../terminal/terminal.js'
import type { ClientOptions } from './connection.js'

/** The passphrase for an act that the server wants confirmed: from a file, or asked for. Null: there is none. */
export async function giveConfirmation(problem: JsonObject, options: ClientOptions): Promise<JsonObject | null> {
  const { confirm } = problem
  const methods = isObject(confirm) && Array.isArray(confirm.methods) ? confirm.methods : []
  if (!methods.includes('passphrase')) return null
  if (options.passphraseFile !== undefined) return { passphrase: readPassphrase(options.passphraseFile) }
  if (!canAsk()) return null
  tell('This has to be confirmed with your passphrase; with a passkey, do it in the dashboard.')
  return { passphrase: await askHidden('Passphrase: ') }
}

/** The first line of the file. */
export function readPassphrase(file: string): string {
  return readInput(file, '--passphrase-file').split(/\r?\n/)[0] ?? ''
}
