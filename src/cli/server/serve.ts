import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { readRegistry } from '../../app/ledger/registry-book.js'
import { type Orchestrator, openOrchestrator, resolvePlaces } from '../../app/orchestrator.js'
import { PROGRAM_VERSION } from '../../app/version.js'
import type { ProviderName } from '../../confinement/confinement.js'
import type { ConfirmSetting } from '../../core/identity/sensitive-acts.js'
import { plainJson, plainLine } from '../../core/plain-text.js'
import { listAllowedHosts } from '../../http/allowed-hosts.js'
import { buildServer, type Entrance } from '../../http/server.js'
import { openStore } from '../../store/open-store.js'
import { computeServerProof, writeProofKey } from '../../store/server-proof.js'
import { takeSharedFolder } from '../../store/shared-trees/shared-folder.js'
import type { Store } from '../../store/store.js'
import { removeServerNote, writeServerNote } from '../client/server-file.js'
import { type SettledContract, settleContract } from '../contracts/settle-contract.js'
import { EXIT, Stop } from '../exit.js'
import { findGivenStateDir, getDefaultStateDir } from '../places.js'
import { startTelemetry } from '../telemetry/start-telemetry.js'
import { print, tell, tolerateClosedPipes } from '../terminal/terminal.js'
import { formatHooks } from './hook-text.js'
import { formatAddress, isLoopback, type Listening, listen } from './listen.js'
import type { LogFormat } from './log-formats.js'
import { formatReady } from './ready-text.js'
import { ServerLog } from './server-log.js'
import { startFailure } from './start-failure.js'
import { readDrainSeconds, stopInOrder } from './stop-in-order.js'
import { readAdvertised, readSharedTrees, readStoreUrl, requireSigningSecret } from './store-url.js'

const log = new ServerLog()
const CLOSE_MS_MAX = 10_000
// One Ctrl-C reaches a process several times when npm and the terminal both pass it on.
const SAME_SIGNAL_MS = 300

export interface ServeOptions {
  readonly port: number
  readonly host: string
  readonly contract?: string
  readonly workspace?: string
  readonly stateDir?: string
  readonly store?: string
  readonly advertise?: string
  readonly sharedTrees?: string
  readonly drain?: number
  readonly confinement?: ProviderName
  readonly minConfinement?: 'required' | 'best_effort'
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly insecureHttp?: boolean
  readonly allowHost?: readonly string[]
  readonly transcripts?: readonly string[]
  readonly confirm?: ConfirmSetting
  readonly firstCode?: boolean
  readonly logFormat?: LogFormat
  readonly json?: boolean
}

/** Runs the server in this process until it is stopped. */
export async function serve(options: ServeOptions): Promise<void> {
  tolerateClosedPipes(() => undefined)
  const tls = chooseTransport(options)
  readAdvertised(options.advertise)
  const drainSeconds = readDrainSeconds(options.drain)
  const url = readStoreUrl(options.store)
  requireSigningSecret(url)
  readSharedTrees(options.sharedTrees, url)
  await log.open(options.logFormat ?? 'auto')
  const endTelemetry = await startTelemetry(process.env)
  try {
    const running = await start(options, tls)
    // It answers from here on: a stop request during the sandbox probes is handled.
    stopOnSignals({ ...running, endTelemetry, drainSeconds })
    log.useRedactor(running.app.redact)
    tellAlerts(running.app)
    const { announcement, text, notes } = await running.ready()
    if (options.json === true) for (const note of notes) tell(note)
    print(options.json === true ? plainJson(announcement) : text())
  } catch (error) {
    throw startFailure(error, options)
  }
}

interface Running {
  readonly app: Orchestrator
  readonly entrance: Entrance
  readonly listening: Listening
  readonly stateDir: string
  readonly ready: () => Promise<Ready>
}

interface Ready {
  readonly announcement: Readonly<Record<string, unknown>>
  /** Only for people: reads the contract's permissions and what is installed. */
  readonly text: () => string
  readonly notes: readonly string[]
}

