import type { JsonObject } from '../../core/json.js'
import type { ToolCall } from '../../participants/participant.js'
import type { CallResult } from '../../participants/run-turn.js'
import { describeCall } from '../../tools/describe-call.js'
import { runFileTool } from '../../tools/files/file-tools.js'
import { hashApprovalTree } from '../approvals/approval-tree-hash.js'
import type { Resources } from '../resources.js'
import { getReserved, isHiddenBy } from '../tool-calls/contract-paths.js'

/** The work tree that a council may read. */
export type LookApp = Pick<
  Resources,
  | 'contracts'
  | 'contractFile'
  | 'contractBases'
  | 'contractParts'
  | 'stateDir'
  | 'workspace'
  | 'defaultContract'
  | 'redact'
  | 'trees'
>

const RESULT_CHARS_MAX = 60_000

const OTHER_WORK = 'The work tree has changed since the question was asked: judge what the question shows.'

/** Reads a work tree as it was when the question was asked. Once the tree has changed, nothing is shown. */
export async function lookAt(app: LookApp, tree: string, call: ToolCall, signal: AbortSignal): Promise<CallResult> {
  const seen = await look(app, call, signal)
  // Checked after the read, so that content that is shown to a reader and removed before the vote counts is detected.
  const isSame = (await hashApprovalTree(app, app.workspace)) === tree
  return isSame ? seen : { callId: call.id, text: OTHER_WORK, isError: true }
}

/** Runs a read-only tool on the work tree. Paths hidden from agents are hidden here too. */
export async function look(app: LookApp, call: ToolCall, signal: AbortSignal): Promise<CallResult> {
  const { id: callId, name } = call
  const told = (text: string, isError: boolean): CallResult => ({
    callId,
    text: text.length > RESULT_CHARS_MAX ? `${text.slice(0, RESULT_CHARS_MAX).toWellFormed()}… [cut]` : text,
    isError,
  })
  const args = call.arguments
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return told(`${name}: the arguments are not an object.`, true)
  const contract = await app.contracts.get(app.defaultContract)
  const { argProblems, paths } = describeCall(contract, name, args as JsonObject)
  const problems = [...argProblems, ...paths.flatMap(({ problem }) => (problem === null ? [] : [problem]))]
  if (problems.length > 0) return told(`${name}: ${problems.join('; ')}`, true)
  const isHidden = isHiddenBy(getReserved(app, contract, app.workspace))
  const outcome = await runFileTool({ root: app.workspace, isHidden, signal }, name, args as JsonObject)
  return outcome.ok
    ? told(JSON.stringify(app.redact(outcome.result)), false)
    : told(String(app.redact(outcome.detail)), true)
}
