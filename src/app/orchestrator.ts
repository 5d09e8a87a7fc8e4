import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { GO_CACHE, GoCache } from '../confinement/view/go-cache.js'
import type { Contract } from '../core/contract/contract.js'
import { FIRST_OPERATOR } from '../core/identity/registry.js'
import { type Cleaner, makeCleaner } from '../store/redaction/clean-data.js'
import { listEnvironmentSecrets } from '../store/redaction/secret-names.js'
import type { TreeFence } from '../store/shared-trees/tree-fence.js'
import { takeStateDirectory } from '../store/state-directory.js'
import type { Store } from '../store/store.js'
import type { App } from './app.js'
import { watchVotes } from './councils/consensus-watch.js'
import { Coordinations } from './councils/councils.js'
import { HookSessions } from './hooks/hook-sessions.js'
import { hashToken } from './identity/identity.js'
import { openOperatorAccess } from './identity/operator-access.js'
import { openSecrets, type SecretKeeper } from './identity/secrets.js'
import { Tokens } from './identity/tokens.js'
import { observeAppends } from './ledger/append-stats.js'
import { Feed } from './ledger/feed.js'
import { InFlight } from './ledger/idempotency.js'
import { type Integrity, verifyInBackground } from './ledger/integrity.js'
import { Ledger } from './ledger/ledger.js'
import { Quota, RefusalLog } from './ledger/refusal-log.js'
import { McpArrivals } from './mcp-arrivals.js'
import type { OrchestratorOptions } from './orchestrator-options.js'
import { RunFiles } from './status/run-files.js'
import { keepRunFiles, putCoordination } from './status/status-files.js'
import { TaskRuns } from './status/task-runs.js'
import { startSweep } from './sweep.js'
import { AlertBoard } from './tasks/alert-board.js'
import { ContractBook } from './tasks/contract-book.js'
import { Baselines } from './test-runs/baselines.js'
import { CrateCache } from './test-runs/crate-cache.js'
import { Observations } from './test-runs/observations.js'
import { readTaskBytesMax } from './tool-calls/added-bytes.js'
import { endScratch } from './tool-calls/end-ignored.js'
import { LongTools } from './tool-calls/long-tools.js'
import { openWorkshop } from './tool-calls/tool-runtime.js'
import { listClaudeCodeFolders, Transcripts } from './transcripts.js'
import { Checking } from './transitions/checking.js'
import { LongGates } from './transitions/long-gates.js'
import { recoverTrees } from './trees/recover-trees.js'
import { shareTrees } from './trees/share-trees.js'
import { PROGRAM_VERSION } from './version.js'
import { type WebhookStatus, Webhooks } from './webhooks/webhooks.js'

export type { OrchestratorOptions }

const TOKEN_REFUSALS_PER_MINUTE = 60

/** A running orchestrator without its HTTP and MCP servers. */
export interface Orchestrator extends App {
  readonly refusals: RefusalLog
  readonly inFlight: InFlight
  readonly contractOf: Contract
  /** The environment of the server; agents get only a small part of it. */
  readonly environment: NodeJS.ProcessEnv
  /** Progress of the ledger verification that starts with the server. */
  readonly integrity: () => Integrity
  /** The addresses that get events, with their newest deliveries. */
  readonly webhooks: () => Promise<readonly WebhookStatus[]>
  /** True when this start wrote the operator token. */
  readonly firstStart: boolean
  close(): Promise<void>
}

/** The state directory holds all keys and the ledger, so it must not lie where agents work. */
export class BadPlace extends Error {
  override readonly name = 'BadPlace'
}

