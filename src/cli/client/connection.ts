import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT, Stop } from '../exit.js'
import {
  CONTRACT_FILE,
  findGivenStateDir,
  getDefaultStateDir,
  getSamplePath,
  listFoldersUpwards,
  WORKFLOW_FOLDER,
} from '../places.js'
import { findProgramName } from '../program-name.js'
import { findLiveServerNote } from './server-file.js'

const DEFAULT_URL = 'http://localhost:8000'
const STATE_DIRS_MAX = 1000

export interface ClientOptions {
  readonly url?: string
  readonly tokenFile?: string
  /** A token other than the operator's; then no other is looked for. */
  readonly token?: string
  readonly stateDir?: string
  readonly json?: boolean
  /** Where the passphrase is, for acts that need a confirmation. */
  readonly passphraseFile?: string
}

/** The server's address, and the token to use. */
export interface Connection {
  readonly url: string
  readonly token: string | null
  /**
   * The state directory whose server has to prove itself before the token is sent; null when both were given by hand.
   */
  readonly stateDir: string | null
}

/**
 * Finds the server and the operator token. A token that was not given explicitly is sent only to the server of its own
 * state directory: another program on that port must not get it.
 */
export function connect(options: ClientOptions): Connection {
  const { url, stateDir } = findServer(options)
  const token = findToken(options, stateDir)
  const isByHand = findNamedUrl(options) !== null && findNamedToken(options) !== null && options.stateDir === undefined
  return { url, token, stateDir: token === null || isByHand ? null : stateDir }
}

/**
 * The same options for the server that they select now, wherever it listens: a different server that answers later is
 * not meant.
 */
export function pinServer<Options extends ClientOptions>(options: Options): Options {
  const { stateDir } = findServer(options)
  return stateDir === null ? options : { ...options, stateDir }
}

/** The server that a command means, and its state directory if it is on this machine. */
export function findServer(options: ClientOptions): { readonly url: string; readonly stateDir: string | null } {
  const named = findNamedUrl(options)
  if (named !== null) {
    const url = checkUrl(named)
    return { url, stateDir: findGivenStateDir(options.stateDir) ?? findServingStateDir(url) }
  }
  const asked = findGivenStateDir(options.stateDir)
  // An explicitly named server is the only one meant: the call must not reach another.
  if (asked !== null && findLiveServerNote(asked) === null)
    throw new Stop(
      EXIT.unreachable,
      `No server runs on the state directory ${asked}.\nStart one with \`${findProgramName()} serve\`, or name another with --state-dir or --url.`,
    )
  const stateDir = findStateDir(options)
  if (stateDir !== null) return { url: checkUrl(findLiveServerNote(stateDir)?.url ?? DEFAULT_URL), stateDir }
  const serving = findServingStateDir(DEFAULT_URL)
  if (serving !== null && isForeignSample(serving))
    throw new Stop(
      EXIT.unreachable,
      `No server runs for this work tree; the one at ${DEFAULT_URL} is that of the sample project.\nStart one with \`${findProgramName()} up\`, or name another with --state-dir or --url.`,
    )
  // Whatever answers there is the server of somebody else, and nothing here has a token for it.
  if (serving === null && hasOwnContract() && findNamedToken(options) === null)
    throw new Stop(
      EXIT.unreachable,
      `No server runs for this work tree.\nStart one with \`${findProgramName()} up\`, or name another with --state-dir or --url.`,
    )
  return { url: DEFAULT_URL, stateDir: serving }
}

// A repository with a contract means its own server: a command must not act on the sample project in its place.
function isForeignSample(stateDir: string): boolean {
  return stateDir === getDefaultStateDir(getSamplePath()) && !listLikelyStateDirs().includes(stateDir)
}

function hasOwnContract(): boolean {
  const names = [CONTRACT_FILE, WORKFLOW_FOLDER]
  return listFoldersUpwards(process.cwd()).some((folder) => names.some((name) => existsSync(join(folder, name))))
}

/** The state directory of the server that a command means: the one named, else of this work tree, else of the sample. */
function findStateDir(options: ClientOptions): string | null {
  const given = findGivenStateDir(options.stateDir)
  if (given !== null) return findLiveServerNote(given) === null ? null : given
  return listLikelyStateDirs().find((dir) => findLiveServerNote(dir) !== null) ?? null
}

/** The state directory of the server that a command run here finds by itself; null when it finds none. */
export function findLocalStateDir(): string | null {
  const serving = findServingStateDir(DEFAULT_URL)
  return findStateDir({}) ?? (serving !== null && isForeignSample(serving) ? null : serving)
}

/** The state directories that a command run here could mean, most likely first. */
export function listLikelyStateDirs(): readonly string[] {
  const sample = hasOwnContract() ? [] : [getSamplePath()]
  return [...listFoldersUpwards(process.cwd()), ...sample].map((folder) => getDefaultStateDir(folder))
}

function findServingStateDir(url: string): string | null {
  const base = dirname(getDefaultStateDir('/'))
  if (!existsSync(base)) return null
  const port = parsePort(url)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
  const dirs = readdirSync(base).slice(0, STATE_DIRS_MAX)
  const serves = (dir: string): boolean => {
    const note = findLiveServerNote(dir)
    return note !== null && (note.url === url || (isHere && parsePort(note.url) === port))
  }
  return dirs.map((name) => join(base, name)).find(serves) ?? null
}

function findNamedUrl(options: ClientOptions): string | null {
  const named = options.url ?? process.env.PHASELOCK_URL ?? ''
  return named === '' ? null : named
}

function findNamedToken(options: ClientOptions): string | null {
  if (options.token !== undefined) return options.token
  if (options.tokenFile !== undefined) return readToken(options.tokenFile)
  const named = process.env.PHASELOCK_OPERATOR_TOKEN ?? ''
  return named === '' ? null : named.trim()
}

function findToken(options: ClientOptions, dir: string | null): string | null {
  const named = findNamedToken(options)
  if (named !== null) return named
  const file = dir === null ? null : join(dir, 'operator.token')
  return file !== null && existsSync(file) ? readToken(file) : null
}

export function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'fault'
    throw new Stop(EXIT.usage, `The token file ${file} cannot be read (${code}).`)
  }
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Stop(EXIT.usage, `'${text}' is not an address such as ${DEFAULT_URL}.`)
  return url.origin
}

export function parsePort(url: string): string {
  const { port, protocol } = new URL(url)
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port
}
