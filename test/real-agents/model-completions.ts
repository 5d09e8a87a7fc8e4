import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/core/json.js'
import { about, listOf, type Spoken, type Talk, textOf, USAGE } from './talk.js'

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
      .map(({ content }) => ({ text: textOf(content), isError: /\[[a-z_]+\]/.test(textOf(content)) })),
  }
}

export function completionsAnswer(response: ServerResponse, asked: JsonObject, { call, step }: Spoken): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (more: JsonObject): void => {
    const chunk = { id: `c_${step}`, object: 'chat.completion.chunk', created: 1, model: 'scripted' }
    response.write(`data: ${JSON.stringify({ ...chunk, ...more })}\n\n`)
  }
  const choice = (delta: JsonObject, finish: string | null): JsonObject => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  if (call === null) send(choice({ role: 'assistant', content: 'Done.' }, null))
  else {
    const name = call.isOwn === true ? call.name : `phaselock_${call.name}`
    const made = { name, arguments: JSON.stringify(call.input) }
    const calls = [{ index: 0, id: `call_${step}`, type: 'function', function: made }]
    send(choice({ role: 'assistant', tool_calls: calls }, null))
  }
  send(choice({}, call === null ? 'stop' : 'tool_calls'))
  const prompt = USAGE.input + USAGE.cacheRead
  const usage = {
    ...{ prompt_tokens: prompt, completion_tokens: USAGE.output, total_tokens: prompt + USAGE.output },
    prompt_tokens_details: { cached_tokens: USAGE.cacheRead },
  }
  // As endpoints do: only to those who ask for it.
  if ((asked.stream_options as JsonObject | undefined)?.include_usage === true) send({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}
