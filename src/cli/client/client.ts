import { setTimeout as wait } from 'node:timers/promises'
import type { Frame, OperatorClient, PhaselockError } from 'phaselock/sdk'
import type { JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { codeOf, EXIT, Stop } from '../exit.js'
import { getStateBase } from '../places.js'
import { findProgramName } from '../program-name.js'
import { formatProblem } from '../terminal/problem-text.js'
import { tell } from '../terminal/terminal.js'
import { type ClientOptions, type Connection, connect, pinServer } from './connection.js'
import { giveConfirmation } from './give-confirmation.js'
import { listRunningServers } from './server-file.js'

const RETRY_MS = 1000
const RETRIES_MAX = 300

export type Client = OperatorClient

/** The SDK's client for the server that the options select. A refusal ends the command with its reason and remedy. */
export async function openClient(options: ClientOptions): Promise<Client> {
  const connection = connect(options)
  const { url, token, stateDir } = connection
  // Commands that call no server do not load the client, nor the keys and locks that prove a server.
  const sdk = await import('phaselock/sdk')
  const before = async (): Promise<void> => (stateDir === null ? undefined : requireServerProof(stateDir, url))
  try {
    const fail = (error: PhaselockError): Stop => stopFor(error, connection)
    return new sdk.OperatorClient({
      url,
      token,
      before,
      fail,
      confirm: (problem) => giveConfirmation(problem as JsonObject, options),
    })
  } catch (error) {
    throw error instanceof sdk.InvalidOptions
      ? new Stop(EXIT.usage, `The token cannot be used: ${error.message}.`)
      : error
  }
}

export type Ask = <Answer>(call: (client: Client) => Promise<Answer>) => Promise<Answer>

/** Calls a server that may be restarted meanwhile: once it was reached, it is retried for five minutes. */
export function askLasting(options: ClientOptions): Ask {
  const meant = pinServer(options)
  let isReached = false
  return async (call) => {
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = await call(await openClient(meant))
        if (tries > 0) tell('Connected again.')
        isReached = true
        return answer
      } catch (error) {
        if (!isReached || !isAway(error) || tries >= RETRIES_MAX) throw error
        if (tries === 0) tell('The connection is lost; trying again …')
      }
      await wait(RETRY_MS)
    }
  }
}

/** Events as they arrive: all of them, or those of one council. A lost connection is resumed where it was. */
export async function* followEvents(
  options: ClientOptions,
  { after, coordination, retriesMax = RETRIES_MAX }: { after: string; coordination?: string; retriesMax?: number },
): AsyncGenerator<Frame> {
  let last = after
  for (let tries = 0; ; tries += 1) {
    try {
      // A restarted server may listen elsewhere, so look it up each time.
      const events = await (await openClient(options)).follow(last, coordination)
      if (tries > 0) tell('Connected again.')
      tries = 0
      for await (const event of events) {
        last = event.id || last
        yield event
      }
    } catch (error) {
      if ((error instanceof Stop && !isAway(error)) || tries >= retriesMax) throw error
    }
    if (tries === 0) tell('The connection is lost; trying again …')
    await wait(RETRY_MS)
  }
}

/** Whether a server does not answer, or is stopping. */
export function isAway(error: unknown): boolean {
  return (error instanceof Stop && error.exit === EXIT.unreachable) || codeOf(error) === 'shutting_down'
}

async function requireServerProof(stateDir: string, url: string): Promise<void> {
  const { requireProof } = await import('./prove-server.js')
  try {
    await requireProof(stateDir, url)
  } catch (error) {
    throw error instanceof Stop ? error : stopUnreachable(url, error)
  }
}

function stopFor(error: PhaselockError, connection: Connection): Stop {
  const { url, token } = connection
  const { problem, code, reason, cause } = error as PhaselockError & {
    problem?: JsonObject
    code?: string
    reason?: string
  }
  if (problem === undefined) return stopUnreachable(url, cause ?? reason ?? error.message)
  if (code === 'unreadable_answer')
    return new Stop(
      EXIT.unreachable,
      `What answers at ${url} is not a Phaselock server. Give another address with --url.`,
    )
  if (code === 'token_missing' && token === null)
    return new Stop(
      EXIT.refused,
      [
        `No operator token was found for ${url}. [token_missing]`,
        ...formatOtherServers(url),
        `Give --token-file FILE or set PHASELOCK_OPERATOR_TOKEN; the server's own token is operator.token in its state directory. A server for this folder is started with: ${findProgramName()} up`,
      ].join('\n'),
      { problem },
    )
  if (code === 'token_invalid' && token?.startsWith('plop_') === true)
    return new Stop(
      EXIT.refused,
      `${url} does not know this operator token: it is from another server, or revoked. [token_invalid]\nGive the right one with --token-file FILE.`,
      { problem },
    )
  return new Stop(EXIT.refused, formatProblem(problem), { problem })
}

function stopUnreachable(url: string, error: unknown): Stop {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const name = error instanceof Error ? error.name : ''
  const { code } = Object(cause) as NodeJS.ErrnoException
  const isCertificate = /CERT|ALTNAME|VERIFY/.test(code ?? '')
  if (isCertificate)
    return new Stop(
      EXIT.unreachable,
      `The certificate of ${url} is not trusted here (${code}).\nName the file of its authority: NODE_EXTRA_CA_CERTS=ca.pem`,
    )
  const why = name === 'TimeoutError' ? 'no answer in time' : (code ?? plainLine(String(cause)))
  return new Stop(
    EXIT.unreachable,
    [
      `Cannot reach a server at ${url} (${why}).`,
      ...formatOtherServers(url),
      `Start the server of this folder with \`${findProgramName()} up\`; name another with --url.`,
    ].join('\n'),
  )
}

/** Servers that the person may have meant, who is in another folder. */
function formatOtherServers(url: string): readonly string[] {
  const others = listRunningServers(getStateBase()).filter((server) => server.url !== url)
  if (others.length === 0) return []
  return [
    ...others.map((server) => `A server runs for ${plainLine(server.name)}: ${plainLine(server.url)}`),
    'If you mean that one, go to its repository.',
  ]
}
