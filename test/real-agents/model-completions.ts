import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/core/json.js'
import { about, type Call, listOf, type Spoken, type Talk, textOf, USAGE } from './talk.js'

/** The older words of OpenAI, which most other endpoints speak, too. */
export function completionsTalk(body: JsonObject): Talk {
  const messages = listOf(body.messages)
  const tools = listOf(body.tools).map((one) => String((one.function as JsonObject | undefined)?.name))
  const texts = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content))
  return {
    ...about(texts, tools.length > 0),
    step: messages.filter(({ role }) => role === 'assistant').length,
    tools,
    results: messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => ({
        text: textOf(content),
        isError: /\[[a-z]+(?:_[a-z]+)+\]|unavailable tool/.test(textOf(content)),
      })),
  }
}

export function completionsAnswer(response: ServerResponse, asked: JsonObject, { call, step }: Spoken): void {
  const calls = call === null ? [] : [{ id: `call_${step}`, type: 'function', function: nameCall(asked, call) }]
  const prompt = USAGE.input + USAGE.cacheRead
  const usage = {
    ...{ prompt_tokens: prompt, completion_tokens: USAGE.output, total_tokens: prompt + USAGE.output },
    prompt_tokens_details: { cached_tokens: USAGE.cacheRead },
  }
  const head = { id: `c_${step}`, created: 1, model: 'scripted' }
  const finish_reason = call === null ? 'stop' : 'tool_calls'
  if (asked.stream !== true) {
    const message = {
      role: 'assistant',
      ...(call === null ? { content: 'Done.' } : { content: null, tool_calls: calls }),
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }),
    )
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (more: JsonObject): void => {
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`)
  }
  const choice = (delta: JsonObject, finish: string | null): JsonObject => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  if (call === null) send(choice({ role: 'assistant', content: 'Done.' }, null))
  else send(choice({ role: 'assistant', tool_calls: calls.map((one) => ({ index: 0, ...one })) }, null))
  send(choice({}, finish_reason))
  // As endpoints do: only to those who ask for it.
  if ((asked.stream_options as JsonObject | undefined)?.include_usage === true) send({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}

// OpenCode puts the name of the server before each tool; libraries take the names as they are.
function nameCall(asked: JsonObject, call: Call): JsonObject {
  const isPlain = call.isOwn === true || completionsTalk(asked).tools.includes('request_transition')
  return { name: isPlain ? call.name : `phaselock_${call.name}`, arguments: JSON.stringify(call.input) }
}