type Tls = { readonly cert: Buffer; readonly key: Buffer } | null

async function start(options: ServeOptions, tls: Tls): Promise<Running> {
  const wanted = options.workspace ?? process.cwd()
  const givenDir = findGivenStateDir(options.stateDir)
  const places = resolvePlaces({ workspace: wanted, stateDir: givenDir ?? getDefaultStateDir(wanted) })
  const { stateDir, closed } = places
  for (const line of closed) tell(plainLine(line))
  const { app, settled } = await openApp(options, { ...places, givenStateDir: givenDir })
  try {
    let hosts: ReadonlySet<string> = new Set()
    let url = ''
    const advertised = readAdvertised(options.advertise)
    const prove = (nonce: string): string | null => computeServerProof(stateDir, { url, nonce })
    const entrance = buildServer(app, {
      hosts: () => hosts,
      onFault: logFault,
      prove,
      ...(tls === null ? {} : { tls }),
    })
    const listening = await listen(entrance.server, options)
    const { port } = listening
    const names = (options.allowHost ?? []).map((name) => name.toLowerCase())
    url = formatAddress({ host: options.host, port, isTls: tls !== null })
    await app.ledger.cluster?.announce({ url: advertised ?? url, programVersion: PROGRAM_VERSION })
    if (process.env.PHASELOCK_CONTAINER === '1') writeProofKey(stateDir)
    await leaveNote(stateDir, url, listening)
    // Until here every Host is refused: a client that gets 200 from /ready can run CLI commands, which read the note.
    hosts = new Set([...listAllowedHosts({ host: options.host, port, extra: names }), ...names])
    const ready = async (): Promise<Ready> => {
      const isFirst = app.firstStart || options.firstCode === true
      const { code, expiresAt } = app.operators.codes.makeAtStart(isFirst)
      const login = `${url}/login#code=${code}`
      const confinement = await app.confinement()
      const announcement = {
        event: 'ready',
        url,
        api: `${url}/api/v1`,
        pid: process.pid,
        state_dir: stateDir,
        login: { url: login, expires_at: new Date(expiresAt).toISOString(), first: isFirst },
        confinement: {
          provider: confinement.provider,
          missing: confinement.missing,
          contract: app.contractOf.enforcement.confinement,
        },
        contract: { hash: settled.contract.hash, trusted: settled.isTrusted, notes: settled.notes },
      }
      const hooks = await formatHooks(app.contractOf, app.workspace, app.environment)
      const isInsecure = isExposed(options, tls)
      const text = (): string => formatReady({ app, confinement, url, login, settled, isInsecure, hooks })
      return { announcement, text, notes: [...settled.notes, ...hooks.map((line) => `Git hooks: ${line}`)] }
    }
    return { app, entrance, listening, stateDir, ready }
  } catch (error) {
    await app.close()
    throw error
  }
}

async function leaveNote(stateDir: string, url: string, listening: Listening): Promise<void> {
  try {
    writeServerNote(stateDir, { pid: process.pid, url, startedAt: new Date().toISOString() })
  } catch (error) {
    await listening.close()
    throw error
  }
}

async function openApp(
  options: ServeOptions,
  places: { readonly stateDir: string; readonly workspace: string; readonly givenStateDir: string | null },
): Promise<{ readonly app: Orchestrator; readonly settled: SettledContract }> {
  const { minConfinement = null } = options
  const { stateDir, workspace } = places
  const url = readStoreUrl(options.store)
  const folder = readSharedTrees(options.sharedTrees, url)
  const sharedTrees = folder === null ? null : takeSharedFolder(folder, places)
  for (const line of sharedTrees?.closed ?? []) tell(plainLine(line))
  let opened: Store | null = null
  const open = async (): Promise<Store> => (opened ??= await openStore({ dir: stateDir, url }))
  try {
    const settled = await settleContract(
      { ...options, ...places },
      async () => (await readRegistry(await open())).contracts,
    )
    const store = await open()
    const app = await openOrchestrator({
      ...{ stateDir, workspace, sharedTrees, store, onFault: logFault, minConfinement },
      contract: settled,
      environment: process.env,
      onNotice: (text) => log.notice(text),
      contractFile: settled.contractFile,
      contractBases: settled.contractBases,
      contractParts: settled.contractParts,
      provider: options.confinement ?? null,
      confirm: options.confirm ?? 'native',
      transcripts: options.transcripts ?? [],
    })
    return { app, settled }
  } catch (error) {
    await (opened as Store | null)?.close()
    throw error
  }
}

