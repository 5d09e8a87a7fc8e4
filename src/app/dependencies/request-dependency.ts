import { findToolApproval, listOfVisit } from '../../core/approvals/tool-approval.js'
import { listInstallInputs } from '../../core/dependencies/package-managers.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { Approval, TaskState } from '../../core/task/state.js'
import { readPath } from '../../tools/read-path.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import type { App } from '../app.js'
import { cleanReason, describeToolApproval, findReasonProblem, openToolApproval } from '../approvals/tool-approval.js'
import { blobOf } from '../blobs.js'
import { type AgentCall, applyAs } from '../identity/agent-call.js'
import { install } from './install.js'
import { findOrderProblem } from './install-dependencies.js'

const TOOL = 'request_dependency'

/**
 * Runs `request_dependency` after the call was allowed: opens an approval for exactly this command, reports its status
 * and, once approved, installs. The agent repeats the same call.
 */
export async function requestDependency(
  app: App,
  call: AgentCall<Bearer>,
  { args, signal }: { readonly args: JsonObject; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const { bearer, state } = call
  if (bearer.kind === 'review') return failTool(`${TOOL}: a reviewer cannot change anything.`, 'not_permitted')
  const words = (args.command as readonly string[]) ?? []
  const cwd = typeof args.cwd === 'string' ? readPath(args.cwd).path : '.'
  const reason = cleanReason(app, String(args.reason))
  const problem = findOrderProblem(words, cwd) ?? findReasonProblem(reason)
  if (problem !== null) return failTool(`${TOOL}: ${problem}`, 'invalid_request')
  if (JSON.stringify(app.redact([...words])) !== JSON.stringify(words))
    return failTool(`${TOOL}: a word of the command looks like a secret`, 'invalid_request')
  const { index } = await app.trees.compare(state.workspace)
  const inputs = listInstallInputs(index.entries, words, cwd)
  const { sha256: digest } = blobOf({ task: state.id, visit: state.visit, command: [...words], cwd, inputs })
  const blob = blobOf({ command: words.join(' '), words: [...words], cwd, reason, runs: WHAT_IT_DOES })
  const used = findUsed(state, { digest, shown: blob.sha256 })
  if (used !== undefined) return describe(used, words)
  const opened = await openToolApproval(app, { ...call, bearer }, { tool: TOOL, digest, blob, artifact: TOOL })
  if ('ok' in opened) return opened
  const { approval } = opened
  if (approval.status === 'approved')
    return install(app, call, {
      ...{ words, cwd, digest, signal },
      record: async (command, options, done) => {
        const handled = await applyAs(app, call, command, options)
        if (!handled.ok) return { ok: false, ...handled.problem }
        const { refusal } = handled.value
        if (refusal === null) done?.onRecorded(handled.value)
        return refusal === null ? null : failTool(`${TOOL}: ${refusal.detail}`, refusal.code)
      },
    })
  return describe(approval, words)
}

// The install changed the manifests, so the repeated call no longer matches its approval by digest.
function findUsed(state: TaskState, about: { readonly digest: string; readonly shown: string }): Approval | undefined {
  if (findToolApproval(state, TOOL, about.digest) !== undefined) return undefined
  return listOfVisit(state, TOOL).findLast(
    ({ status, artifacts }) => status === 'used' && artifacts.some(({ sha256 }) => sha256 === about.shown),
  )
}

function describe(approval: Approval, words: readonly string[]): ToolOutcome {
  const about = { ifUsed: 'It is installed. Go on.', ifRejected: 'Do without it, or ask for something else.' }
  return { ok: true, result: describeToolApproval(approval, { what: { command: [...words] }, ...about }), changes: [] }
}

const WHAT_IT_DOES =
  'Runs this command once, with network, in the sandbox. Only manifests, lock files and installed packages may change; if it changes anything else, nothing is kept. Scripts of packages run in the sandbox and can read the work tree. The command also installs what the manifests list, and the agent may have changed them: the approval holds only while the manifests stay as they are now.'
