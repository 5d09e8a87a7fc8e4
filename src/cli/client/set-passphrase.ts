import type { JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'
import { formatProblem } from '../terminal/problem-text.js'
import { askHidden, canAsk } from '../terminal/terminal.js'
import type { Client } from './client.js'
import type { ClientOptions } from './connection.js'
import { readPassphrase } from './give-confirmation.js'

/** Sets the passphrase of the operator whose token is used, or of the one whom the code logs in. */
export async function setPassphrase(
  client: Client,
  options: ClientOptions & { readonly newFile?: string; readonly code?: string },
): Promise<Record<string, unknown>> {
  const passphrase = options.newFile === undefined ? await askTwice() : readPassphrase(options.newFile)
  if (options.code === undefined) return client.setPassphrase(passphrase)
  // Proves the server before the code is sent to it.
  await client.health()
  const login = await post(client.url, '/login', { code: options.code }, {})
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const headers = { cookie, 'x-csrf-token': String(login.body.csrf_token) }
  const { body } = await post(client.url, '/passphrase', { passphrase }, headers)
  await post(client.url, '/logout', {}, headers)
  return body
}

async function askTwice(): Promise<string> {
  if (!canAsk()) throw new Stop(EXIT.usage, 'Nobody can be asked here: give the new passphrase with --new-file FILE.')
  const first = await askHidden('New passphrase (at least 12 characters): ')
  if (first !== (await askHidden('Again: '))) throw new Stop(EXIT.refused, 'They differ; nothing was changed.')
  return first
}

async function post(url: string, path: string, body: JsonObject, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const read = (await answer.json()) as JsonObject
  if (!answer.ok) throw new Stop(EXIT.refused, formatProblem(read), { problem: read })
  return { headers: answer.headers, body: read }
}
