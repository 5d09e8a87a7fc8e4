import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT, Stop } from '../exit.js'
import { defaultStateDir, givenStateDir, samplePath, upwards } from '../places.js'
import { programName } from '../program-name.js'
import { liveServerNote } from './server-file.js'

const DEFAULT_URL = 'http://localhost:8000'
const STATE_DIRS_MAX = 1000

export interface ClientOptions {
  readonly url?: string
  readonly tokenFile?: string
  /** A token of another kind than the operator's; then no other is looked for. */
  readonly token?: string
  readonly stateDir?: string
  readonly json?: boolean
}

/** Where the server is, and what proves that we may ask it. */
export interface Connection {
  readonly url: string
  readonly token: string | null
  /** The state directory whose server has to prove itself before the token is sent; null when both were named by hand. */
  readonly stateDir: string | null
}

/**
 * Finds the server and the operator token. A token that nobody named is only sent to the server
 * whose state directory it lies in: whoever else listens on that port must not get it.
 */
export function connect(options: ClientOptions): Connection {
  const { url, stateDir } = serverOf(options)
  const token = tokenOf(options, stateDir)
  const isByHand = namedUrl(options) !== null && namedToken(options) !== null && options.stateDir === undefined
  return { url, token, stateDir: token === null || isByHand ? null : stateDir }
}

/** The same options for the server that they mean now, wherever it listens: another one that answers later is not meant. */
export function pinned<Options extends ClientOptions>(options: Options): Options {
  const { stateDir } = serverOf(options)
  return stateDir === null ? options : { ...options, stateDir }
}

/** The server that a command means, and its state directory where that lies here. */
export function serverOf(options: ClientOptions): { readonly url: string; readonly stateDir: string | null } {
  const named = namedUrl(options)
  if (named !== null) {
    const url = checkedUrl(named)
    return { url, stateDir: givenStateDir(options.stateDir) ?? stateDirServing(url) }
  }
  const asked = givenStateDir(options.stateDir)
  // Whoever names a server means that one: what was meant for it must reach no other.
  if (asked !== null && liveServerNote(asked) === null)
    throw new Stop(
      EXIT.unreachable,
      `No server runs on the state directory ${asked}.\nStart one with \`${programName()} serve\`, or name another with --state-dir or --url.`,
    )
  const stateDir = stateDirOf(options)
  if (stateDir !== null) return { url: checkedUrl(liveServerNote(stateDir)?.url ?? DEFAULT_URL), stateDir }
  return { url: DEFAULT_URL, stateDir: stateDirServing(DEFAULT_URL) }
}

/** The state directory of the server that a command means: the one named, else of this work tree, else of the sample. */
function stateDirOf(options: ClientOptions): string | null {
  const given = givenStateDir(options.stateDir)
  if (given !== null) return liveServerNote(given) === null ? null : given
  return likelyStateDirs().find((dir) => liveServerNote(dir) !== null) ?? null
}

/** The state directory of the server that a command run here finds by itself; null when it finds none. */
export function stateDirFound(): string | null {
  return stateDirOf({}) ?? stateDirServing(DEFAULT_URL)
}

/** The state directories a command run here could mean, likeliest first. */
export function likelyStateDirs(): readonly string[] {
  return [...upwards(process.cwd()), samplePath()].map((folder) => defaultStateDir(folder))
}

function stateDirServing(url: string): string | null {
  const base = dirname(defaultStateDir('/'))
  if (!existsSync(base)) return null
  const port = portOf(url)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
  const dirs = readdirSync(base).slice(0, STATE_DIRS_MAX)
  const serves = (dir: string): boolean => {
    const note = liveServerNote(dir)
    return note !== null && (note.url === url || (isHere && portOf(note.url) === port))
  }
  return dirs.map((name) => join(base, name)).find(serves) ?? null
}

function namedUrl(options: ClientOptions): string | null {
  const named = options.url ?? process.env.PHASELOCK_URL ?? ''
  return named === '' ? null : named
}

function namedToken(options: ClientOptions): string | null {
  if (options.token !== undefined) return options.token
  if (options.tokenFile !== undefined) return readToken(options.tokenFile)
  const named = process.env.PHASELOCK_OPERATOR_TOKEN ?? ''
  return named === '' ? null : named.trim()
}

function tokenOf(options: ClientOptions, dir: string | null): string | null {
  const named = namedToken(options)
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

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Stop(EXIT.usage, `'${text}' is not an address such as ${DEFAULT_URL}.`)
  return url.origin
}

function portOf(url: string): string {
  const { port, protocol } = new URL(url)
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port
}
