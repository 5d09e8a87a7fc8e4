import { type AgentCall, admitCall } from '../../src/app/identity/agent-call.js'
import type { JsonObject } from '../../src/core/json.js'
import type { Answer, Running } from './harness.js'

/** Calls `ask_user_question` in the name of the agent. */
export function ask(run: Running, token: string, args: JsonObject, key?: string): Promise<Answer> {
  const { task_id: taskId, sub } = claimsOf(token)
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const body = { task_id: taskId ?? String(sub).replace(/^agent-/, ''), tool_name: 'ask_user_question', args }
  return run.call('POST', '/tools/execute', token, body, headers)
}

/** The same; gives the id of a question that must be taken. */
export async function asked(run: Running, token: string, question: string, options?: readonly string[]) {
  const { status, body } = await ask(run, token, { question, ...(options === undefined ? {} : { options }) })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return String((body.result as { question_id: string }).question_id)
}

/** An agent's call as it is before its tool runs. */
export async function admitted(run: Running, token: string): Promise<AgentCall> {
  const bearer = run.app.tokens.bearer(token, run.now ?? Date.now())
  if (bearer === null || bearer.kind === 'review' || bearer.kind === 'participant')
    throw new Error('the token is not one of an agent of this server')
  const call = await admitCall(run.app, bearer, undefined)
  if (!call.ok) throw new Error(call.problem.detail)
  return call.value
}

function claimsOf(token: string): { readonly task_id?: string; readonly sub?: string } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
}
