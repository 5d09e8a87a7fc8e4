import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/core/json.js'
import { about, listOf, type Spoken, type Talk, textOf, USAGE } from './talk.js'

export function anthropicTalk(body: JsonObject): Talk {
  const messages = listOf(body.messages)
  const tools = listOf(body.tools).map(({ name }) => String(name))
  const blocks = messages.flatMap(({ content }) => listOf(content))
  const texts = messages.map(({ content }) => textOf(content))
  return {
    ...about(texts, tools.length > 0),
    step: messages.filter(({ role }) => role === 'assistant').length,
    tools,
    results: blocks
      .filter(({ type }) => type === 'tool_result')
      .map(({ content, is_error }) => ({ text: textOf(content), isError: is_error === true })),
  }
}

export function anthropicAnswer(response: ServerResponse, asked: JsonObject, { call, step }: Spoken): void {
  const block =
    call === null
      ? { type: 'text', text: 'Done.' }
      : {
          ...{ type: 'tool_use', id: `toolu_${step}`, input: call.input },
          name: call.isOwn === true ? call.name : `${findPrefix(asked)}${call.name}`,
        }
  const stopReason = call === null ? 'end_turn' : 'tool_use'
  const usage = {
    ...{ input_tokens: USAGE.input, output_tokens: USAGE.output },
    ...{ cache_read_input_tokens: USAGE.cacheRead, cache_creation_input_tokens: USAGE.cacheWrite },
  }
  const message = { id: `msg_${Date.now()}_${step}`, type: 'message', role: 'assistant', model: asked.model ?? '' }
  if (asked.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, content: [block], stop_reason: stopReason, stop_sequence: null, usage }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type: string, data: JsonObject): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null }
  send('message_start', { message: { ...begun, usage: { ...usage, output_tokens: 1 } } })
  send('content_block_start', {
    index: 0,
    content_block: call === null ? { ...block, text: '' } : { ...block, input: {} },
  })
  const delta: JsonObject =
    call === null
      ? { type: 'text_delta', text: 'Done.' }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
  send('content_block_delta', { index: 0, delta })
  send('content_block_stop', { index: 0 })
  const end = { stop_reason: stopReason, stop_sequence: null }
  send('message_delta', { delta: end, usage: { output_tokens: USAGE.output } })
  send('message_stop', {})
  response.end()
}

/** The tools of a plugin have longer names. */
function findPrefix(asked: JsonObject): string {
  const plugin = 'mcp__plugin_phaselock_phaselock__'
  return listOf(asked.tools).some(({ name }) => String(name).startsWith(plugin)) ? plugin : 'mcp__phaselock__'
}
