import type { JsonObject } from '../../core/json.js'
import { toOneLine } from '../../core/text.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { buildPrompt } from '../identity/grant.js'
import { findInterrupt } from '../tasks/interrupts.js'
import { buildSnapshot } from '../tasks/snapshot.js'
import { listAllowedTools } from '../tasks/views.js'

/** 2,000 tokens: a token of English prose and code has three characters or more. */
const CAPSULE_CHARS_MAX = 6000
const LINES_CHARS_MAX = 1500
const TITLE_CHARS_MAX = 300
const BLOCKERS_MAX = 5
const BLOCKER_CHARS_MAX = 200

/** What a session must know about its task, in at most 2,000 tokens: after this it needs nothing that came before. */
export async function buildCapsule(app: App, call: AgentCall, who: 'session' | 'subagent'): Promise<string> {
  const { contract, state } = call
  const snapshot = await buildSnapshot(app, { contract, state })
  const interrupt = findInterrupt(state)
  const head = [
    `Phaselock leads this session. You are agent ${call.bearer.agentId}, and task ${state.id} is yours: ${toOneLine(state.title, TITLE_CHARS_MAX)}`,
    `It is in phase ${state.phase} (${state.status}). Tools that ${state.phase} allows: ${cut(listAllowedTools(contract, state).join(', '), LINES_CHARS_MAX)}. Every other call is refused.`,
    ...formatBlockers(snapshot.blockers as readonly JsonObject[]),
    `Next legal step: ${String(snapshot.next_step)}`,
    who === 'session' ? LEAVE : SUBAGENT,
  ]
  const text = interrupt === null ? await buildPrompt(app, contract, state) : String(interrupt.text)
  const room = CAPSULE_CHARS_MAX - head.join('\n').length - 100
  return [...head, `What ${state.phase} asks for:`, cut(text, Math.max(0, room))].join('\n').slice(0, CAPSULE_CHARS_MAX)
}

const LEAVE =
  'Leave a phase with the tool request_transition of the MCP server phaselock; get_workflow_state has everything again. Ask the person with ask_user_question. Only people approve. The task is done when its status is completed.'
const SUBAGENT =
  'You are a subagent: work with the tools of this phase and report to the conversation that started you. Only that conversation leaves a phase.'

function formatBlockers(blockers: readonly JsonObject[]): readonly string[] {
  if (blockers.length === 0) return []
  const lines = blockers
    .slice(0, BLOCKERS_MAX)
    .map(({ message }) => `- ${toOneLine(String(message), BLOCKER_CHARS_MAX)}`)
  return ['The last request to leave was blocked by:', ...lines]
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(0, max - 1)).toWellFormed()}…`
}
