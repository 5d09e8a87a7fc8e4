import type { Answer, Running } from '../http/harness.js'
import type { BrowserSession } from './browser-session.js'
import { SoftwareAuthenticator } from './software-authenticator.js'

/** One phase, and a human who lets the agent leave it. */
export const APPROVED_CONTRACT = `
name: approved
version: "1"
phases:
  - id: WORK
    allowed_tools: [read_files, ask_user_question]
    gates:
      - {id: signed, type: approval, approvers: [human, ci]}
  - {id: DONE, allowed_tools: []}
enforcement: {confinement: "off", reconcile: warn}
`
export const PASSPHRASE = 'four words and a number 7'

export interface Asked {
  readonly id: string
  readonly digest: string
  readonly taskId: string
  readonly agentToken: string
}

let agents = 0

/** A task whose agent waits for an approval. `isNative`: the agent has called a hook. */
export async function askForApproval(run: Running, isNative = false): Promise<Asked> {
  agents += 1
  const agentId = `agent-${agents}`
  const agentToken = await run.addAgent(agentId)
  const taskId = await run.addTask()
  const phaseToken = await run.claim(agentId, agentToken, taskId)
  if (isNative) await callHook(run, agentToken)
  const moved = await run.call('POST', '/tasks/transition', phaseToken, { task_id: taskId, target_phase: 'DONE' })
  const { id, digest } = moved.body.pending_approval as { id: string; digest: string }
  return { id, digest, taskId, agentToken }
}

export async function callHook(run: Running, agentToken: string): Promise<void> {
  const hook = { hook_event_name: 'PreToolUse', tool_name: 'TodoWrite', tool_input: {}, tool_use_id: 'x' }
  await run.call('POST', '/hooks/claude-code', agentToken, hook)
}

export function approve(run: Running, { id, digest }: Asked, confirmation?: unknown, token = run.operator) {
  return run.call('POST', `/approvals/${id}/decision`, token, {
    ...{ decision: 'approve', digest },
    ...(confirmation === undefined ? {} : { confirmation }),
  })
}

export const refusal = (status: number, code: string) => ({ status, body: { code } })

/** The origin under which a browser knows the server: passkeys need a name. */
export function originOf(run: Running): string {
  return `http://localhost:${run.port}`
}

/** Registers a passkey as a browser would. */
export async function addPasskey(
  session: BrowserSession,
  run: Running,
  confirmation?: unknown,
): Promise<{ readonly passkey: SoftwareAuthenticator; readonly answer: Answer }> {
  const headers = { origin: originOf(run) }
  const passkey = new SoftwareAuthenticator(originOf(run))
  const { options } = (await session.call('POST', '/passkeys/options', {}, headers)).body as {
    options: { challenge: string }
  }
  const body = { name: 'laptop', response: passkey.register(options) }
  const sent = typeof confirmation === 'function' ? await confirmation(body) : confirmation
  const answer = await session.call('POST', '/passkeys', { ...body, ...(sent ? { confirmation: sent } : {}) }, headers)
  return { passkey, answer }
}

/** Confirms an act with a passkey: asks for the challenge and signs it. */
export async function confirmWith(
  session: BrowserSession,
  run: Running,
  about: {
    readonly passkey: SoftwareAuthenticator
    readonly act: string
    readonly params?: object
    readonly body?: object
  },
): Promise<{ readonly id: string; readonly assertion: ReturnType<SoftwareAuthenticator['sign']> }> {
  const { passkey, act, params = {}, body = {} } = about
  const made = await session.call('POST', '/confirmations', { act, params, body }, { origin: originOf(run) })
  const { id, options } = made.body as { id: string; options: { challenge: string } }
  return { id, assertion: passkey.sign(options) }
}