export async function openOrchestrator(options: OrchestratorOptions): Promise<Orchestrator> {
  const now = options.now ?? chooseClock(options.store)
  const { contract } = options.contract
  const { hash: defaultContract } = contract
  const { secrets, redact, clean } = keepSecrets(options)
  const tokens = new Tokens(secrets.signing())
  const { kept, closeKept } = await shareTrees(options)
  const ledger = await startLedger(options.store, { secrets, redact, clean, fence: kept.fence })
  const contracts = new ContractBook(ledger, options.minConfinement ?? null)
  const system = { now: now(), actor: 'system' }
  const { origin, isTrusted = true } = options.contract
  await contracts.register(options.contract, { ...system, origin, isTrusted })
  const firstStart = await ensureOperator(ledger, secrets, system)
  await ledger.record({ type: 'server_started', programVersion: PROGRAM_VERSION, contractHash: contract.hash }, system)
  const feed = new Feed(ledger)
  const workshop = openWorkshop(options, kept)
  let isClosing = false
  // Failures caused by closing the store are not faults.
  const onFault = (error: unknown): void => {
    if (!isClosing) options.onFault(error)
  }
  const runFiles = new RunFiles(options.stateDir, onFault)
  const places = { ...pickPlaces(options), ...kept }
  const { confinement, trees } = workshop
  const around = { ledger, contracts, tokens, now, redact, confinement, trees, defaultContract, ...places }
  const coordinations = new Coordinations(around, options.environment, onFault)
  const checking = new Checking()
  const transcriptFolders = listClaudeCodeFolders(options.environment, options.transcripts)
  const longGates = new LongGates(options.answerWithinMs)
  const app: App = {
    ...around,
    feed,
    secrets,
    tokenRefusals: new Quota(TOKEN_REFUSALS_PER_MINUTE),
    ...{ checking, longGates, longTools: new LongTools(longGates), advancing: new Set<string>() },
    alerts: new AlertBoard(),
    running: workshop.running,
    onFault,
    ...{ upstream: workshop.upstream, gitSettings: workshop.gitSettings, isSandboxOpen: workshop.isSandboxOpen },
    ...{ observations: new Observations(), baselines: new Baselines(join(options.stateDir, 'baselines'), onFault) },
    goCache: new GoCache(join(options.stateDir, GO_CACHE), options.environment),
    crates: new CrateCache(options.stateDir),
    ...pickStored(workshop),
    transcripts: new Transcripts(options.stateDir, transcriptFolders, onFault),
    mcpArrivals: new McpArrivals(),
    hookSessions: new HookSessions(),
    runFiles,
    taskRuns: new TaskRuns({ ledger, contracts, now, checking }),
    ...{ coordinations, operators: openOperatorAccess({ ...options, now }) },
  }
  const refusals = new RefusalLog(ledger, now)
  const webhooks = await goOn(app, options.environment, onFault)
  const integrity = verifyInBackground(app, onFault)
  const stopWatching = watchOver(app, onFault)
  const close = async (): Promise<void> => {
    isClosing = true
    await coordinations.close()
    await app.transcripts.close()
    await app.goCache.close()
    await app.baselines.close()
    await workshop.close()
    stopWatching()
    await webhooks.close()
    feed.close()
    try {
      await runFiles.close()
      await refusals.flush()
      await ledger.record({ type: 'server_stopped' }, { now: now(), actor: 'system' })
    } finally {
      closeKept()
      await options.store.close()
    }
  }
  const own = { refusals, inFlight: new InFlight(), contractOf: contract, integrity, firstStart }
  return { ...app, ...own, environment: options.environment, webhooks: () => webhooks.list(), close }
}

function pickPlaces(options: OrchestratorOptions) {
  const { workspace, stateDir, contractFile = null, contractBases = [], contractParts = [] } = options
  const taskBytesMax = readTaskBytesMax(options.environment)
  return { workspace, stateDir, taskBytesMax, contractFile, contractBases, contractParts }
}

function pickStored({ scratch, buildCaches, views, library }: ReturnType<typeof openWorkshop>) {
  return { scratch, buildCaches, views, library }
}

// Nodes count the ages of leases, tokens and approvals by one clock.
function chooseClock({ cluster }: Store): () => number {
  return cluster === undefined ? Date.now : () => cluster.now()
}

async function startLedger(
  store: Store,
  cleaner: ReturnType<typeof keepSecrets> & { readonly fence: TreeFence },
): Promise<Ledger> {
  observeAppends(store)
  await store.cluster?.agreeOnSecrets(cleaner.secrets.signing())
  const ledger = new Ledger(store, cleaner.clean, cleaner.redact, cleaner.fence)
  await ledger.start()
  return ledger
}

// Resumes the work that was in progress when the server stopped.
async function goOn(app: App, environment: NodeJS.ProcessEnv, onFault: (error: unknown) => void): Promise<Webhooks> {
  const { coordinations } = app
  await recoverTrees(app, onFault)
  coordinations.listen(({ id }) => putCoordination(app, id))
  watchVotes(app, onFault)
  await coordinations.resume()
  const webhooks = new Webhooks(app, environment, onFault)
  await webhooks.start()
  return webhooks
}

