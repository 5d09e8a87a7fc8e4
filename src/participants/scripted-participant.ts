import type { Json } from '../core/json.js'
import { makeFailure } from './model/failures.js'
import { waitUnlessAborted } from './model/retry.js'
import type { ChatPart, Participant } from './participant.js'

/** One answer of a script. */
export type ScriptStep = {
  readonly delayMs: number
  readonly text: string
  readonly toolCalls: readonly { readonly name: string; readonly arguments: Json }[]
}

interface ScriptedOptions {
  readonly id: string
  readonly script: readonly ScriptStep[]
  readonly takesToolErrors?: boolean
}

/** Answers from a script, one step per chat, the same in every run: for tests, demos and dry runs. */
export function makeScriptedParticipant(options: ScriptedOptions): Participant {
  let steps = 0
  let calls = 0
  async function* chat(signal: AbortSignal): AsyncGenerator<ChatPart, void, undefined> {
    const step = options.script[steps]
    if (step === undefined) {
      const detail = `${options.id} was asked for answer ${steps + 1}, and its script has ${options.script.length}`
      yield { type: 'end', reason: 'failed', failure: makeFailure('script_ended', { detail }) }
      return
    }
    steps += 1
    if (signal.aborted || (step.delayMs > 0 && !(await waitUnlessAborted(step.delayMs, signal)))) {
      yield { type: 'end', reason: 'failed', failure: makeFailure('aborted') }
      return
    }
    if (step.text !== '') yield { type: 'text', text: step.text }
    for (const call of step.toolCalls) {
      calls += 1
      yield { type: 'tool_call', id: `call-${calls}`, name: call.name, arguments: call.arguments }
    }
    yield { type: 'usage', input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    yield { type: 'end', reason: step.toolCalls.length > 0 ? 'tool_calls' : 'stop' }
  }
  return {
    id: options.id,
    takesToolErrors: options.takesToolErrors ?? true,
    chat: (_messages, _tools, signal) => chat(signal),
  }
}
