import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json, JsonObject } from '../../src/core/json.js'

export interface Call {
  readonly name: string
  readonly input: JsonObject
}

/** A model that calls what a script says and then says `Done.`, in the words of OpenAI or of Gemini. */
export interface OtherModel {
  readonly url: string
  /** The requests with tools: the names of the tools, and the whole of it as text. */
  readonly asked: { readonly tools: readonly string[]; readonly text: string }[]
  close(): void
}

/** Which step it is follows from the number of results in the conversation. */
export async function otherModel(script: readonly Call[]): Promise<OtherModel> {
  const asked: OtherModel['asked'] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const path = (request.url ?? '').split('?')[0] ?? ''
      const body = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {}
      if (path.endsWith('/responses')) {
        asked.push({ tools: toolsOf(body.tools), text })
        return responses(response, script[countOf(body.input, 'function_call_output')])
      }
      if (path.endsWith('/chat/completions')) {
        if (body.tools !== undefined) asked.push({ tools: toolsOf(body.tools), text })
        const results = (text.match(/"role":"tool"/g) ?? []).length
        return completions(response, body.tools === undefined ? undefined : script[results])
      }
      if (path.endsWith('GenerateContent') || path.endsWith('generateContent')) {
        if (body.tools !== undefined) asked.push({ tools: toolsOf(body.tools), text })
        const call = body.tools === undefined ? undefined : script[(text.match(/"functionResponse"/g) ?? []).length]
        return gemini(response, call, path.endsWith('streamGenerateContent'))
      }
      response.writeHead(path.endsWith('/models') ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ object: 'list', data: [], models: [], totalTokens: 10 }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Tools stand in the list itself, or in groups of it. */
function toolsOf(tools: Json | undefined): readonly string[] {
  return (Array.isArray(tools) ? tools : []).flatMap((one) => {
    const { name, type, tools: inner, functionDeclarations, function: own } = one as JsonObject
    const group = functionDeclarations ?? inner ?? (own === undefined ? undefined : [own])
    return group === undefined ? [String(name ?? type)] : toolsOf(group)
  })
}

function countOf(items: Json | undefined, type: string): number {
  return Array.isArray(items) ? items.filter((item) => (item as JsonObject).type === type).length : 0
}

function responses(response: ServerResponse, call: Call | undefined): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type: string, data: JsonObject): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  const item: JsonObject =
    call === undefined
      ? {
          ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
        }
      : {
          ...{ type: 'function_call', id: 'fc_1', call_id: `call_${Date.now()}`, status: 'completed' },
          ...{ name: call.name, namespace: 'mcp__phaselock', arguments: JSON.stringify(call.input) },
        }
  const base: JsonObject = { id: 'resp_1', object: 'response', created_at: 1, model: 'scripted', output: [] }
  const usage = {
    ...{ input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 5, total_tokens: 15 },
    output_tokens_details: { reasoning_tokens: 0 },
  }
  send('response.created', { response: { ...base, status: 'in_progress' } })
  send('response.output_item.added', { output_index: 0, item })
  send('response.output_item.done', { output_index: 0, item })
  send('response.completed', { response: { ...base, status: 'completed', output: [item], usage } })
  response.end()
}

function gemini(response: ServerResponse, call: Call | undefined, isStream: boolean): void {
  const part: JsonObject =
    call === undefined ? { text: 'Done.' } : { functionCall: { name: `mcp_phaselock_${call.name}`, args: call.input } }
  const answer = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'scripted',
  }
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
  response.end(isStream ? `data: ${JSON.stringify(answer)}\n\n` : JSON.stringify(answer))
}

function completions(response: ServerResponse, call: Call | undefined): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: JsonObject, finish: string | null = null): void => {
    const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'scripted' }
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`)
  }
  if (call === undefined) send({ role: 'assistant', content: 'Done.' })
  else {
    const made = { name: `phaselock_${call.name}`, arguments: JSON.stringify(call.input) }
    send({ role: 'assistant', tool_calls: [{ index: 0, id: `call_${Date.now()}`, type: 'function', function: made }] })
  }
  send({}, call === undefined ? 'stop' : 'tool_calls')
  response.end('data: [DONE]\n\n')
}
