import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject, type Json, type JsonObject } from '../../core/json.js'

const BODY_BYTES_MAX = 32 * 1024 * 1024
const ID = 'phaselock_canary'
const DONE = 'Done.'

/** A call of one of the agent CLI's own tools. */
export interface CanaryCall {
  readonly tool: string
  readonly input: JsonObject
}

/** A model on the loopback that asks for one call, and reads what came of it. It costs nothing and tells nobody. */
export interface CanaryModel {
  readonly url: string
  /** Whether the agent CLI has asked it, and whether it offered tools then; null: it has not. */
  readonly asked: () => 'with tools' | 'without tools' | null
  /** The result of the call, as the agent CLI told it; null: it told none. */
  readonly result: () => string | null
  close(): void
}

export async function openCanaryModel(call: CanaryCall): Promise<CanaryModel> {
  let asked: 'with tools' | 'without tools' | null = null
  let result: string | null = null
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_BYTES_MAX) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? ''
      const speak = SPEAKERS.find(({ ends }) => path.endsWith(ends))
      const body = parseObject(Buffer.concat(chunks).toString('utf8'))
      if (speak === undefined || body === null) {
        sendJson(response, { object: 'list', data: [], input_tokens: 1 })
        return
      }
      const said = speak.findResult(body)
      const hasTools = Array.isArray(body.tools) && body.tools.length > 0
      asked = hasTools ? 'with tools' : (asked ?? 'without tools')
      if (said !== null) result = said
      speak.answer(response, body, hasTools && said === null ? call : null)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    result: () => result,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Speaker {
  readonly ends: string
  readonly findResult: (body: JsonObject) => string | null
  readonly answer: (response: ServerResponse, body: JsonObject, call: CanaryCall | null) => void
}

const SPEAKERS: readonly Speaker[] = [
  { ends: '/v1/messages', findResult: findMessagesResult, answer: answerMessages },
  { ends: '/v1/responses', findResult: findResponsesResult, answer: answerResponses },
  { ends: '/v1/chat/completions', findResult: findCompletionsResult, answer: answerCompletions },
  { ends: ':streamGenerateContent', findResult: findGeminiResult, answer: answerGemini },
]

function findMessagesResult({ messages }: JsonObject): string | null {
  const blocks = listObjects(messages).flatMap(({ content }) => listObjects(content))
  const block = blocks.find(({ type }) => type === 'tool_result')
  return block === undefined ? null : toText(block.content)
}

function answerMessages(response: ServerResponse, body: JsonObject, call: CanaryCall | null): void {
  const block: JsonObject =
    call === null ? { type: 'text', text: DONE } : { type: 'tool_use', id: ID, name: call.tool, input: call.input }
  const stop = { stop_reason: call === null ? 'end_turn' : 'tool_use', stop_sequence: null }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: ID, type: 'message', role: 'assistant', model: body.model ?? '' }
  if (body.stream !== true) {
    sendJson(response, { ...message, content: [block], ...stop, usage })
    return
  }
  const empty: JsonObject = call === null ? { ...block, text: '' } : { ...block, input: {} }
  const delta: JsonObject =
    call === null
      ? { type: 'text_delta', text: DONE }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
  sendEvents(response, [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ])
}

function findResponsesResult({ input }: JsonObject): string | null {
  const item = listObjects(input).find(({ type }) => type === 'function_call_output')
  return item === undefined ? null : toText(item.output)
}

function answerResponses(response: ServerResponse, _body: JsonObject, call: CanaryCall | null): void {
  const item: JsonObject =
    call === null
      ? {
          ...{ type: 'message', id: ID, role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: DONE, annotations: [] }],
        }
      : {
          ...{ type: 'function_call', id: ID, call_id: ID, status: 'completed', name: call.tool },
          arguments: JSON.stringify(call.input),
        }
  const base = { id: ID, object: 'response', created_at: 1, model: 'canary' }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  sendEvents(response, [
    { type: 'response.created', response: { ...base, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...base, status: 'completed', output: [item], usage } },
  ])
}

function findCompletionsResult({ messages }: JsonObject): string | null {
  const message = listObjects(messages).find(({ role }) => role === 'tool')
  return message === undefined ? null : toText(message.content)
}

function answerCompletions(response: ServerResponse, _body: JsonObject, call: CanaryCall | null): void {
  const delta: JsonObject =
    call === null
      ? { role: 'assistant', content: DONE }
      : {
          role: 'assistant',
          tool_calls: [
            {
              ...{ index: 0, id: ID, type: 'function' },
              function: { name: call.tool, arguments: JSON.stringify(call.input) },
            },
          ],
        }
  const base = { id: ID, object: 'chat.completion.chunk', created: 1, model: 'canary' }
  const end = call === null ? 'stop' : 'tool_calls'
  sendData(response, [
    JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: null }] }),
    JSON.stringify({ ...base, choices: [{ index: 0, delta: {}, finish_reason: end }] }),
    '[DONE]',
  ])
}

function findGeminiResult({ contents }: JsonObject): string | null {
  const parts = listObjects(contents).flatMap(({ parts }) => listObjects(parts))
  const part = parts.find(({ functionResponse }) => functionResponse !== undefined)
  return part === undefined ? null : toText(part.functionResponse)
}

function answerGemini(response: ServerResponse, _body: JsonObject, call: CanaryCall | null): void {
  const part: JsonObject = call === null ? { text: DONE } : { functionCall: { name: call.tool, args: call.input } }
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }]
  sendData(response, [JSON.stringify({ candidates, usageMetadata })])
}

function sendData(response: ServerResponse, lines: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const line of lines) response.write(`data: ${line}\n\n`)
  response.end()
}

function sendEvents(response: ServerResponse, events: readonly JsonObject[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

function sendJson(response: ServerResponse, body: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function listObjects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function toText(content: Json | undefined): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '')
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
