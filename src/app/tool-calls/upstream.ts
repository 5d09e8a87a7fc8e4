import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { UpstreamRef } from '../../core/task/fact-parts.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import {
  formatToolName,
  type ListedTool,
  listNeededTools,
  type Pins,
  parseServer,
  pinTools,
} from '../../tools/upstream/pins.js'
import type { UpstreamResult } from '../../tools/upstream/upstream-call.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { ok, type Result, refuse } from '../result.js'
import { getReserved } from './contract-paths.js'
import { openSandbox, refuseWithoutConfinement } from './contract-sandbox.js'

const LIST_MS_MAX = 60_000
const CALL_MS_MAX = 600_000
const KEPT_MAX = 100

/** Accepted tools of a task, and the content behind their hash. */
interface PinnedTools {
  readonly ref: UpstreamRef
  readonly blob: Blob
}

/**
 * Asks the contract's upstream servers for the tools it names, and pins their current definitions. Null when it names
 * none.
 */
export async function pinUpstream(app: App, contract: Contract, tree: string): Promise<Result<PinnedTools | null>> {
  const needed = listNeededTools(contract)
  if (needed.size === 0) return ok(null)
  const walled = refuseWithoutConfinement({ contract }, await openSandbox(app, contract))
  if (walled !== null && !walled.ok) return refuse(walled.code, walled.detail, walled.extra)
  const upstream = app.upstream()
  const listed: ListedTool[] = []
  for (const [name, tools] of needed) {
    const server = contract.mcpServers.get(name)
    if (server === undefined) continue
    const place = { tree, hidden: getReserved(app, contract, tree).hidden, timeoutMs: LIST_MS_MAX }
    const listing = await upstream.listTools(server, { ...place, signal: AbortSignal.timeout(LIST_MS_MAX) })
    if (!listing.ok) return refuse(listing.code, `Upstream server ${name} cannot be used: ${listing.detail}`)
    const missing = tools.filter((tool) => !listing.tools.some((one) => one.name === tool))
    if (missing.length > 0)
      return refuse(
        'conflict',
        `Upstream server ${name} does not list ${missing.join(', ')}, which the contract names.`,
      )
    listed.push(...listing.tools.filter((one) => tools.includes(one.name)))
  }
  return ok(packPins(pinTools(listed)))
}

function packPins(pins: Pins): PinnedTools {
  const blob = blobOf(pins)
  const tools = Object.fromEntries(Object.values(pins).map((tool) => [formatToolName(tool), tool.pin]))
  return { ref: { sha256: blob.sha256, tools }, blob }
}

const kept = new Map<string, Pins>()

/** The definitions that a task accepted. */
export async function readPins(app: App, state: TaskState): Promise<Pins> {
  const ref = state.upstream
  if (ref === null) return {}
  const known = kept.get(ref.sha256)
  if (known !== undefined) return known
  const content = await app.ledger.store.readBlob(ref.sha256)
  if (content === null) return {}
  const pins = JSON.parse(content) as Pins
  if (kept.size >= KEPT_MAX) kept.clear()
  kept.set(ref.sha256, pins)
  return pins
}

export function isUpstreamTool(contract: Contract, tool: string): boolean {
  return contract.mcpServers.has(parseServer(tool))
}

/** Calls an upstream tool as it was pinned. */
export async function callUpstream(
  app: App,
  one: { readonly contract: Contract; readonly state: TaskState; readonly signal: AbortSignal },
  call: { readonly tool: string; readonly args: JsonObject },
): Promise<UpstreamResult> {
  const { contract, state, signal } = one
  const server = contract.mcpServers.get(parseServer(call.tool))
  if (server === undefined) throw new Error(`the contract has no upstream server for ${call.tool}`)
  const tree = state.workspace
  const hidden = getReserved(app, contract, tree).hidden
  const pins = await readPins(app, state)
  return app.upstream().call(server, { ...call, pins }, { tree, hidden, signal, timeoutMs: CALL_MS_MAX })
}