// Follow-ups of events and of time.
function watchOver(app: App, onFault: (error: unknown) => void): () => void {
  const stops = [startSweep(app, onFault), sealOnCompletion(app, onFault), keepRunFiles(app, onFault)]
  endWithTheirTask(app, onFault)
  endScratch(app, onFault)
  goOnAfterPause(app)
  return () => {
    for (const stop of stops) stop()
  }
}

// Redaction uses the current secrets: a rotated one counts at once.
function keepSecrets(options: OrchestratorOptions): Cleaner & { readonly secrets: SecretKeeper } {
  const kept = openSecrets(options.stateDir, options.environment, options.contract.contract.enforcement.secretEnvVar)
  const around = listEnvironmentSecrets(options.environment)
  let cleaner = makeCleaner([...kept.signing(), ...around])
  const rotate = (): readonly string[] | null => {
    const signing = kept.rotate()
    if (signing !== null) cleaner = makeCleaner([...signing, ...around])
    return signing
  }
  return {
    secrets: { ...kept, rotate },
    redact: (value) => cleaner.redact(value),
    clean: (data) => cleaner.clean(data),
  }
}

// A checkpoint outside the database pins the ledger at every completed task. The store coalesces calls.
function sealOnCompletion(app: App, onFault: (error: unknown) => void): () => void {
  return app.feed.subscribe((event) => {
    if (event.type === 'task_completed') app.ledger.store.writeSeal().catch(onFault)
  })
}

const TAKEN_AWAY: ReadonlySet<string> = new Set([
  ...['task_parked', 'task_cancelled', 'task_reassigned', 'task_released', 'task_rewound', 'task_claimed'],
  ...['lease_lapsed', 'agent_dropped', 'phase_entered', 'task_completed'],
])

function goOnAfterPause(app: App): void {
  app.feed.subscribe(({ type }) => {
    if (type === 'agents_paused' || type === 'agents_unpaused') app.coordinations.noticePause()
  })
}

// The agent no longer has the task in this phase, so its tool is stopped.
function endWithTheirTask(app: App, onFault: (error: unknown) => void): void {
  app.feed.subscribe((event) => {
    const taskId = event.stream.replace(/^task:/, '')
    if (TAKEN_AWAY.has(event.type)) app.running.end(taskId)
    if (event.type !== 'task_completed' && event.type !== 'task_cancelled') return
    app.alerts.drop(taskId)
    app.advancing.delete(taskId)
    app.transcripts.forget(taskId).catch(onFault)
  })
}

// Losing the token file would lock everybody out: a new token is written for the same operator, and the old one is
// revoked.
async function ensureOperator(
  ledger: Ledger,
  secrets: SecretKeeper,
  by: { readonly now: number; readonly actor: string },
): Promise<boolean> {
  const present = secrets.readOperatorToken()
  const known = ledger.registry.operators.get(FIRST_OPERATOR)
  const nodes = (await ledger.cluster?.listNodes())?.filter(({ isAlive }) => isAlive) ?? []
  // Beside other nodes a new token would lock out everybody who has theirs.
  if (known !== undefined && nodes.length > 1) return false
  if (present !== null && known !== undefined && known.verifier === hashToken(present)) return false
  const token = secrets.writeOperatorToken()
  await ledger.record({ type: 'operator_added', name: FIRST_OPERATOR, role: null, verifier: hashToken(token) }, by)
  return known === undefined
}

/** Resolves and checks the paths of the state directory and the work tree. */
export function resolvePlaces(given: { readonly stateDir: string; readonly workspace: string }): {
  readonly stateDir: string
  readonly workspace: string
  /** Permissions that were tightened so that no other account can use the state directory, as sentences. */
  readonly closed: readonly string[]
} {
  if (!existsSync(given.workspace)) throw new BadPlace(`the work tree ${given.workspace} does not exist`)
  const workspace = realpathSync(resolve(given.workspace))
  const stateDir = resolveRealPath(resolve(given.stateDir))
  const inside = relative(workspace, stateDir)
  if (inside === '' || !(inside === '..' || inside.startsWith('../') || isAbsolute(inside)))
    throw new BadPlace(
      `the state directory ${stateDir} is inside the work tree ${workspace}, where agents could reach it; choose another with --state-dir`,
    )
  // Checked by the given name: a link in its place is not followed.
  return { stateDir, workspace, closed: takeStateDirectory(resolve(given.stateDir)) }
}

// The directory may not exist yet; its nearest existing parent determines where it will lie.
function resolveRealPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(resolveRealPath(dirname(path)), basename(path))
}