interface Stoppable extends Running {
  readonly endTelemetry: () => Promise<void>
  readonly drainSeconds: number | null
}

function stopOnSignals(running: Stoppable): void {
  let firstAt: number | null = null
  const onSignal = (signal: NodeJS.Signals): void => {
    if (firstAt === null) {
      firstAt = Date.now()
      // Who presses Ctrl-C waits for it.
      void stop(signal === 'SIGTERM' ? running : { ...running, drainSeconds: 0 })
    } else if (Date.now() - firstAt > SAME_SIGNAL_MS) {
      removeServerNote(running.stateDir, process.pid)
      process.exit(130)
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}

async function stop(running: Stoppable): Promise<void> {
  const { app, entrance, listening, stateDir, endTelemetry, drainSeconds } = running
  tell('Stopping after running requests have finished. Press Ctrl-C again to stop immediately.')
  let code: number = EXIT.ok
  try {
    await stopInOrder({ app, entrance }, drainSeconds)
    const deadline = setTimeout(() => entrance.server.server.closeAllConnections(), CLOSE_MS_MAX)
    await listening.close()
    clearTimeout(deadline)
    await app.close()
    await endTelemetry()
    tell('Stopped. Everything that was answered is on disk.')
  } catch (error) {
    code = EXIT.refused
    logFault(error)
  }
  removeServerNote(stateDir, process.pid)
  process.exit(code)
}

function chooseTransport(options: ServeOptions): Tls {
  const { tlsCert, tlsKey } = options
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new Stop(EXIT.usage, 'TLS needs both --tls-cert FILE and --tls-key FILE.')
  if (tlsCert !== undefined && tlsKey !== undefined)
    return checkKeyPair({ cert: readPem('--tls-cert', tlsCert), key: readPem('--tls-key', tlsKey) })
  if (!isLoopback(options.host) && options.insecureHttp !== true)
    throw new Stop(
      EXIT.usage,
      `Other machines could reach ${options.host} and read the tokens that go over it.\nGive --tls-cert FILE and --tls-key FILE, or take the risk with --insecure-http.`,
    )
  return null
}

function checkKeyPair(pair: { readonly cert: Buffer; readonly key: Buffer }): Tls {
  try {
    createSecureContext(pair)
    return pair
  } catch {
    throw new Stop(
      EXIT.usage,
      '--tls-cert and --tls-key are not a certificate and its key in PEM form without a passphrase.',
    )
  }
}

function isExposed(options: ServeOptions, tls: Tls): boolean {
  return tls === null && !isLoopback(options.host)
}

function readPem(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Stop(
      EXIT.usage,
      `${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'fault'}).`,
    )
  }
}

function tellAlerts(app: Orchestrator): void {
  app.feed.subscribe(({ type, stream, data }) => {
    if (type !== 'alert_raised' && type !== 'alert_cleared') return
    const what = type === 'alert_raised' ? 'alert' : 'alert cleared'
    const message = typeof data.message === 'string' && data.message !== '' ? `: ${data.message}` : ''
    const [task, alert] = [stream.replace(/^task:/, ''), String(data.alert)]
    log.alert(`${what}: task ${task} ${alert}${message}`, { task, alert, isCleared: type === 'alert_cleared' })
  })
}

const logFault = (error: unknown): void => log.fault(error)
