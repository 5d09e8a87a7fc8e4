import { closeSync } from 'node:fs'
import type { ChangeSet, Confinement, Job } from '../../confinement/confinement.js'
import { type CommandRun, type Kept, OUTPUT_BYTES_MAX, runCommand } from '../../confinement/run-command.js'
import type { Contract, Phase } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { CommitRules } from '../../core/paths/commit-scope.js'
import type { GitAccess } from '../../core/task/fact-parts.js'
import { openDirectory, partsOf } from '../../tree/lookup.js'
import { refused, TREE_PROBLEMS } from '../../tree/problems.js'
import { readPath } from '../read-path.js'
import { failed, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import type { CommandCall } from './command-call.js'
import { linkedGitDirectory } from './git-directory.js'
import { commitCall, GIT_TOOLS, gitCall, LISTING } from './git-tools.js'
import { ownToolCommand } from './own-tool.js'

const TIMEOUT_SECONDS_DEFAULT = 60
const TIMEOUT_SECONDS_MAX = 600
const CHANGES_TOLD_MAX = 200

/** A command that ended, and what it changed; not yet in the tree. */
interface CommandDone {
  readonly outcome: ToolOutcome
  readonly exitCode: number
  readonly changes: ChangeSet
  readonly git: GitAccess
}

interface CommandPlace extends ToolPlace {
  readonly hidden: readonly string[]
  /** What of the tree the task commits; asked for by the git tools alone. */
  readonly commitRules: () => Promise<CommitRules>
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

/** Runs the command of a tool in the confinement. The caller commits or discards what it changed. */
export async function runCommandTool(
  confinement: Confinement,
  place: CommandPlace,
  request: CommandRequest,
): Promise<CommandDone | ToolOutcome> {
  const linked = linkedGitDirectory(place.root)
  if (linked !== null && request.tool === 'git_commit')
    return failed(`${request.tool}: this work tree is a linked git worktree; an operator commits there`)
  const call = GIT_TOOLS.has(request.tool) ? await gitToolCall(confinement, place, request) : commandCall(request)
  if ('ok' in call) return call
  const parts = partsOf(call.job.cwd)
  const layer = GIT_TOOLS.has(request.tool) ? null : (place.layer ?? null)
  const folder = parts === null ? refused('outside', call.job.cwd) : openFolder(place.root, layer, parts)
  if (!folder.ok) return failed(`${request.tool}: ${JSON.stringify(call.job.cwd)}: ${TREE_PROBLEMS[folder.problem]}`)
  closeSync(folder.fd)
  const run = await started(
    confinement,
    {
      tree: place.root,
      layer,
      ...(place.aside === undefined ? {} : { aside: place.aside }),
      // git would take a covered file for a changed one, and refuse to commit it.
      hidden: GIT_TOOLS.has(request.tool) ? [] : place.hidden,
      shown: linked === null ? [] : [linked],
      signal: place.signal,
      ...call.job,
    },
    call.kept,
  )
  if (typeof run === 'string') return unstarted(request.tool, run)
  const stopped = stoppedText(run, call.job.timeoutMs)
  const outcome =
    stopped === null ? call.outcome(run) : failed(`${request.tool}: ${stopped}`, 'tool_failed', shown(run))
  return { outcome, exitCode: run.exitCode, changes: run.changes, git: call.git }
}

// What a commit takes is decided between two commands: one that looks, and one that commits.
async function gitToolCall(
  confinement: Confinement,
  place: CommandPlace,
  { tool, args }: CommandRequest,
): Promise<CommandCall | ToolOutcome> {
  const rules = await place.commitRules()
  if (tool !== 'git_commit') return gitCall(tool, args, rules)
  const job = { tree: place.root, hidden: [], signal: place.signal, ...LISTING.job }
  const listed = await started(confinement, job, LISTING.kept)
  return typeof listed === 'string' ? unstarted(tool, listed) : commitCall(listed, args, rules)
}

function unstarted(tool: string, why: string): ToolOutcome {
  return failed(`${tool}: the command could not be started: ${why}`)
}

function openFolder(root: string, layer: string | null, parts: readonly string[]): ReturnType<typeof openDirectory> {
  const folder = openDirectory(root, parts)
  if (folder.ok || folder.problem !== 'missing' || layer === null) return folder
  const left = openDirectory(layer, parts)
  return left.ok ? left : folder
}

// A tree that cannot be shown to a command is the tree's fault more often than ours.
async function started(confinement: Confinement, job: Job, kept?: Kept): Promise<CommandRun | string> {
  try {
    return await runCommand(confinement, job, kept)
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 500) : String(error)
  }
}

function stoppedText(run: CommandRun, timeoutMs: number): string | null {
  if (run.stopped === 'timeout') return `timed out after ${timeoutMs / 1000} s; nothing it changed was kept`
  if (run.stopped === 'output')
    return `it wrote more than ${OUTPUT_BYTES_MAX / 1024 / 1024} MiB of output and was stopped; nothing it changed was kept`
  return run.stopped === 'aborted' ? 'it was ended before it was done; nothing it changed was kept' : null
}

function commandCall(request: CommandRequest): CommandCall | ToolOutcome {
  const { contract, tool, args } = request
  if (tool === 'bash') return bashCall(request)
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
    outcome: plainOutcome,
  }
}

function bashCall({ phase, args }: CommandRequest): CommandCall | ToolOutcome {
  if (String(args.command).includes('\0'))
    return failed('bash: argument "command" contains a NUL character', 'invalid_request')
  const constraint = phase.constraints.get('bash')
  const most = constraint?.timeoutSeconds ?? TIMEOUT_SECONDS_MAX
  const seconds =
    typeof args.timeout === 'number' ? args.timeout : (constraint?.timeoutSeconds ?? TIMEOUT_SECONDS_DEFAULT)
  if (seconds < 1 || seconds > most)
    return failed(`bash: argument "timeout" must be from 1 to ${most} seconds`, 'invalid_request')
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
    outcome: plainOutcome,
  }
}

// A command that fails is an answer like any other: the agent reads its exit code.
function plainOutcome(run: CommandRun): ToolOutcome {
  return { ok: true, result: shown(run), changes: run.changes.list }
}

function shown(run: CommandRun): JsonObject {
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
