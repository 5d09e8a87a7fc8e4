import type { MeteredUsage } from '../../src/gateway/usage-meter.js'

/** An answer as an endpoint sends it, and what it took. */
export interface Sample {
  readonly name: string
  readonly body: string
  readonly took: MeteredUsage
}

type Data = Record<string, unknown>

export const event = (data: Data): string => `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`
const data = (one: Data): string => `data: ${JSON.stringify(one)}\n\n`

const TEXT = 'a "quoted" {"usage":{"input_tokens":9999}} \\ and \n more … ü'

const MESSAGE = { id: 'msg_01XFDUDYJgAACzvnptvVoYEL', type: 'message', role: 'assistant', model: 'claude-x' }
const ANTHROPIC_TOOK = { input: 100, output: 57, cacheRead: 7, cacheWrite: 3, id: MESSAGE.id, model: 'claude-x' }
const ANTHROPIC_USAGE = {
  ...{ input_tokens: 100, cache_creation_input_tokens: 3, cache_read_input_tokens: 7 },
  ...{ cache_creation: { ephemeral_5m_input_tokens: 3 }, service_tier: 'standard' },
}
export const ANTHROPIC_EVENTS = [
  event({
    type: 'message_start',
    message: { ...MESSAGE, content: [], usage: { ...ANTHROPIC_USAGE, output_tokens: 1 } },
  }),
  'event: ping\ndata: {"type": "ping"}\n\n',
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } }),
  event({ type: 'content_block_stop', index: 0 }),
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } }),
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 57 } }),
  event({ type: 'message_stop' }),
]

const RESPONSE = { id: 'resp_67ccd2bed1ec8190b14f964abc05', object: 'response', model: 'gpt-x' }
const RESPONSE_TOOK = { input: 100, output: 20, cacheRead: 7, cacheWrite: 0, id: RESPONSE.id, model: 'gpt-x' }
const RESPONSE_USAGE = {
  ...{ input_tokens: 107, input_tokens_details: { cached_tokens: 7 } },
  ...{ output_tokens: 20, output_tokens_details: { reasoning_tokens: 12 }, total_tokens: 127 },
}
const ITEM = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: TEXT }] }
export const RESPONSE_EVENTS = [
  event({ type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } }),
  event({ type: 'response.output_item.added', output_index: 0, item: ITEM }),
  event({ type: 'response.output_text.delta', delta: TEXT }),
  event({ type: 'response.completed', response: { ...RESPONSE, output: [ITEM], usage: RESPONSE_USAGE } }),
]

const CHAT = { id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT', created: 1, model: 'gpt-y' }
const CHAT_TOOK = { input: 100, output: 20, cacheRead: 7, cacheWrite: 0, id: CHAT.id, model: 'gpt-y' }
const CHAT_USAGE = {
  ...{ prompt_tokens: 107, completion_tokens: 20, total_tokens: 127 },
  ...{ prompt_tokens_details: { cached_tokens: 7 }, completion_tokens_details: { reasoning_tokens: 12 } },
}
const chunk = (more: Data): string => data({ ...CHAT, object: 'chat.completion.chunk', ...more })
export const CHAT_EVENTS = [
  chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: TEXT } }], usage: null }),
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null }),
  chunk({ choices: [], usage: CHAT_USAGE }),
  'data: [DONE]\n\n',
]

const GEMINI_TOOK = { input: 110, output: 33, cacheRead: 7, cacheWrite: 0, id: 'mAitaLmkHPPlz7IPvtfUqQ4', model: 'g-1' }
const gemini = (candidates: number, more: Data = {}): Data => ({
  candidates: [
    { content: { role: 'model', parts: [{ text: TEXT, args: { usageMetadata: { promptTokenCount: 9 } } }] } },
  ],
  usageMetadata: {
    ...{ promptTokenCount: 107, candidatesTokenCount: candidates, cachedContentTokenCount: 7 },
    ...{ thoughtsTokenCount: 13, toolUsePromptTokenCount: 10, totalTokenCount: 130 + candidates },
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 107 }],
  },
  ...{ modelVersion: 'g-1', responseId: GEMINI_TOOK.id },
  ...more,
})

export const SAMPLES: readonly Sample[] = [
  { name: 'Anthropic, streamed', body: ANTHROPIC_EVENTS.join(''), took: ANTHROPIC_TOOK },
  {
    name: 'Anthropic, whole',
    body: JSON.stringify({
      ...{ ...MESSAGE, content: [{ type: 'tool_use', input: { usage: { input_tokens: 9999 } } }] },
      usage: { ...ANTHROPIC_USAGE, output_tokens: 57 },
    }),
    took: ANTHROPIC_TOOK,
  },
  { name: 'OpenAI responses, streamed', body: RESPONSE_EVENTS.join(''), took: RESPONSE_TOOK },
  {
    name: 'OpenAI responses, whole',
    body: JSON.stringify({ usage: RESPONSE_USAGE, ...RESPONSE, output: [ITEM] }, null, 2),
    took: RESPONSE_TOOK,
  },
  { name: 'OpenAI chat completions, streamed', body: CHAT_EVENTS.join(''), took: CHAT_TOOK },
  {
    name: 'OpenAI chat completions, whole',
    body: JSON.stringify({ ...CHAT, choices: [{ message: { content: TEXT } }], usage: CHAT_USAGE }),
    took: CHAT_TOOK,
  },
  {
    name: 'chat completions whose output leaves out what was thought',
    body: JSON.stringify({ ...CHAT, usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 120 } }),
    took: { ...CHAT_TOOK, cacheRead: 0 },
  },
  { name: 'Gemini, streamed', body: [gemini(4), gemini(20)].map(data).join(''), took: GEMINI_TOOK },
  {
    name: 'Gemini, streamed as a list',
    body: `[${JSON.stringify(gemini(4))}\n,\r\n${JSON.stringify(gemini(20))}]`,
    took: GEMINI_TOOK,
  },
  { name: 'Gemini, whole', body: JSON.stringify(gemini(20), null, 2), took: GEMINI_TOOK },
  { name: 'Gemini in an envelope', body: data({ response: gemini(20), traceId: 'x' }), took: GEMINI_TOOK },
]
