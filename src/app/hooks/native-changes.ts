import { formatBearerName } from '../../core/identity/admit.js'
import { findRefusedPaths } from '../../core/paths/writable.js'
import type { Command } from '../../core/task/command.js'
import type { Change } from '../../tree/change.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { makeTaskContext } from '../tool-calls/contract-paths.js'
import { compareTree } from '../trees/compare-tree.js'
import { keepContents } from '../trees/reconcile.js'
import { isThere } from '../trees/tree-journal.js'
import type { Differing } from './hook-sessions.js'

const CHANGES_MAX = 200
const COMMAND_CHARS_MAX = 500
const GONE = 'gone'

/** A call that an agent CLI makes with its own tool. */
export interface NativeCall {
  /** The id of the call; null: the agent CLI gives none. */
  readonly id: string | null
  readonly tool: string
  readonly command: string | null
  /** What it may change: nothing, the files it names, or any file. */
  readonly reach: 'none' | 'any' | readonly string[]
}

type Report = Command & { type: 'report_unledgered' }
type ChangeView = NonNullable<(Command & { type: 'record_fact' })['changes']>[number]

interface NativeChanges {
  /** What the phase allows, which is explained from now on. */
  readonly changes: readonly ChangeView[]
  /** What it does not allow, as far as it is new. */
  readonly reports: readonly Report[]
}

const NOTHING: NativeChanges = { changes: [], reports: [] }

/** Before a call that may change any file: remembers how the tree differs now. */
export async function beginNativeCall(app: App, call: AgentCall, native: NativeCall): Promise<void> {
  if (native.reach !== 'any') return
  const looked = await lookAtTree(app, call)
  if (looked === null) return
  const { agentId } = call.bearer
  app.hookSessions.beginCall(agentId, native.id ?? '', { command: nameCall(native), before: looked.differing })
}

/**
 * After a call: finds what it changed. What its phase allows is explained by it; the rest is reported, with the call
 * that made it. Nothing is explained because an agent CLI says so: what counts is the tree and what the phase allows.
 */
export async function settleNativeCall(app: App, call: AgentCall, native: NativeCall): Promise<NativeChanges> {
  if (native.reach === 'none' || call.contract.enforcement.reconcile === 'off') return NOTHING
  if (native.reach !== 'any') return explainChanges(app, call, await readNamed(app, call, native.reach))
  const looked = await lookAtTree(app, call)
  if (looked === null) return NOTHING
  const { agentId } = call.bearer
  const { call: begun, beside } = app.hookSessions.endCall(agentId, native.id ?? '')
  const isNew = ({ path }: { readonly path: string }): boolean =>
    begun === null || begun.before.get(path) !== looked.differing.get(path)
  const changed = looked.unledgered.filter(isNew)
  const earlier = looked.unledgered.filter((change) => !isNew(change))
  const explained = await explainChanges(app, call, changed.slice(0, CHANGES_MAX).map(toChange(looked.differing)))
  const by = nameAll(native, begun === null ? [] : [begun.command, ...beside])
  const { differing } = looked
  const reports = [
    makeReport(app, call, { unledgered: earlier, differing, by: BETWEEN }),
    makeReport(app, call, { unledgered: changed, differing, by }),
  ]
  return { changes: explained.changes, reports: reports.filter((report) => report !== null) }
}

/** Changes that no call explains and that were not reported yet, for example of a program that runs on. */
export async function findNewUnexplained(app: App, call: AgentCall): Promise<Report | null> {
  const looked = await lookAtTree(app, call)
  return looked === null ? null : makeReport(app, call, { ...looked, by: BETWEEN })
}

type Looked = NonNullable<Awaited<ReturnType<typeof lookAtTree>>>

async function lookAtTree(app: App, { contract, state }: AgentCall) {
  const compared = await compareTree(app, contract, state)
  if (compared === null) return null
  const { index } = compared
  const differing: Differing = new Map(
    compared.unledgered.map(({ path }) => [path, index.entries[path] ?? index.packages[path] ?? GONE]),
  )
  return { ...compared, differing }
}

function makeReport(
  app: App,
  call: AgentCall,
  { unledgered, differing, by }: Pick<Looked, 'unledgered' | 'differing'> & { readonly by: string },
): Report | null {
  const { agentId } = call.bearer
  const refused = new Set(listRefused(app, call, unledgered))
  const news = unledgered.filter(
    ({ path, agentCli }) =>
      refused.has(path) &&
      agentCli?.problem !== null &&
      app.hookSessions.isNews(agentId, path, differing.get(path) ?? GONE),
  )
  if (news.length === 0) return null
  return { type: 'report_unledgered', changed: news, by, ...(by === BETWEEN ? { isUncounted: true } : {}) }
}

const BETWEEN = 'something outside of Phaselock, between two calls,'

async function explainChanges(app: App, call: AgentCall, changed: readonly Change[]): Promise<NativeChanges> {
  const refused = new Set(listRefused(app, call, changed))
  const allowed = changed.filter(({ path }) => !refused.has(path))
  if (allowed.length === 0) return NOTHING
  await app.fence.run(async () => app.trees.explain(call.state.workspace, allowed))
  await keepContents(app, call.state.workspace, allowed)
  return { changes: allowed.map(({ path, kind, sha256 }) => ({ path, kind, sha256 })), reports: [] }
}

function listRefused(
  app: App,
  call: AgentCall,
  changed: readonly { readonly path: string; readonly kind: Change['kind'] }[],
): readonly string[] {
  const context = makeTaskContext(app, formatBearerName(call.bearer), call)
  const paths = changed.map(({ path, kind }) => ({ path, kind, type: 'file', problem: null }) as const)
  return findRefusedPaths(call.contract, call.state, paths, { context, git: 'none' }).map(({ path }) => path)
}

/** The named files as they are now, where that is not what is expected. */
async function readNamed(app: App, { state }: AgentCall, paths: readonly string[]): Promise<readonly Change[]> {
  const inside = paths.filter((path) => !path.startsWith('/') && path !== '.').slice(0, CHANGES_MAX)
  const now = await openWorkTree(state.workspace).hashEach(inside)
  return inside.flatMap((path) => {
    const expected = app.trees.findExpectedEntry(state.workspace, path)
    const sha256 = now.get(path) ?? null
    const entry = sha256 === null ? null : `file ${sha256}`
    // What is there and cannot be read as a file, a link for example, is not explained.
    if (entry === expected || (entry === null && isThere(state.workspace, path))) return []
    const kind = expected === null ? 'created' : entry === null ? 'deleted' : 'modified'
    return [{ path, kind, type: 'file', bytes: null, sha256, problem: null } as const]
  })
}

const toChange =
  (differing: Differing) =>
  ({ path, kind }: { readonly path: string; readonly kind: Change['kind'] }): Change => {
    const entry = differing.get(path) ?? GONE
    const type = entry.startsWith('link ') ? 'link' : 'file'
    return { path, kind, type, bytes: null, sha256: findFileHash(entry), problem: null }
  }

function nameCall({ tool, command }: NativeCall): string {
  if (command === null) return tool
  const line = command.length <= COMMAND_CHARS_MAX ? command : `${command.slice(0, COMMAND_CHARS_MAX)}…`
  return `${tool} (${JSON.stringify(line.toWellFormed())})`
}

function nameAll(native: NativeCall, begun: readonly string[]): string {
  return begun.length <= 1 ? nameCall(native) : `${begun[0]}, or beside it ${begun.slice(1).join(', ')},`
}
