import { join } from 'node:path'
import { type ClientOptions, listLikelyStateDirs } from '../client/connection.js'
import { findRunningServer } from '../client/lock-holder.js'
import { isAlive } from '../client/server-file.js'
import { findGivenStateDir } from '../places.js'
import type { BackgroundServer } from '../server/background.js'
import { tell } from '../terminal/terminal.js'

const HOST = '127.0.0.1'

/** The server that a command works with. */
export interface Door {
  readonly client: ClientOptions
  /** Stops the server if it was started for this command. */
  readonly close: () => Promise<void>
}

/** The server of this work tree, or one that is started for as long as it is needed. */
export async function openDoor(options: ClientOptions): Promise<Door> {
  if (isNamed(options) || isServerHere(options)) return useRunningServer(options)
  tell('No server runs for this work tree: starting one for this command.')
  // Loaded on demand: it loads the whole server.
  const { startInBackground, stopServer } = await import('../server/background.js')
  const where = options.stateDir === undefined ? {} : { stateDir: options.stateDir }
  let started: number | null = null
  // However this program ends, the server does not outlive it.
  const stop = (): void => {
    if (started !== null && isAlive(started)) process.kill(started, 'SIGTERM')
  }
  process.once('exit', stop)
  const server = await startInBackground({ port: 0, host: HOST, ...where }, (pid) => {
    started = pid
  })
  const client = buildClientOptions(server, options)
  if (!server.isNew) return useRunningServer(client)
  const close = async (): Promise<void> => {
    await stopServer(server.note)
    process.off('exit', stop)
  }
  return { client, close }
}

function useRunningServer(client: ClientOptions): Door {
  return { client, close: () => Promise.resolve() }
}

function isNamed(options: ClientOptions): boolean {
  return (options.url ?? process.env.PHASELOCK_URL ?? '') !== ''
}

function isServerHere(options: ClientOptions): boolean {
  const given = findGivenStateDir(options.stateDir)
  return (given === null ? listLikelyStateDirs() : [given]).some((dir) => findRunningServer(dir) !== null)
}

/** A token that was set for another server must not be sent to this one. */
function buildClientOptions({ note, stateDir }: BackgroundServer, options: ClientOptions): ClientOptions {
  return { ...options, url: note.url, stateDir, tokenFile: options.tokenFile ?? join(stateDir, 'operator.token') }
}
