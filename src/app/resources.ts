import type { ScratchLayers } from '../confinement/changes/scratch-layers.js'
import type { Confinement } from '../confinement/confinement.js'
import type { GoCache } from '../confinement/view/go-cache.js'
import { matchesGlob } from '../contract/glob.js'
import { matchesPattern } from '../contract/patterns.js'
import type { Json } from '../core/json.js'
import type { Context } from '../core/task/command.js'
import type { Upstream } from '../tools/upstream/upstream.js'
import type { SecretKeeper } from './identity/secrets.js'
import type { Tokens } from './identity/tokens.js'
import type { Feed } from './ledger/feed.js'
import type { Ledger } from './ledger/ledger.js'
import type { Quota } from './ledger/refusal-log.js'
import type { McpArrivals } from './mcp-arrivals.js'
import type { RunFiles } from './status/run-files.js'
import type { AlertBoard } from './tasks/alert-board.js'
import type { ContractBook } from './tasks/contract-book.js'
import type { Observations } from './test-runs/observations.js'
import type { TaskViews } from './test-runs/task-views.js'
import type { Running } from './tool-calls/running-tools.js'
import type { Checking } from './transitions/checking.js'
import type { GitSettings } from './trees/git-settings.js'
import type { Trees } from './trees/trees.js'

/** What every part of the orchestrator may use. */
export interface Resources {
  readonly ledger: Ledger
  readonly contracts: ContractBook
  readonly tokens: Tokens
  readonly feed: Feed
  readonly secrets: SecretKeeper
  readonly now: () => number
  readonly redact: (value: Json) => Json
  /** Hash of the contract that new tasks get when they name none. */
  readonly defaultContract: string
  /** The work tree of tasks that name none. */
  readonly workspace: string
  readonly stateDir: string
  /** How many bytes a task may add to its work tree. */
  readonly taskBytesMax: number
  /** How often refused tokens are recorded with a task. */
  readonly tokenRefusals: Quota
  /** Tasks whose gates are being checked, or whose work tree is put aside or taken back. */
  readonly checking: Checking
  /** Tasks that changed and whose gates may open by themselves (`auto_advance`). */
  readonly advancing: Set<string>
  /** Alerts of contracts that are raised now. */
  readonly alerts: AlertBoard
  readonly running: Running
  /** Opened with the server and proved by trying to break out; whoever needs it waits for that. */
  readonly confinement: (place?: 'walled' | 'open') => Promise<Confinement>
  /** The upstream MCP servers of contracts. */
  readonly upstream: () => Upstream
  readonly observations: Observations
  /** Go's standard library, compiled once for observed runs. */
  readonly goCache: GoCache
  /** How work trees should look. */
  readonly trees: Trees
  /** The settings of git that count for commits in a repository. */
  readonly gitSettings: (repository: string) => Promise<GitSettings>
  /** What commands wrote to ignored paths, by task. */
  readonly scratch: ScratchLayers
  /** What the views of observed runs are composed of, by task. */
  readonly views: TaskViews
  /** Calls over MCP that hooks have let pass. */
  readonly mcpArrivals: McpArrivals
  /** `status.json` of every run. */
  readonly runFiles: RunFiles
  /** The contract's own file, when it was read from one. */
  readonly contractFile: string | null
  /** Schemas and guides that were looked up beside that file, relative to its folder, also those that are missing. */
  readonly contractParts: readonly string[]
}

export function contextOf(app: Resources, actor: string, reservedPaths: readonly string[] = []): Context {
  const { taskBytesMax } = app
  return { now: app.now(), actor, matchesGlob, matches: matchesPattern, reservedPaths, taskBytesMax }
}
