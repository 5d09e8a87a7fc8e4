import { type AgentCall, admitCall } from '../../src/app/agent-call.js'
import { askQuestion } from '../../src/app/questions.js'
import type { JsonObject } from '../../src/core/contract.js'
import type { ToolOutcome } from '../../src/tools/port.js'
import type { Running } from './harness.js'

/** Asks the operators in the name of the agent, as the tool does once its call was allowed. */
export async function ask(run: Running, token: string, args: JsonObject): Promise<ToolOutcome> {
  return askQuestion(run.app, await admitted(run, token), args)
}

/** An agent's call as it is before its tool runs. */
export async function admitted(run: Running, token: string): Promise<AgentCall> {
  const bearer = run.app.tokens.bearer(token, run.now ?? Date.now())
  if (bearer === null) throw new Error('the token is not one of this server')
  const call = await admitCall(run.app, bearer, undefined)
  if (!call.ok) throw new Error(call.problem.detail)
  return call.value
}

/** The same; gives the id of a question that must be taken. */
export async function asked(run: Running, token: string, question: string, options?: readonly string[]) {
  const outcome = await ask(run, token, { question, ...(options === undefined ? {} : { options }) })
  if (!outcome.ok) throw new Error(outcome.detail)
  return String(outcome.result.question_id)
}
