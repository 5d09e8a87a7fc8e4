import { closeSync } from 'node:fs'
import type { ChangeSet, Confinement, Job, JobCache } from '../../confinement/confinement.js'
import { SandboxUnavailable } from '../../confinement/reopening.js'
import { type CommandRun, OUTPUT_BYTES_MAX, type OutputLimits, runCommand } from '../../confinement/run-command.js'
import type { Contract, Phase } from '../../core/contract/contract.js'
import type { HookRecord } from '../../core/contract/git-rules.js'
import type { JsonObject } from '../../core/json.js'
import type { CommitRules } from '../../core/paths/commit-scope.js'
import type { GitAccess } from '../../core/task/fact-parts.js'
import { openDirectory, splitPath } from '../../tree/lookup.js'
import { makeRefused, TREE_PROBLEMS } from '../../tree/problems.js'
import { readPath } from '../read-path.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import type { CommandCall } from './command-call.js'
import { buildCommitCall, type Committing, planCommit } from './git-commit.js'
import { buildDiffCall, buildStagedDiffCall } from './git-diff.js'
import { findLinkedGitDirectory } from './git-directory.js'
import { buildGitCall, GIT_TOOLS, LISTING, toGitOutcome } from './git-tools.js'
import { ownToolCommand } from './own-tool.js'
import { recordHooks, runHooks } from './run-hooks.js'

const TIMEOUT_SECONDS_DEFAULT = 60
const TIMEOUT_SECONDS_MAX = 600
const CHANGES_TOLD_MAX = 200

/** A command that ended, with its changes; not yet in the tree. */
interface CommandDone {
  readonly outcome: ToolOutcome
  readonly exitCode: number
  readonly changes: ChangeSet
  readonly git: GitAccess
  readonly hooks?: HookRecord
}

interface CommandPlace extends ToolPlace {
  readonly hidden: readonly string[]
  /** The paths that the task commits; used only by the git tools. */
  readonly commitRules: () => Promise<CommitRules>
  /** How commits of the task are made; used only by git_commit. */
  readonly committing: () => Promise<Committing>
  /** The cache folder of the command; null where there is none. Not for git. */
  readonly cache: JobCache | null
}

interface CommandRequest {
  readonly contract: Contract
  readonly phase: Phase
  readonly tool: string
  readonly args: JsonObject
}

export function isCommandTool(contract: Contract, tool: string): boolean {
  return tool === 'bash' || GIT_TOOLS.has(tool) || contract.tools.has(tool)
}

/** Runs the command of a tool in the sandbox. The caller commits or discards its changes. */
export async function runCommandTool(
  confinement: Confinement,
  place: CommandPlace,
  request: CommandRequest,
): Promise<CommandDone | ToolOutcome> {
  const linked = findLinkedGitDirectory(place.root)
  if (linked !== null && request.tool === 'git_commit')
    return failTool(`${request.tool}: this work tree is a linked git worktree; an operator commits there`)
  const call = GIT_TOOLS.has(request.tool)
    ? await buildGitToolCall(confinement, place, request)
    : buildCommandCall(request)
  if ('ok' in call) return call
  const parts = splitPath(call.job.cwd)
  const layer = GIT_TOOLS.has(request.tool) ? null : (place.layer ?? null)
  const folder = parts === null ? makeRefused('outside', call.job.cwd) : openFolder(place.root, layer, parts)
  if (!folder.ok) return failTool(`${request.tool}: ${JSON.stringify(call.job.cwd)}: ${TREE_PROBLEMS[folder.problem]}`)
  closeSync(folder.fd)
  const run = await startJob(
    confinement,
    {
      tree: place.root,
      layer,
      ...(place.aside === undefined ? {} : { aside: place.aside }),
      ...(place.cache === null || GIT_TOOLS.has(request.tool) ? {} : { cache: place.cache }),
      // git would report a covered file as changed, and refuse to commit it.
      hidden: GIT_TOOLS.has(request.tool) ? [] : place.hidden,
      shown: linked === null ? [] : [linked],
      signal: place.signal,
      ...call.job,
    },
    call.kept,
  )
  if (typeof run === 'string') return failUnstarted(request.tool, run)
  const stopped = formatStopped(run, call.job.timeoutMs)
  const outcome =
    stopped === null ? call.outcome(run) : failTool(`${request.tool}: ${stopped}`, 'tool_failed', toRunView(run))
  const { git, hooks } = call
  return { outcome, exitCode: run.exitCode, changes: run.changes, git, ...(hooks === undefined ? {} : { hooks }) }
}

