import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Client, openClient } from '../client/client.js'
import { type ClientOptions, type Connection, connect, pinServer } from '../client/connection.js'
import { findRunningServer } from '../client/lock-holder.js'
import { ProvenConnections, type Received } from '../client/proven-connections.js'
import { ownContract } from '../contracts/choose-contract.js'
import { EXIT, Stop } from '../exit.js'
import { findGivenStateDir, getDefaultStateDir, listFoldersUpwards } from '../places.js'
import { findProgramName } from '../program-name.js'
import { tell } from '../terminal/terminal.js'

const PORT = 8000
const HOST = '127.0.0.1'

export interface ServerWanted extends ClientOptions {
  readonly contract?: string
}

interface Sent {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

interface HookSent {
  readonly path: string
  readonly body: string
  readonly signal: AbortSignal
}

/** The server of a session. It is looked up for every call, so that it may be restarted in the middle. */
export class SessionServer {
  readonly #options: ClientOptions
  #kept: ProvenConnections | 'none' | null = null

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** The address for people. */
  get url(): string {
    return connect(this.#options).url
  }

  /** Where the server keeps its state; null: on another machine, or reached with a token given by hand. */
  get stateDir(): string | null {
    return connect(this.#options).stateDir
  }

  /** With the token of the person who opened the session. */
  operator(): Promise<Client> {
    return openClient(this.#options)
  }

  agent(token: string): Promise<Client> {
    return openClient({ ...this.#options, token })
  }

  /** A message of a hook, with the agent's token. Hooks are many and short: their connections stay open. */
  async sendHook(token: string, hook: HookSent): Promise<Received> {
    this.#kept ??= this.#keepConnections(token)
    if (this.#kept !== 'none') return this.#kept.post({ ...hook, token })
    const response = await this.send(token, hook)
    return { status: response.status, text: await response.text() }
  }

  // A server on another machine, or behind TLS, is asked with a connection for each call.
  #keepConnections(token: string): ProvenConnections | 'none' {
    const find = (): Connection => connect({ ...this.#options, token })
    const { url, stateDir } = find()
    if (stateDir === null || !url.startsWith('http:')) return 'none'
    return new ProvenConnections(() => ({ url: find().url, stateDir }))
  }

  /** A request with the agent's token. It is sent only to a server that proves to be the one of the session. */
  async send(token: string, { method = 'POST', path, body, headers, signal }: Sent): Promise<Response> {
    const { url, stateDir } = connect({ ...this.#options, token })
    if (stateDir !== null) await (await import('../client/prove-server.js')).requireProof(stateDir, url)
    return fetch(`${url}${path}`, {
      method,
      redirect: 'error',
      body,
      headers: { 'content-type': 'application/json', ...headers, authorization: `Bearer ${token}` },
      ...(signal === undefined ? {} : { signal }),
    })
  }
}

/** The running server of this repository; started in the background if none runs. */
export async function openSessionServer(wanted: ServerWanted): Promise<SessionServer> {
  const { contract, ...options } = wanted
  if (options.url !== undefined || (process.env.PHASELOCK_URL ?? '') !== '') return pinned(options)
  const given = findGivenStateDir(options.stateDir)
  const known = given === null ? findServedFolder() : { stateDir: given }
  if (known !== null && findRunningServer(known.stateDir) !== null)
    return pinned({ ...options, stateDir: known.stateDir })
  const workspace = findWorkspace()
  if (contract === undefined && ownContract(workspace) === null && !existsSync(join(workspace, '.git')))
    throw new Stop(
      EXIT.refused,
      `${workspace} is not in a git repository, and the bundled contract tdd asks for commits. Nothing was started.\nGo to your repository, or make one here with \`git init\`.`,
    )
  const { askAboutContract, startInBackground } = await import('../server/background.js')
  const start = {
    ...{ workspace, host: HOST, port: PORT },
    ...(given === null ? {} : { stateDir: given }),
    ...(contract === undefined ? {} : { contract }),
  }
  await askAboutContract(start)
  if (contract === undefined && ownContract(workspace) === null)
    tell(
      `${workspace} has no contract of its own: the bundled contract tdd is used.\nWrite one that fits the repository with \`${findProgramName()} init\`.`,
    )
  const { note, stateDir } = await startAtFreePort((port) => startInBackground({ ...start, port }))
  tell(`Started the server of ${workspace}: ${note.url} (stop it with \`${findProgramName()} down\`).`)
  return pinned({ ...options, stateDir })
}

function pinned(options: ClientOptions): SessionServer {
  return new SessionServer(pinServer(options))
}

function findServedFolder(): { readonly stateDir: string } | null {
  const dirs = listFoldersUpwards(process.cwd()).map((folder) => getDefaultStateDir(folder))
  const stateDir = dirs.find((dir) => existsSync(dir) && findRunningServer(dir) !== null)
  return stateDir === undefined ? null : { stateDir }
}

/** The nearest folder with a contract, else the root of the repository, else this folder. */
export function findWorkspace(): string {
  const folders = listFoldersUpwards(process.cwd())
  const isRoot = (folder: string): boolean => existsSync(join(folder, '.git'))
  const root = folders.findIndex(isRoot)
  const inside = root === -1 ? folders.slice(0, 1) : folders.slice(0, root + 1)
  return inside.find((folder) => ownContract(folder) !== null) ?? inside.at(-1) ?? process.cwd()
}

/** At the usual port, or at any other where that one is taken. */
async function startAtFreePort<T>(startAt: (port: number) => Promise<T>): Promise<T> {
  if (!(await isFree(PORT))) return startAt(0)
  try {
    return await startAt(PORT)
  } catch (error) {
    // Another server took it in the meantime.
    if (error instanceof Stop && !(await isFree(PORT))) return startAt(0)
    throw error
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host: HOST, port }, () => probe.close(() => resolve(true)))
  })
}
