import { observe } from '../../checks/observed-runs/observe.js'
import type { Aside, Confinement } from '../../confinement/confinement.js'
import { matchesGlob } from '../../contract/glob.js'
import { admit, type Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { getWritable } from '../../core/paths/writable.js'
import type { TaskEvent } from '../../core/task/event.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import { isCommandTool, runCommandTool } from '../../tools/commands/command-tools.js'
import { isWriteTool, runFileTool } from '../../tools/files/file-tools.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../../tools/tool-place.js'
import { fetchPage } from '../../tools/web/web-fetch.js'
import type { Change } from '../../tree/change.js'
import type { App } from '../app.js'
import { askQuestion } from '../approvals/questions.js'
import { adviseInstall } from '../dependencies/install-advice.js'
import { requestDependency } from '../dependencies/request-dependency.js'
import { type AgentCall, applyAs, getReviewerField } from '../identity/agent-call.js'
import type { ApplyOptions } from '../ledger/ledger.js'
import type { Result } from '../result.js'
import { findCompiled } from '../test-runs/build-caches.js'
import { makeIgnoredMatcher } from '../test-runs/compose-view.js'
import { requestSetupChange } from '../test-runs/setup-change.js'
import { hashFailures, testOutcome } from '../test-runs/test-outcome.js'
import { commitRulesOf } from '../trees/commit-rules.js'
import { readCommitting } from '../trees/committing.js'
import { failMissingTree } from '../trees/missing-tree.js'
import { keepPrevious } from '../trees/reconcile.js'
import { mayBeTracked } from '../trees/tracked-folder.js'
import { makeWriteTree, NotWritten, recordWithTree, type TreeChange } from '../trees/tree-changes.js'
import { toLines, toPlannedLines } from '../trees/tree-journal.js'
import { countChangeBytes, countToolBytes, listWrittenPaths, readSizes, refuseBytes } from './added-bytes.js'
import { getReserved, isHiddenBy } from './contract-paths.js'
import { failUnavailable, openSandbox, refuseWithoutConfinement } from './contract-sandbox.js'
import { findDroppedOutcome } from './dropped-changes.js'
import {
  addNotes,
  listNotes,
  makeAside,
  makeIgnored,
  pickIgnored,
  type ScratchRules,
  splitChanges,
} from './ignored-paths.js'
import { writeIgnored } from './ignored-writes.js'
import { type Finish, findCommit, type Settling } from './settling.js'
import { openTaskLayers } from './task-layers.js'
import { callUpstream, isUpstreamTool } from './upstream.js'

interface ToolRun {
  readonly tool: string
  readonly args: JsonObject
  readonly remember: RememberAs
  /** Fires when the tool must end. */
  readonly signal: AbortSignal
}

/** The result of an allowed tool, and how the ledger records it. */
export interface ToolRunResult {
  readonly outcome: ToolOutcome
  readonly durationMs: number
  readonly events: readonly TaskEvent[]
  readonly unenforced: readonly string[]
}

export type RememberAs = (
  outcome: ToolOutcome,
  about: { readonly durationMs: number; readonly unenforced: readonly string[] },
) => NonNullable<ApplyOptions['remember']>

/** Tools that need no work tree: an agent whose tree is missing can ask for help. */
const WITHOUT_TREE: ReadonlySet<string> = new Set(['ask_user_question', 'web_fetch'])

/** Runs an allowed tool and records the result. Its changes reach the tree only if the phase allows them. */
export function runTool(app: App, call: AgentCall<Bearer>, run: ToolRun): Promise<Result<ToolRunResult>> {
  return new OneRun(app, call, run).start()
}

class OneRun {
  readonly #startedAt = performance.now()
  readonly #place: ToolPlace & { readonly hidden: readonly string[] }

  constructor(
    private readonly app: App,
    private readonly call: AgentCall<Bearer>,
    private readonly one: ToolRun,
  ) {
    const reserved = getReserved(app, call.contract, call.state.workspace)
    this.#place = {
      root: call.state.workspace,
      isHidden: isHiddenBy(reserved),
      hidden: reserved.hidden,
      signal: one.signal,
    }
  }

  async start(): Promise<Result<ToolRunResult>> {
    const { tool, args } = this.one
    const missing = WITHOUT_TREE.has(tool) ? null : failMissingTree(this.call.state)
    if (missing !== null) return this.#finish(missing)
    if (tool === 'run_tests') return this.#tests()
    if (isCommandTool(this.call.contract, tool))
      return this.#confined((sandbox, missing) => this.#command(sandbox, missing))
    if (isUpstreamTool(this.call.contract, tool)) return this.#confined((_, missing) => this.#upstream(missing))
    if (tool === 'ask_user_question') return this.#finish(await askQuestion(this.app, this.call, args))
    if (tool === 'request_setup_change') return this.#finish(await requestSetupChange(this.app, this.call, args))
    if (tool === 'request_dependency') return this.#finish(await requestDependency(this.app, this.call, this.one))
    if (isWriteTool(tool)) return this.#write()
    if (tool === 'web_fetch')
      return this.#finish(
        await fetchPage({ url: String(args.url), allowedHosts: this.call.contract.webHosts, signal: this.one.signal }),
      )
    const isReader = tool === 'read_files' && this.call.bearer.kind !== 'review'
    const layer = isReader ? await this.app.scratch.findFilesFolder(this.call.state.id) : null
    return this.#finish(await runFileTool({ ...this.#place, layer }, tool, args))
  }

  // The phase is checked while nothing can change it, and the file is written before that ends.
  async #write(): Promise<Result<ToolRunResult>> {
    const { tool, args } = this.one
    return this.#changeTree(async (change) => {
      const state = await this.app.ledger.peek(this.call.state.id)
      const isStale = state === null || admit(state, this.call.bearer) !== null
      const { workspace, id } = this.call.state
      const isIgnored = makeIgnored(this.app.trees.getIgnoreRules(workspace))
      const becomes = makeAside(this.#rules())
      const aside: Aside = (path, isFolder) => (isIgnored(path, isFolder) ? becomes(path, isFolder) : null)
      const ignored = isStale
        ? null
        : await writeIgnored(this.app, { tool, args, taskId: id, place: this.#place, aside, change })
      if (ignored !== null) return this.#finish(ignored, { isHolding: true, change })
      const before = readSizes(workspace, listWrittenPaths(args))
      const outcome = isStale
        ? failTool('The task moved on before the file was written.', 'token_stale')
        : refuseBytes(this.one, state, { before, bytesMax: this.app.taskBytesMax })
      if (outcome === null) await keepPrevious(this.app, workspace, listWrittenPaths(args))
      const write: ToolPlace['write'] = (steps) =>
        change.apply({ steps, lines: toPlannedLines, follow: { uncovers: true }, signal: this.one.signal })
      const done = outcome ?? (await runFileTool({ ...this.#place, write }, tool, args))
      const about = { isHolding: true, isWritten: true, addedBytes: countToolBytes(done, before), change } as const
      const ran = await this.#finish(done, about)
      if (done.ok && ran.ok && ran.value.outcome.ok)
        this.app.running.recordWrites(
          workspace,
          done.changes.map(({ path }) => path),
        )
      return ran
    })
  }

  // Nothing else is decided on the task, and nothing else changes its tree, until the change is recorded.
  #changeTree<T>(work: (change: TreeChange) => Promise<T>): Promise<T> {
    return recordWithTree(this.app, this.call.state, work)
  }

  // `unenforced`: guarantees that do not hold here, and that the contract does not require.
  async #confined(
    work: (confinement: Confinement, unenforced: readonly string[]) => Promise<Result<ToolRunResult>>,
  ): Promise<Result<ToolRunResult>> {
    const confinement = await openSandbox(this.app, this.call.contract)
    const refused = refuseWithoutConfinement(this.call, confinement)
    const unenforced = confinement.missing.map((one) => one.guarantee)
    if (refused !== null) return this.#finish(refused)
    return work(confinement, unenforced).catch((error) => this.#finish(failUnavailable(this.one.tool, error)))
  }

  #command(confinement: Confinement, unenforced: readonly string[]): Promise<Result<ToolRunResult>> {
    const { contract, state } = this.call
    const isReview = this.call.bearer.kind === 'review'
    return this.app.running.inTree(state.workspace, async () => {
      const request = { contract, phase: requirePhase(contract, state.phase), ...this.one }
      const before = this.app.running.listWrites(state.workspace).length
      const { listNotes: listLost, ...layers } = await openTaskLayers(this.app, this.call, confinement)
      const commitRules = () => commitRulesOf(this.app, contract, state)
      const committing = () => readCommitting(this.app, this.call)
      const place = { ...this.#place, ...layers, aside: makeAside(this.#rules()), commitRules, committing }
      const done = await runCommandTool(confinement, place, request)
      if ('ok' in done) return this.#finish(done)
      const advice = adviseInstall(this.call, { ...this.one, outcome: done.outcome })
      const notes = [...listLost(), advice]
      if (!isReview) return this.#settle({ ...done, unenforced, before, keepsScratch: done.git === 'none', notes })
      await done.changes.discard()
      return this.#finish(done.outcome, { unenforced, exitCode: done.exitCode })
    })
  }

  async #tests(): Promise<Result<ToolRunResult>> {
    const { contract, state } = this.call
    const command = contract.commands.get('tests')
    if (command === undefined)
      return this.#finish(failTool('run_tests: the contract does not say how tests are run (commands.tests)'))
    return this.#confined(async (confinement, unenforced) => {
      const redact = (text: string): string => String(this.app.redact(text))
      const { signal } = this.one
      const compiled = await findCompiled(this.app, state.workspace, confinement)
      const place = { confinement, tree: state.workspace, hidden: this.#place.hidden, signal, redact, ...compiled }
      const filter = this.one.args.filter
      const extra = typeof filter === 'string' && filter !== '' ? filter : undefined
      const run = await this.app.running.inTree(state.workspace, () =>
        observe(place, 'tests', command, { treeHash: '', extra }),
      )
      const outcome = testOutcome(run, { ...command, filter: extra })
      return this.#finish(outcome, { unenforced, exitCode: run.exitCode, failing: hashFailures(run) })
    })
  }

  async #upstream(unenforced: readonly string[]): Promise<Result<ToolRunResult>> {
    const { contract, state } = this.call
    const called = await callUpstream(this.app, { contract, state, signal: this.one.signal }, this.one)
    return called.changes === null
      ? this.#finish(called.outcome, { unenforced })
      : this.#settle({ outcome: called.outcome, changes: called.changes, git: 'none', unenforced })
  }

  // Changes reach the tree once it is decided that they are kept, and before the event is written that says so.
  async #settle(done: Settling): Promise<Result<ToolRunResult>> {
    const { changes, before: _, keepsScratch: __, notes: said = [], ...about } = done
    const tree = this.call.state.workspace
    const parted = splitChanges(changes.list, this.#rules())
    const { kept, scratch, left } = parted
    const plan = done.keepsScratch === true ? this.app.scratch.plan(this.call.state.id, scratch, changes.isCut) : null
    const notes = [...said, ...listNotes(parted), plan?.dropped].filter((one) => typeof one === 'string')
    const outcome = addNotes(done.outcome, { kept, notes, aside: scratch.length + left.length })
    let isTaken = false
    const take = async (change: TreeChange): Promise<void> => {
      const isStaged = plan === null || (await change.stageLayer(plan, changes.view))
      if (!isStaged) throw new NotWritten('there is no room for what it wrote to ignored paths')
      const replaced = kept.filter((one) => one.type === 'file' && one.kind !== 'created').map((one) => one.path)
      await keepPrevious(this.app, tree, replaced)
      const lines = kept.flatMap(toLines)
      isTaken = true
      const problem = await changes.commit(kept, (steps) =>
        change.apply({ steps, lines: () => lines, follow: { uncovers: true } }),
      )
      if (problem !== null) throw new NotWritten(problem)
    }
    try {
      return await this.#changeTree(async (change) => {
        const meanwhile = this.#writtenMeanwhile(kept, done.before)
        if (meanwhile !== null) return this.#finish(meanwhile, { isHolding: true })
        const added = { changed: kept, addedBytes: countChangeBytes(tree, kept) }
        return this.#finish(outcome, { ...about, isHolding: true, ...added, change, take })
      })
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error
      return this.#finish(failTool(`${this.one.tool}: its changes could not be written: ${error.message}`))
    } finally {
      if (!isTaken) await changes.discard()
    }
  }

  #rules(): ScratchRules {
    const { workspace } = this.call.state
    const { allowed } = getWritable(requirePhase(this.call.contract, this.call.state.phase))
    // Ignored files matter only to a pattern more specific than one that matches everything.
    const named = pickIgnored(allowed, makeIgnoredMatcher(this.app, workspace))
    return {
      rules: this.app.trees.getIgnoreRules(workspace),
      isSource: (folder) => this.app.trees.isSource(workspace, folder),
      isNamed: (path) => named.some((pattern) => matchesGlob(pattern, path) || pattern.startsWith(`${path}/`)),
      isTracked: (folder) => mayBeTracked(workspace, folder),
      covered: this.#place.hidden,
    }
  }

  // A command sees the tree as it was when it started. It must not silently undo what a file tool wrote since.
  #writtenMeanwhile(kept: readonly Change[], before: number | undefined): ToolOutcome | null {
    if (before === undefined) return null
    const written = new Set(this.app.running.listWrites(this.call.state.workspace, before))
    const both = kept.filter((one) => written.has(one.path)).map((one) => one.path)
    if (both.length === 0) return null
    const detail = `${this.one.tool}: ${both.slice(0, 5).join(', ')} was written by another call at the same time; its changes were discarded`
    return failTool(detail, 'conflict', { paths: both.slice(0, 200) })
  }

  async #finish(outcome: ToolOutcome, more: Finish = {}): Promise<Result<ToolRunResult>> {
    const durationMs = Math.round(performance.now() - this.#startedAt)
    const changed = more.changed ?? (outcome.ok ? outcome.changes : [])
    const unenforced = more.unenforced ?? []
    const handled = await applyAs(
      this.app,
      this.call,
      {
        type: 'finish_tool',
        tool: this.one.tool,
        success: outcome.ok,
        code: outcome.ok ? null : outcome.code,
        detail: outcome.ok ? null : outcome.detail,
        durationMs,
        exitCode: more.exitCode ?? null,
        changed: changed.map(({ path, kind, type, problem, sha256 }) => ({ path, kind, type, problem, sha256 })),
        git: more.git ?? 'none',
        unenforced,
        ...(more.isWritten === true ? { isWritten: true } : {}),
        ...(changed.length === 0 ? {} : { addedBytes: more.addedBytes ?? 0 }),
        ...(more.failing === undefined ? {} : { failing: more.failing }),
        ...(outcome.ok && more.hooks !== undefined ? { hooks: more.hooks } : {}),
        ...findCommit(this.one.tool, outcome),
        ...getReviewerField(this.call),
      },
      {
        isHolding: more.isHolding === true,
        remember: this.one.remember(outcome, { durationMs, unenforced }),
        ...makeTreeOptions(more),
      },
    )
    if (!handled.ok) return handled
    more.change?.confirm(handled.value)
    const dropped = findDroppedOutcome(handled.value)
    return { ok: true, value: { outcome: dropped ?? outcome, durationMs, events: handled.value.events, unenforced } }
  }
}

function makeTreeOptions({ change, take }: Finish): Pick<ApplyOptions, 'writeTree'> {
  return change === undefined ? {} : { writeTree: makeWriteTree(change, take) }
}
