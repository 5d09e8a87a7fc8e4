import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readRegistry } from '../../app/ledger/registry-book.js'
import { resolvePlaces } from '../../app/orchestrator.js'
import { loadContractFile } from '../../contract/load/load-contract.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { openStore } from '../../store/open-store.js'
import type { Store } from '../../store/store.js'
import { listLikelyStateDirs } from '../client/connection.js'
import { findRunningServer } from '../client/lock-holder.js'
import { findLiveServerNote, isAlive, type ServerNote } from '../client/server-file.js'
import { formatVolume, removeContainer } from '../container/remove-container.js'
import { chooseContract, ownContract } from '../contracts/choose-contract.js'
import { ContractPins } from '../contracts/contract-pins.js'
import { formatPermissionLines } from '../contracts/permission-text.js'
import { type SettledContract, settleContract, type WantedContract } from '../contracts/settle-contract.js'
import { EXIT, Stop } from '../exit.js'
import { findGivenStateDir, getDefaultStateDir } from '../places.js'
import { findProgramName, findProgramScript } from '../program-name.js'
import { formatStateDirOption, formatStepLines, listAgentSteps } from '../terminal/next-steps.js'
import { canAsk, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { formatHooks } from './hook-text.js'
import type { ServeOptions } from './serve.js'
import { startFailure } from './start-failure.js'
import { readStoreUrl } from './store-url.js'

const READY_MS_MAX = 30_000
// Drains, finishes running calls and closes the ledger.
const STOP_MS_MAX = 60_000
const POLL_MS = 50
const LOG_LINES_MAX = 30

/** A server of a state directory. */
export interface BackgroundServer {
  readonly note: ServerNote
  readonly stateDir: string
  /** Whether it was started now. */
  readonly isNew: boolean
}

/** Starts a server that outlives this program, and waits until it answers. */
export async function runUp(options: ServeOptions): Promise<void> {
  await askAboutContract(options)
  const { note, stateDir, isNew } = await showProgress('Starting the server', options.json === true, () =>
    startInBackground(options),
  )
  const settled = isNew ? await settleStartedContract(options) : null
  const { workspace } = resolveServerPlaces(options)
  const hooks = settled === null ? [] : await formatHooks(settled.contract, workspace, process.env)
  sayRunning(note, stateDir, { ...options, isNew, settled, hooks })
}

/** Asks about a contract that nobody has accepted yet: a background server has no terminal. */
export async function askAboutContract(options: ServeOptions): Promise<void> {
  const wanted = toWanted(options)
  if (options.contract !== undefined || !canAsk() || findRunningServer(wanted.stateDir) !== null) return
  const pin = new ContractPins(wanted.stateDir).findPin(wanted.workspace)
  if (ownContract(wanted.workspace) === null || (pin !== null && pin.by !== 'init')) return
  let store: Store | null = null
  try {
    store = await openStore({ dir: wanted.stateDir, url: readStoreUrl(options.store) })
    const { contracts } = await readRegistry(store)
    await settleContract(wanted, async () => contracts)
  } catch (error) {
    throw startFailure(error, options)
  } finally {
    await store?.close()
  }
}

// The server has loaded the contract, and its log has every warning. Nothing is accepted here: its pinned contract is
// used.
async function settleStartedContract(options: ServeOptions): Promise<SettledContract | null> {
  const wanted = toWanted(options)
  const pin = options.contract === undefined ? new ContractPins(wanted.stateDir).findPin(wanted.workspace) : null
  if (pin !== null) {
    const known = { ...pin, origin: 'file', registeredAt: pin.at }
    return settleContract(wanted, async () => new Map([[pin.hash, known]]))
  }
  const { path, origin } = chooseContract(options.contract, wanted.workspace)
  const loaded = await loadContractFile(path)
  if (!loaded.ok) return null
  return { ...loaded, origin, contractFile: null, contractBases: [], contractParts: [], isTrusted: true, notes: [] }
}

export function toWanted(options: ServeOptions): WantedContract {
  return { ...options, ...resolveServerPlaces(options), givenStateDir: findGivenStateDir(options.stateDir) }
}

/**
 * The server of the state directory that the options select; started in the background if none runs. `onSpawn` gets its
 * process before it answers.
 */
export async function startInBackground(
  options: ServeOptions,
  onSpawn: (pid: number) => void = () => undefined,
): Promise<BackgroundServer> {
  const { stateDir } = resolveServerPlaces(options)
  const note = findRunningServer(stateDir)
  if (note !== null) return { note, stateDir, isNew: false }
  const log = join(stateDir, 'server.log')
  if (existsSync(log)) renameSync(log, `${log}.1`)
  const file = openSync(log, 'a', 0o600)
  const child = spawn(process.execPath, [findProgramScript(), 'serve', ...buildArguments(options), '--json'], {
    detached: true,
    // Not an argument: other accounts can read arguments, and the address may hold a password.
    env: { ...process.env, PHASELOCK_STORE: readStoreUrl(options.store) ?? '' },
    stdio: ['ignore', file, file],
  })
  closeSync(file)
  if (child.pid !== undefined) onSpawn(child.pid)
  let ended: number | null = null
  child.once('exit', (code) => {
    ended = code ?? EXIT.refused
  })
  const deadline = Date.now() + READY_MS_MAX
  while (Date.now() < deadline && ended === null) {
    const started = findLiveServerNote(stateDir)
    if (started?.pid === child.pid && started !== null) {
      child.unref()
      return { note: started, stateDir, isNew: true }
    }
    await wait(POLL_MS)
  }
  const said = plainText(readFileSync(log, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES_MAX).join('\n')
  if (ended !== null) throw new Stop(ended === EXIT.usage ? EXIT.usage : EXIT.refused, extractMessage(said))
  throw new Stop(EXIT.refused, `The server is not ready after ${READY_MS_MAX / 1000} s. Its log is ${log}\n${said}`)
}

// The child prints JSON; its message for people is inside.
export function extractMessage(said: string): string {
  const last = said.split('\n').at(-1) ?? ''
  try {
    const { error } = JSON.parse(last) as { error?: unknown }
    return typeof error === 'string' ? error : said
  } catch {
    // Not JSON: a fault, shown unchanged.
    return said
  }
}

export function resolveServerPlaces(options: ServeOptions): { readonly stateDir: string; readonly workspace: string } {
  const workspace = options.workspace ?? process.cwd()
  try {
    const places = resolvePlaces({
      workspace,
      stateDir: findGivenStateDir(options.stateDir) ?? getDefaultStateDir(workspace),
    })
    for (const line of places.closed) tell(plainLine(line))
    return places
  } catch (error) {
    throw startFailure(error, options)
  }
}

function buildArguments(options: ServeOptions): readonly string[] {
  const given: readonly (readonly [string, string | undefined])[] = [
    ['--port', String(options.port)],
    ['--host', options.host],
    ['--contract', options.contract],
    ['--workspace', options.workspace],
    ['--state-dir', options.stateDir],
    ['--advertise', options.advertise],
    ['--shared-trees', options.sharedTrees],
    ['--drain', options.drain === undefined ? undefined : String(options.drain)],
    ['--confinement', options.confinement],
    ['--min-confinement', options.minConfinement],
    ['--confirm', options.confirm],
    ['--tls-cert', options.tlsCert],
    ['--tls-key', options.tlsKey],
    ...(options.allowHost ?? []).map((name) => ['--allow-host', name] as const),
    ...(options.transcripts ?? []).map((dir) => ['--transcripts', dir] as const),
  ]
  const named = given.flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
  const flags = [
    ...(options.insecureHttp === true ? ['--insecure-http'] : []),
    ...(options.firstCode === true ? ['--first-code'] : []),
    ...(options.logFormat === undefined ? [] : ['--log-format', options.logFormat]),
  ]
  return [...named, ...flags]
}

export function sayRunning(
  note: ServerNote,
  stateDir: string,
  how: {
    readonly isNew: boolean
    readonly json?: boolean
    readonly settled?: SettledContract | null
    readonly hooks?: readonly string[]
  },
): void {
  if (how.json === true) {
    printJson({ event: how.isNew ? 'ready' : 'running', ...pick(note), state_dir: stateDir })
    return
  }
  print(how.isNew ? `Phaselock runs at ${note.url} (${formatWhere(note)}).` : formatAlreadyRuns(note))
  const [program, where] = [findProgramName(), formatStateDirOption(stateDir)]
  print(`Log in to the dashboard with: ${program} login${where}`)
  print(`State and log: ${stateDir}\nStop it with: ${program} down${where}`)
  if (!how.isNew) return
  const { settled = null } = how
  if (settled !== null) print(formatContractLines(settled).join('\n'))
  for (const line of how.hooks ?? []) print(`Git hooks: ${line}`)
  const agents = settled?.contract.agents ?? new Map()
  print(`\nNext:\n${formatStepLines(listAgentSteps({ program, agents, environment: process.env, where })).join('\n')}`)
}

function formatContractLines({ contract, file, origin, notes }: SettledContract): readonly string[] {
  const from = origin === 'file' ? file : origin.replace(':', ' ')
  return [
    ...notes,
    `Contract: ${plainLine(contract.name)} ${plainLine(contract.version)} (${plainLine(from)}). It asks for:`,
    ...formatPermissionLines(contract).map((line) => `  ${line}`),
  ]
}

function formatAlreadyRuns(note: ServerNote): string {
  return `A server already runs at ${note.url} (${formatWhere(note)}); it keeps running.`
}

function formatWhere({ pid, container }: ServerNote): string {
  return container === undefined ? `pid ${pid}` : `container ${container.name}`
}

function pick(note: ServerNote) {
  return { url: note.url, api: `${note.url}/api/v1`, pid: note.pid, started_at: note.startedAt }
}

export interface DownOptions {
  readonly workspace?: string
  readonly stateDir?: string
  readonly json?: boolean
}

/** Stops the server of a work tree, and waits until it is gone. */
export async function runDown(options: DownOptions): Promise<void> {
  const given = findGivenStateDir(options.stateDir)
  const named = options.workspace === undefined ? null : getDefaultStateDir(options.workspace)
  const dirs = given !== null ? [given] : named !== null ? [named] : listLikelyStateDirs()
  const dir = dirs.find((one) => findRunningServer(one) !== null)
  const note = dir === undefined ? null : findRunningServer(dir)
  if (note === null || dir === undefined) {
    if (options.json === true) return printJson({ event: 'not_running' })
    return print('No server runs for this work tree.')
  }
  await stopServer(note)
  if (options.json === true) return printJson({ event: 'stopped', pid: note.pid, state_dir: dir })
  print(`Stopped the server at ${note.url} (${formatWhere(note)}).`)
  if (note.container !== undefined) print(formatVolume(note.container))
}

/** Tells a server to stop, and waits until it is gone. */
export async function stopServer(note: ServerNote): Promise<void> {
  if (note.container !== undefined) return removeContainer(note.container)
  process.kill(note.pid, 'SIGTERM')
  const deadline = Date.now() + STOP_MS_MAX
  while (isAlive(note.pid)) {
    if (Date.now() > deadline)
      throw new Stop(EXIT.refused, `The server (pid ${note.pid}) has not stopped after ${STOP_MS_MAX / 1000} s.`)
    await wait(POLL_MS)
  }
}
