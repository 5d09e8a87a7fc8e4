import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { App } from '../app/app.js'
import { admitCall } from '../app/identity/agent-call.js'
import { ok, type Problem, type Result, refuse } from '../app/result.js'
import { REVIEW_SHAPE } from '../app/reviews/review-shape.js'
import { reviewSnapshot, showArtifact } from '../app/reviews/review-snapshot.js'
import { submitReview } from '../app/reviews/reviews.js'
import { executeTool } from '../app/tool-calls/use-tool.js'
import type { ReviewBearer } from '../core/identity/admit.js'
import type { JsonObject } from '../core/json.js'
import { mayReviewWith, REVIEW_TOOLS } from '../core/reviews/review-tool.js'
import { BUILT_IN_TOOLS } from '../core/tool-calls/built-in-tools.js'
import { findArgumentProblems, findNameProblem, type RecordRefusal } from './call-tool.js'
import { rewordReview } from './mcp-text.js'
import { toRefusalError, toToolResult } from './results.js'
import { toTool } from './tool-list.js'
import { buildBuiltInSchema, formatBuiltInNote, ID, makeObjectSchema } from './tool-schemas.js'

interface ReviewerTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** It changes nothing. */
  readonly isReader: boolean
  readonly run: (app: App, bearer: ReviewBearer, args: JsonObject) => Promise<Result<JsonObject>>
}

const TOOLS: readonly ReviewerTool[] = [
  {
    name: 'review_view',
    description:
      'What you review: the task, its phase, the artifacts that were handed in, your report so far, and the subject, a hash of the work as it is now. Begin with this.',
    inputSchema: makeObjectSchema({}),
    isReader: true,
    run: (app, bearer) => reviewSnapshot(app, bearer),
  },
  {
    name: 'review_artifact',
    description: 'One artifact of the task, whole. review_view leaves out the contents of those that are too large.',
    inputSchema: makeObjectSchema({ type: ID }, ['type']),
    isReader: true,
    run: (app, bearer, { type }) =>
      showArtifact(app, { kind: 'reviewer', bearer }, { taskId: bearer.taskId, type: String(type) }),
  },
  {
    name: 'submit_review',
    description:
      'Hand in your report, which replaces the one before. approved and completed finish the review: then you are done. With changes_requested say in blocking_issues what must change. Give the subject of review_view, so that your report is about what you looked at.',
    // Without it, a report counts for the current work, which may differ from what was read.
    inputSchema: { ...REVIEW_SHAPE, required: ['report', 'subject'] },
    isReader: false,
    run: (app, bearer, { report, subject }) =>
      submitReview(app, bearer, {
        taskId: bearer.taskId,
        report: report as JsonObject,
        seen: subject as string,
        once: undefined,
      }),
  },
]

const BY_NAME: ReadonlyMap<string, ReviewerTool> = new Map(TOOLS.map((tool) => [tool.name, tool]))

/** The operations of a review token: reading its task, and its report. Throws when the token is no longer valid. */
export async function listReviewerTools(app: App, bearer: ReviewBearer): Promise<Tool[]> {
  const admitted = await admitCall(app, bearer, undefined)
  if (!admitted.ok) throw toRefusalError(admitted.problem)
  const { contract } = admitted.value
  const looks = REVIEW_TOOLS.flatMap((name) => {
    const spec = BUILT_IN_TOOLS.get(name)
    if (spec === undefined || !mayReviewWith(contract, name)) return []
    const description = spec.description + formatBuiltInNote(spec)
    return [toTool({ name, description, inputSchema: buildBuiltInSchema(spec), isReader: true })]
  })
  return [...TOOLS.map(toTool), ...looks]
}

interface ReviewerCall {
  readonly bearer: ReviewBearer
  readonly name: string
  readonly args: JsonObject
}

/** Makes a call through the same path as REST, where refused tools are decided, counted and recorded too. */
export async function callReviewerTool(app: App, call: ReviewerCall, record: RecordRefusal): Promise<CallToolResult> {
  const answer = await answerOf(app, call)
  if (answer.ok) return toToolResult(call.name, ok(rewordReview(answer.value)))
  await record(answer.problem, call.name, call.bearer)
  return toToolResult(call.name, { ok: false, problem: rewordProblem(answer.problem) })
}

async function answerOf(app: App, { bearer, name, args }: ReviewerCall): Promise<Result<JsonObject>> {
  const unreadable = findNameProblem(name)
  if (unreadable !== null) return refuse('invalid_request', unreadable)
  const tool = BY_NAME.get(name)
  if (tool === undefined) return executeTool(app, { bearer, taskId: undefined, tool: name, args })
  const problems = findArgumentProblems(tool, args)
  if (problems === null) return tool.run(app, bearer, args)
  // An invalid token is reported first.
  const admitted = await admitCall(app, bearer, undefined)
  return admitted.ok ? refuse('invalid_request', problems) : admitted
}

function rewordProblem(problem: Problem): Problem {
  return { ...problem, extra: rewordReview(problem.extra) }
}
