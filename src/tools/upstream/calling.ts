import type { Tool } from '@modelcontextprotocol/client'
import type { CommandEnd } from '../../confinement/confinement.js'
import { matchesGlob } from '../../contract/glob.js'
import type { StdioServer } from '../../core/contract/contract.js'
import type { Change } from '../../tree/change.js'
import { failTool, type ToolOutcome } from '../tool-place.js'
import type { Connection } from './connection.js'
import { NotListed, UpstreamFailure } from './failure.js'
import { discardChanges } from './line.js'
import { checkPin, formatToolName, type ListedTool, pinOf } from './pins.js'
import { readAnswer, readListing } from './read-answer.js'
import type { Run } from './run.js'
import type { UpstreamCall, UpstreamResult } from './upstream-call.js'

const PATHS_SHOWN_MAX = 20

interface Listed {
  readonly tools: readonly Tool[]
  readonly listed: readonly ListedTool[]
}

/** The server's current tools. */
export async function look(connection: Connection, run: Run): Promise<Listed> {
  try {
    const tools = await connection.listTools(run.signal)
    return { tools, listed: readListing(run.server.name, tools, connection.mask) }
  } catch (error) {
    throw error instanceof UpstreamFailure ? new NotListed(error) : error
  }
}

/** One call over an open connection: the tool must still be the accepted one. */
export async function ask(connection: Connection, call: UpstreamCall, run: Run): Promise<ToolOutcome> {
  const { tools, listed } = await look(connection, run)
  const found = listed.find((one) => formatToolName(one) === call.tool)
  if (found === undefined) return failTool(`${call.tool}: the server does not list this tool any more`)
  if (checkPin(call.pins, found) !== 'ok') {
    const detail = `${call.tool} has changed since it was accepted (description, schema or annotations); an operator must accept it again`
    return failTool(detail, 'tool_failed', { pinned: call.pins[call.tool]?.pin ?? null, listed: pinOf(found) })
  }
  const tool = tools.find(({ name }) => name === found.name)
  if (tool === undefined) throw new Error(`the tool ${call.tool} is listed and is not`)
  const answer = await connection.callTool(tool, call.args, run.signal)
  return readAnswer(call.tool, answer, connection.mask)
}

/** One call of a server that was started for it: it must end before its changes are known. */
export async function askWriter(connection: Connection, call: UpstreamCall, run: Run): Promise<UpstreamResult> {
  const outcome = await ask(connection, call, run)
  const ended = await connection.end(outcome.ok ? 'soon' : 'now')
  // A failed call, or one that nobody waits for any more, changes nothing.
  if (!outcome.ok || run.signal.aborted) {
    await discardChanges(ended)
    if (outcome.ok) throw new UpstreamFailure('was stopped', true)
    return { outcome, changes: null }
  }
  const refusal = endProblem(call, ended) ?? writeProblem(call, run.server as StdioServer, ended?.changes.list ?? [])
  if (refusal === null && ended !== null)
    return { outcome: { ...outcome, changes: ended.changes.list }, changes: ended.changes }
  await discardChanges(ended)
  return { outcome: refusal ?? outcome, changes: null }
}

function endProblem({ tool }: UpstreamCall, ended: CommandEnd | null): ToolOutcome | null {
  if (ended !== null && ended.stopped === null) return null
  return failTool(`${tool}: the server did not exit when its input was closed; its changes were discarded`)
}

function writeProblem({ tool }: UpstreamCall, server: StdioServer, changes: readonly Change[]): ToolOutcome | null {
  const outside = findPathsOutside(server.writable, changes)
  if (outside.length === 0) return null
  const paths = outside.slice(0, PATHS_SHOWN_MAX)
  const more = outside.length > paths.length ? ` and ${outside.length - paths.length} more` : ''
  const detail = `${tool}: the server may change ${server.writable.join(', ')}, but changed ${paths.join(', ')}${more}; all its changes were discarded`
  return failTool(detail, 'constraint_violation', { paths })
}

/** Changed paths that the globs do not allow. A folder created for an allowed file counts as allowed. */
function findPathsOutside(writable: readonly string[], changes: readonly Change[]): readonly string[] {
  const isAllowed = ({ path, problem }: Change): boolean =>
    problem === null && writable.some((glob) => matchesGlob(glob, path))
  const isOnTheWay = ({ path, kind, type, problem }: Change): boolean =>
    problem === null &&
    kind === 'created' &&
    type === 'directory' &&
    changes.some((other) => other.path.startsWith(`${path}/`) && isAllowed(other))
  return changes.filter((change) => !isAllowed(change) && !isOnTheWay(change)).map(({ path }) => path)
}
