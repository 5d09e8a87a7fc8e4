import { sha256Hex } from '../../base/sha256.js'
import { judgeRed } from '../../checks/red-green/red-run.js'
import { parseInlineKey } from '../../checks/test-files/inline-tests.js'
import { isTestLike } from '../../checks/test-files/test-files.js'
import { findChangedSetupFiles } from '../../checks/test-setup/moved-setup.js'
import type { PinnedRun } from '../../core/evidence/observed-run.js'
import { computeCheckpointNeeds, type Needs } from '../../core/gates/needs.js'
import type { AgentBearer, Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { Blob } from '../../store/store.js'
import { buildUnifiedDiff } from '../../tools/files/apply-edits.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { cleanReason, describeToolApproval, findReasonProblem, openToolApproval } from '../approvals/tool-approval.js'
import { blobOf } from '../blobs.js'
import { type AgentCall, applyAs } from '../identity/agent-call.js'
import { toTaskView } from '../tasks/views.js'
import { observeFor } from './observe-gates.js'
import { pinOfRun, readPinnedRun, readTestSurroundings } from './pinned-run.js'
import { startOfWork } from './start-of-work.js'

const TOOL = 'request_setup_change'
const PATHS_MAX = 20
const FILE_CHARS_MAX = 256 * 1024

interface SetupRequest {
  readonly paths: readonly string[]
  readonly reason: string
}

/** The change an approver is asked about, and the record to write. Read while nothing of the task could write. */
interface Proposal {
  readonly digest: string
  readonly blob: Blob
  readonly around: Pick<PinnedRun, 'harness' | 'commands' | 'marks'>
  readonly tests: Readonly<Record<string, string>>
}

/**
 * Runs `request_setup_change` after the call was allowed: opens an approval for the changed setup, reports its status
 * and, once approved, watches the tests fail under that setup and records it. The agent repeats the same call.
 */
export async function requestSetupChange(app: App, call: AgentCall<Bearer>, args: JsonObject): Promise<ToolOutcome> {
  const { bearer } = call
  if (bearer.kind === 'review') return failTool(`${TOOL}: a reviewer cannot change anything.`, 'not_permitted')
  const asked = {
    paths: [...new Set((args.paths as string[]) ?? [])].sort(),
    reason: cleanReason(app, String(args.reason)),
  }
  const wrong = findProblem(asked)
  if (wrong !== null) return failTool(`${TOOL}: ${wrong}`, 'invalid_request')
  const proposal = await app.ledger.hold(call.state.id, () => proposeChange(app, call, asked))
  if (typeof proposal === 'string') return failTool(`${TOOL}: ${proposal}`, 'constraint_violation')
  const { digest, blob } = proposal
  const opened = await openToolApproval(
    app,
    { ...call, bearer },
    { tool: TOOL, digest, blob, artifact: 'setup_change' },
  )
  if ('ok' in opened) return opened
  const { approval } = opened
  if (approval.status === 'approved') return pinAnew(app, { ...call, bearer }, { asked, proposal })
  const { paths } = asked
  const about = {
    ifUsed: 'The setup is pinned as it is now. Go on.',
    ifRejected: `Put ${paths.join(', ')} back as it was.`,
  }
  return { ok: true, result: describeToolApproval(approval, { what: { paths }, ...about }), changes: [] }
}

function findProblem({ paths, reason }: SetupRequest): string | null {
  if (paths.length === 0 || paths.length > PATHS_MAX) return `name between 1 and ${PATHS_MAX} paths`
  return findReasonProblem(reason)
}

async function proposeChange(
  app: App,
  { contract, state }: AgentCall<Bearer>,
  asked: SetupRequest,
): Promise<Proposal | string> {
  const pinnedRun = await readPinnedRun(app, state)
  const { pinnedTests } = state
  if (pinnedRun === null || pinnedTests === null) return 'no tests have been seen failing yet, so no setup is pinned'
  const tree = openWorkTree(state.workspace)
  const start = startOfWork(app, contract, state)
  const moved = await findChangedSetupFiles(
    { contract, tree, pinnedRun, pinnedTests, start, task: toTaskView(state) },
    pinnedRun,
  )
  for (const path of asked.paths) {
    if (isTestLike(contract, path))
      return `${path} belongs to the tests; go back to the phase in which tests are written`
    if (!moved.includes(path)) return `${path} is not changed test setup. Other files need no request`
  }
  const unnamed = moved.filter((path) => !asked.paths.includes(path))
  if (unnamed.length > 0) return `${unnamed.join(', ')} changed too: name it as well, or put it back`
  for (const [path, sha256] of pinnedTests)
    if (parseInlineKey(path) === null && (await tree.hash(path)) !== sha256)
      return `${path} changed since the tests failed: put it back first`
  const files: FileChange[] = []
  for (const path of asked.paths) {
    const file = await describeFileChange(
      path,
      await start.tree.read(path),
      await tree.read(path),
      await tree.hash(path),
    )
    if (typeof file === 'string') return file
    files.push(file)
  }
  const bound = {
    task: state.id,
    visit: state.visit,
    setup: files.map(({ path, before, after }) => ({ path, before, after })),
  }
  return {
    digest: blobOf(bound).sha256,
    blob: blobOf(app.redact({ paths: asked.paths, reason: asked.reason, files })),
    around: await readTestSurroundings(contract, tree),
    tests: Object.fromEntries(pinnedTests),
  }
}

type FileChange = {
  readonly path: string
  readonly diff: string
  readonly before: string | null
  readonly after: string | null
}

// A change that cannot be shown in full is not put up for approval.
function describeFileChange(
  path: string,
  was: Buffer | null,
  is: Buffer | null,
  hash: string | null,
): FileChange | string {
  if (is === null && hash !== null) return `${path} is a link, or too large to be shown`
  const [before, after] = [decodeText(was), decodeText(is)]
  if (before === null || after === null) return `${path} is not a text file, or is too large to show`
  const { diff, isCut } = buildUnifiedDiff(path, before, after)
  if (isCut) return `the change of ${path} is too large to be shown`
  return { path, diff, before: was === null ? null : sha256Hex(was), after: is === null ? null : sha256Hex(is) }
}

function decodeText(content: Buffer | null): string | null {
  if (content === null) return ''
  const text = content.toString('utf8')
  return text.length <= FILE_CHARS_MAX && Buffer.from(text).equals(content) ? text : null
}

// The tests must fail under the new setup as under the old one, with the code that the task started from.
async function pinAnew(
  app: App,
  call: AgentCall<AgentBearer>,
  { asked, proposal }: { readonly asked: SetupRequest; readonly proposal: Proposal },
): Promise<ToolOutcome> {
  const { contract, state } = call
  const needed: Needs = {
    ...computeCheckpointNeeds(contract, state),
    evidence: new Map(),
    pinsTests: true,
    checks: [RED],
  }
  const tree = openWorkTree(state.workspace)
  const observed = await observeFor(app, contract, state, { needed })
  const run = observed.runs.get('tests')
  if (observed.problems.length > 0 || run === undefined)
    return failTool(`${TOOL}: the tests could not be run: ${observed.problems.join('; ')}`, 'tool_failed')
  const start = startOfWork(app, contract, state)
  const { baseline, noBaseline } = observed
  const red = await judgeRed(run, { contract, tree, start, all: new Map(), baseline, noBaseline })
  if (red.result !== 'holds')
    return failTool(
      `${TOOL}: under this setup the tests do not fail without the code: ${red.found}. Put it back`,
      'tool_failed',
    )
  const pinned = pinOfRun(run, proposal.around)
  return app.ledger.hold(state.id, async () => {
    const now = await proposeChange(app, call, asked)
    if (
      typeof now === 'string' ||
      now.digest !== proposal.digest ||
      blobOf(now.around).sha256 !== blobOf(proposal.around).sha256
    )
      return failTool(`${TOOL}: the work tree changed while the tests ran. Call it again`, 'conflict')
    const command = {
      ...({ type: 'pin_setup', digest: proposal.digest, paths: asked.paths, files: proposal.tests } as const),
      ...{ run: pinned.sha256, observed: observed.refs },
    }
    const handled = await applyAs(app, call, command, { isHolding: true, blobs: [pinned, ...observed.blobs] })
    if (!handled.ok) return failTool(handled.problem.detail, handled.problem.code, handled.problem.extra)
    const { refusal } = handled.value
    if (refusal !== null) return failTool(`${TOOL}: ${refusal.detail}`, refusal.code)
    return { ok: true, result: { status: 'accepted', paths: asked.paths, found: red.found }, changes: [] }
  })
}

const RED: Needs['checks'][number] = {
  key: TOOL,
  blocker: {
    check: 'tests_are_failing',
    severity: 'blocking',
    message: 'The tests must fail under the new setup',
    params: {},
  },
  gate: null,
  artifact: null,
  timeoutSeconds: null,
}