// The content of a commit, and the new files of a diff, are decided between two commands.
async function buildGitToolCall(
  confinement: Confinement,
  place: CommandPlace,
  { tool, args }: CommandRequest,
): Promise<CommandCall | ToolOutcome> {
  const rules = await place.commitRules()
  if (tool === 'git_diff' && args.staged === true) return buildStagedDiffCall(args, rules)
  if (tool !== 'git_commit' && tool !== 'git_diff') return buildGitCall(tool, args, rules)
  const job = { tree: place.root, hidden: [], signal: place.signal, ...LISTING.job }
  const listed = await startJob(confinement, job, LISTING.kept)
  if (typeof listed === 'string') return failUnstarted(tool, listed)
  if (tool === 'git_diff') {
    if (listed.exitCode !== 0) return toGitOutcome(listed, () => ({}))
    return buildDiffCall(args, { listed, rules, hidden: place.hidden })
  }
  const { author, coAuthor, hooks, runsHooks } = await place.committing()
  const plan = planCommit(listed, args, { rules, hidden: place.hidden, coAuthor })
  if ('ok' in plan) return plan
  const record = recordHooks(hooks, runsHooks)
  if (record.ran.length === 0) return buildCommitCall(plan, author, { hooked: null, hooks: record })
  const { root, hidden, signal, layer = null, aside } = place
  const at = { tree: root, hidden, signal, layer, ...(aside === undefined ? {} : { aside }) }
  const hooked = await runHooks(confinement, at, { plan, hooks, isWritten: rules.isWritten })
  return 'ok' in hooked ? hooked : buildCommitCall(plan, author, { hooked, hooks: record })
}

function failUnstarted(tool: string, why: string): ToolOutcome {
  return failTool(`${tool}: the command could not be started: ${why}`)
}

function openFolder(root: string, layer: string | null, parts: readonly string[]): ReturnType<typeof openDirectory> {
  const folder = openDirectory(root, parts)
  if (folder.ok || folder.problem !== 'missing' || layer === null) return folder
  const left = openDirectory(layer, parts)
  return left.ok ? left : folder
}

// If a tree cannot be shown to a command, the cause is more often the tree than Phaselock.
async function startJob(confinement: Confinement, job: Job, kept?: OutputLimits): Promise<CommandRun | string> {
  try {
    return await runCommand(confinement, job, kept)
  } catch (error) {
    if (error instanceof SandboxUnavailable) throw error
    return error instanceof Error ? error.message.slice(0, 500) : String(error)
  }
}

function formatStopped(run: CommandRun, timeoutMs: number): string | null {
  if (run.stopped === 'timeout') return `timed out after ${timeoutMs / 1000} s; its changes were discarded`
  if (run.stopped === 'output')
    return `it wrote more than ${OUTPUT_BYTES_MAX / 1024 / 1024} MiB of output and was stopped; its changes were discarded`
  return run.stopped === 'aborted' ? 'it was ended before it was done; its changes were discarded' : null
}

function buildCommandCall(request: CommandRequest): CommandCall | ToolOutcome {
  const { contract, tool, args } = request
  if (tool === 'bash') return buildBashCall(request)
  const own = ownToolCommand(contract, tool, args)
  return {
    job: {
      argv: own.argv,
      cwd: '.',
      network: own.network,
      timeoutMs: own.timeoutSeconds * 1000,
      writes: 'keep',
      git: 'read',
      env: {},
    },
    git: 'none',
    outcome: toOutcome,
  }
}

function buildBashCall({ phase, args }: CommandRequest): CommandCall | ToolOutcome {
  if (String(args.command).includes('\0'))
    return failTool('bash: argument "command" contains a NUL character', 'invalid_request')
  const constraint = phase.constraints.get('bash')
  const most = constraint?.timeoutSeconds ?? TIMEOUT_SECONDS_MAX
  const seconds =
    typeof args.timeout === 'number' ? args.timeout : (constraint?.timeoutSeconds ?? TIMEOUT_SECONDS_DEFAULT)
  if (seconds < 1 || seconds > most)
    return failTool(`bash: argument "timeout" must be from 1 to ${most} seconds`, 'invalid_request')
  return {
    job: {
      argv: ['bash', '-c', String(args.command)],
      cwd: typeof args.cwd === 'string' ? readPath(args.cwd).path : '.',
      network: constraint?.network ?? false,
      timeoutMs: seconds * 1000,
      writes: 'keep',
      git: 'read',
      env: {},
    },
    git: 'none',
    outcome: toOutcome,
  }
}

// A failing command is a normal answer: the agent reads its exit code.
function toOutcome(run: CommandRun): ToolOutcome {
  return { ok: true, result: toRunView(run), changes: run.changes.list }
}

function toRunView(run: CommandRun): JsonObject {
  const { list } = run.changes
  return {
    exit_code: run.exitCode,
    stdout: run.stdout,
    stderr: run.stderr,
    duration_ms: run.durationMs,
    truncated: run.truncated,
    changes: list.slice(0, CHANGES_TOLD_MAX).map(({ path, kind, type, bytes }) => ({ path, kind, type, bytes })),
    ...(list.length > CHANGES_TOLD_MAX ? { changes_total: list.length } : {}),
  }
}
