import type { ServerResponse } from 'node:http'
import type { Json, JsonObject } from '../../src/core/json.js'
import { about, listOf, type Spoken, type Talk, textOf, USAGE } from './talk.js'

export function openaiTalk(body: JsonObject): Talk {
  const items = listOf(body.input)
  const tools = listTools(body)
  const texts = items.filter(({ role }) => role === 'user').map(({ content }) => textOf(content))
  return {
    ...about(texts, tools.length > 0),
    step: items.filter(
      ({ type, role }) => type === 'function_call' || type === 'custom_tool_call' || role === 'assistant',
    ).length,
    tools,
    results: items
      .filter(({ type }) => type === 'function_call_output' || type === 'custom_tool_call_output')
      .map(({ output }) => {
        const text = typeof output === 'string' ? output : textOf(output)
        // This dialect does not say that a result is an error; Phaselock's refusals carry a code.
        return { text, isError: /"code":"[a-z_]+"|unsupported call/.test(text) }
      }),
  }
}

/** Newer models get their tools as the first item of what they read. */
function listTools({ tools, input }: JsonObject): readonly string[] {
  const added = listOf(input).filter(({ type }) => type === 'additional_tools')
  return [tools, ...added.map((item) => item.tools)].flatMap(toolsOf)
}

/** Tools stand in the list itself, or in groups of it that have the name of their server. */
function toolsOf(tools: Json | undefined): readonly string[] {
  return listOf(tools).flatMap(({ name, type, tools: inner }) =>
    inner === undefined ? [String(name ?? type)] : toolsOf(inner).map((one) => `${String(name)}__${one}`),
  )
}

export function openaiAnswer(response: ServerResponse, asked: JsonObject, { call, step }: Spoken): void {
  // Codex groups the tools of a server; libraries take the names as they are.
  const isPlain = call?.isOwn === true || listTools(asked).includes('request_transition')
  const item: JsonObject =
    call === null
      ? {
          ...{ type: 'message', id: `msg_${step}`, role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
        }
      : {
          ...{ id: `fc_${step}`, call_id: `call_${step}`, status: 'completed', name: call.name },
          ...(call.text === undefined
            ? { type: 'function_call', arguments: JSON.stringify(call.input) }
            : { type: 'custom_tool_call', input: call.text }),
          ...(isPlain ? {} : { namespace: 'mcp__phaselock' }),
        }
  const base: JsonObject = { id: `resp_${step}`, object: 'response', created_at: 1, model: 'scripted', output: [] }
  const input = USAGE.input + USAGE.cacheRead
  const usage = {
    ...{ input_tokens: input, input_tokens_details: { cached_tokens: USAGE.cacheRead } },
    ...{ output_tokens: USAGE.output, output_tokens_details: { reasoning_tokens: 0 } },
    total_tokens: input + USAGE.output,
  }
  const whole = { ...base, status: 'completed', output: [item], usage }
  if (asked.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...whole, parallel_tool_calls: false, tool_choice: 'auto', tools: [] }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type: string, data: JsonObject): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  send('response.created', { response: { ...base, status: 'in_progress' } })
  send('response.output_item.added', { output_index: 0, item })
  send('response.output_item.done', { output_index: 0, item })
  send('response.completed', { response: whole })
  response.end()
}
