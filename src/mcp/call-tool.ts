import type { CallToolResult } from '@modelcontextprotocol/server'
import type { App } from '../app/app.js'
import { ok, type Problem, type Result, refuse } from '../app/result.js'
import { executeTool } from '../app/tool-calls/use-tool.js'
import { compileSchema } from '../contract/schemas.js'
import type { AgentBearer } from '../core/identity/admit.js'
import { isObject, type JsonObject } from '../core/json.js'
import type { McpBearer } from './caller.js'
import { rewordForMcp } from './mcp-text.js'
import { toToolResult } from './results.js'
import { WORKFLOW_TOOLS, type WorkflowTool } from './workflow-tools.js'

const NAME_CHARS_MAX = 200
const PROBLEMS_MAX = 20

/** Records a refusal that no event of a task records, like for every other request. */
export type RecordRefusal = (problem: Problem, what: string, bearer: McpBearer) => Promise<void>

interface ToolCall {
  readonly bearer: AgentBearer
  readonly name: string
  readonly args: JsonObject
}

/** Makes a call through the same path as REST. A refusal is a result that the model reads. */
export async function callTool(app: App, call: ToolCall, record: RecordRefusal): Promise<CallToolResult> {
  const answer = await answerOf(app, call)
  if (!answer.ok) await record(answer.problem, call.name, call.bearer)
  return toToolResult(
    call.name,
    answer.ok ? ok(rewordForMcp(redactForCaller(call.bearer, answer.value))) : rewordProblem(answer.problem),
  )
}

function rewordProblem(problem: Problem): Result<JsonObject> {
  return { ok: false, problem: { ...problem, extra: rewordForMcp(problem.extra) } }
}

async function answerOf(app: App, { bearer, name, args }: ToolCall): Promise<Result<JsonObject>> {
  const unreadable = findNameProblem(name)
  if (unreadable !== null) return refuse('invalid_request', unreadable)
  const tool = WORKFLOW_TOOLS.get(name)
  if (tool === undefined) return executeTool(app, { bearer, taskId: undefined, tool: name, args })
  const problems = findArgumentProblems(tool, args)
  return problems === null ? tool.run(app, bearer, args) : refuse('invalid_request', problems)
}

export function findNameProblem(name: string): string | null {
  return name === '' || name.length > NAME_CHARS_MAX ? `name: must have 1 to ${NAME_CHARS_MAX} characters.` : null
}

/** The problem of the arguments of a tool that no contract defines; null when there is none. */
export function findArgumentProblems(
  tool: Pick<WorkflowTool, 'name' | 'inputSchema'>,
  args: JsonObject,
): string | null {
  const found = compileSchema(tool.inputSchema)(args)
  if (found.length === 0) return null
  const said = found
    .slice(0, PROBLEMS_MAX)
    .map(({ pointer, message }) => `${pointer === '' ? 'the arguments' : pointer} ${message}`)
  return `${tool.name}: ${said.join('; ')}.`
}

// With the agent token no phase token is needed, and a model that sees none cannot leak one.
function redactForCaller(bearer: AgentBearer, value: JsonObject): JsonObject {
  if (bearer.kind !== 'agent') return value
  const { advanced } = value
  const kept = omitToken(value)
  return isObject(advanced) ? { ...kept, advanced: omitToken(advanced) } : kept
}

function omitToken(value: JsonObject): JsonObject {
  if (!('phase_token' in value)) return value
  const { phase_token: _token, expires_at: _expiry, ...rest } = value
  return rest
}
