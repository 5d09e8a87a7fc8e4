import type { ScratchLayers } from '../confinement/changes/scratch-layers.js'
import type { Confinement } from '../confinement/confinement.js'
import type { GoCache } from '../confinement/view/go-cache.js'
import { matchesGlob } from '../contract/glob.js'
import { matchesPattern } from '../contract/patterns.js'
import type { Json } from '../core/json.js'
import type { Context } from '../core/task/command.js'
import type { SharedFolder } from '../store/shared-trees/shared-folder.js'
import type { TreeFence } from '../store/shared-trees/tree-fence.js'
import type { Upstream } from '../tools/upstream/upstream.js'
import type { HookSessions } from './hooks/hook-sessions.js'
import type { SecretKeeper } from './identity/secrets.js'
import type { Tokens } from './identity/tokens.js'
import type { Feed } from './ledger/feed.js'
import type { Ledger } from './ledger/ledger.js'
import type { Quota } from './ledger/refusal-log.js'
import type { McpArrivals } from './mcp-arrivals.js'
import type { RunFiles } from './status/run-files.js'
import type { AlertBoard } from './tasks/alert-board.js'
import type { ContractBook } from './tasks/contract-book.js'
import type { CrateCache } from './test-runs/crate-cache.js'
import type { Observations } from './test-runs/observations.js'
import type { TaskViews } from './test-runs/task-views.js'
import type { Running } from './tool-calls/running-tools.js'
import type { Checking } from './transitions/checking.js'
import type { GitSettings } from './trees/git-settings.js'
import type { Trees } from './trees/trees.js'

/** Resources shared by all parts of the orchestrator. */
export interface Resources {
  readonly ledger: Ledger
  readonly contracts: ContractBook
  readonly tokens: Tokens
  readonly feed: Feed
  readonly secrets: SecretKeeper
  readonly now: () => number
  readonly redact: (value: Json) => Json
  /** Hash of the contract for new tasks that name none. */
  readonly defaultContract: string
  /** The work tree for tasks that name none. */
  readonly workspace: string
  readonly stateDir: string
  /** Where what is kept about work trees lies: the state directory, or a folder that nodes share. */
  readonly keptDir: string
  /** Null: work trees of this server are not shared with other nodes. */
  readonly sharedTrees: SharedFolder | null
  /** Held while a work tree is changed, or what is kept about it. */
  readonly fence: TreeFence
  /** How many bytes a task may add to its work tree. */
  readonly taskBytesMax: number
  /** How often refused tokens are recorded with a task. */
  readonly tokenRefusals: Quota
  /** Tasks that are busy: their gates are being checked, or their work tree is being restored. */
  readonly checking: Checking
  /** Tasks that changed and whose gates may open automatically (`auto_advance`). */
  readonly advancing: Set<string>
  /** Active alerts of contracts. */
  readonly alerts: AlertBoard
  readonly running: Running
  /** Reports a failure that no caller is told about. */
  readonly onFault: (error: unknown) => void
  /** Opened with the server and proved by trying to break out; users wait for that proof. */
  readonly confinement: (place?: 'walled' | 'open') => Promise<Confinement>
  /** False while the sandbox was opened and can start nothing. */
  readonly isSandboxOpen: () => boolean
  /** The upstream MCP servers of contracts. */
  readonly upstream: () => Upstream
  readonly observations: Observations
  /** Build caches of Go and cargo, made from trees that no agent has changed. Used by observed runs. */
  readonly goCache: GoCache
  readonly crates: CrateCache
  /** The expected contents of work trees. */
  readonly trees: Trees
  /** The settings of git that count for commits in a repository. */
  readonly gitSettings: (repository: string) => Promise<GitSettings>
  /** What commands wrote to ignored paths, by task. */
  readonly scratch: ScratchLayers
  /** What commands of agents wrote to their cache folder, by task. Observed runs never read it. */
  readonly buildCaches: ScratchLayers
  /** The parts of the views of observed runs, by task. */
  readonly views: TaskViews
  /** MCP calls that hooks have allowed. */
  readonly mcpArrivals: McpArrivals
  /** What the hooks of agent CLIs said lately. */
  readonly hookSessions: HookSessions
  /** `status.json` of every run. */
  readonly runFiles: RunFiles
  /** The contract's own file, if it has one. */
  readonly contractFile: string | null
  /** Files that the contract extends: absolute paths, also those of links to them. */
  readonly contractBases: readonly string[]
  /** Schemas and guides looked up next to that file, relative to its folder, including missing ones. */
  readonly contractParts: readonly string[]
}

export function contextOf(app: Resources, actor: string, reservedPaths: readonly string[] = []): Context {
  const { taskBytesMax } = app
  return { now: app.now(), actor, matchesGlob, matches: matchesPattern, reservedPaths, taskBytesMax }
}
