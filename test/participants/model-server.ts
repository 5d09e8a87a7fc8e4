import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** One thing that a reply does: write, wait, cut the connection, or hang until the client leaves. */
export type Act = string | { readonly waitMs: number } | { readonly until: () => Promise<unknown> } | 'cut' | 'hang'

export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly acts: readonly Act[]
}

export interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  /** Settles when the connection of this request is gone. */
  readonly closed: Promise<void>
}

/** What each provider's server says on its stream. */
export interface Dialect {
  readonly provider: 'openai-compatible' | 'anthropic'
  readonly path: string
  answer(answer: ScriptedAnswer): string[]
  readonly error: string
  /** The messages that a request carried, as `role: text` lines. */
  told(body: Record<string, unknown>): string[]
}

export interface ScriptedAnswer {
  readonly reasoning?: string
  readonly text?: readonly string[]
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly pieces: readonly string[] }[]
  readonly cut?: boolean
}

export class ModelServer {
  readonly asked: Asked[] = []
  private readonly server: Server
  private readonly replies: Reply[] = []

  private constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      const closed = new Promise<void>((resolve) => response.on('close', resolve))
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
        this.asked.push({ path: request.url ?? '', headers: request.headers, body, closed })
        const reply = this.replies.shift() ?? { status: 418, acts: ['no reply is left'] }
        play(reply, response).catch((error: unknown) => response.destroy(error as Error))
      })
    })
  }

  static async start(): Promise<ModelServer> {
    const made = new ModelServer()
    await new Promise<void>((resolve) => made.server.listen(0, '127.0.0.1', resolve))
    return made
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`
  }

  will(...replies: readonly (Reply | readonly Act[])[]): void {
    for (const reply of replies) this.replies.push('acts' in reply ? reply : { acts: reply })
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream', ...reply.headers })
  response.flushHeaders()
  for (const act of reply.acts) {
    if (response.destroyed) return
    if (act === 'cut') {
      response.socket?.destroy()
      return
    }
    if (act === 'hang') return
    if (typeof act === 'string') await new Promise((resolve) => response.write(act, resolve))
    else if ('until' in act) await act.until()
    else await sleep(act.waitMs)
  }
  response.end()
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const event = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`

export const OPENAI: Dialect = {
  provider: 'openai-compatible',
  path: '/v1/chat/completions',
  error: data({ error: { message: 'the engine is overloaded', type: 'server_error' } }),
  answer: ({ reasoning, text = [], calls = [], cut = false }) => {
    const chunk = (delta: unknown, finish: string | null = null): string =>
      data({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason: finish }],
      })
    return [
      chunk({ role: 'assistant' }),
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
      ...text.map((content) => chunk({ content })),
      ...calls.flatMap(({ id, name, pieces }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      ...(cut
        ? []
        : [
            chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
            data({
              id: 'c1',
              choices: [],
              usage: { prompt_tokens: 30, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 10 } },
            }),
            'data: [DONE]\n\n',
          ]),
    ]
  },
  told: (body) =>
    (
      body.messages as {
        role: string
        content: unknown
        tool_calls?: { function: { name: string; arguments: string } }[]
      }[]
    ).flatMap((message) => [
      ...(message.content === null || message.content === '' ? [] : [`${message.role}: ${String(message.content)}`]),
      ...(message.tool_calls ?? []).map((call) => `call: ${call.function.name} ${call.function.arguments}`),
    ]),
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly name?: string
  readonly input?: unknown
  readonly content?: unknown
  readonly is_error?: boolean
}

export const ANTHROPIC: Dialect = {
  provider: 'anthropic',
  path: '/v1/messages',
  error: event({ type: 'error', error: { type: 'overloaded_error', message: 'the engine is overloaded' } } as {
    type: string
  }),
  answer: ({ reasoning, text = [], calls = [], cut = false }) => {
    let index = -1
    const block = (start: unknown, deltas: readonly unknown[]): string[] => {
      index += 1
      return [
        event({ type: 'content_block_start', index, content_block: start } as { type: string }),
        ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta } as { type: string })),
        event({ type: 'content_block_stop', index } as { type: string }),
      ]
    }
    const usage = { input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 10, cache_creation_input_tokens: 5 }
    const message = {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'm',
      stop_reason: null,
      stop_sequence: null,
      usage,
    }
    return [
      event({ type: 'message_start', message } as { type: string }),
      event({ type: 'ping' }),
      ...(reasoning === undefined
        ? []
        : block({ type: 'thinking', thinking: '', signature: '' }, [
            { type: 'thinking_delta', thinking: reasoning },
            { type: 'signature_delta', signature: 'c2lnbmVk' },
          ])),
      ...(text.length === 0
        ? []
        : block(
            { type: 'text', text: '' },
            text.map((piece) => ({ type: 'text_delta', text: piece })),
          )),
      ...calls.flatMap(({ id, name, pieces }) =>
        block(
          { type: 'tool_use', id, name, input: {} },
          pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
        ),
      ),
      ...(cut
        ? []
        : [
            event({
              type: 'message_delta',
              delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
              usage: { output_tokens: 7 },
            } as { type: string }),
            event({ type: 'message_stop' }),
          ]),
    ]
  },
  told: (body) => [
    ...((body.system ?? []) as Block[]).map((block) => `system: ${block.text}`),
    ...(body.messages as { role: string; content: Block[] }[]).flatMap(({ role, content }) =>
      content.map((block) => {
        if (block.type === 'tool_use') return `call: ${block.name} ${JSON.stringify(block.input)}`
        if (block.type !== 'tool_result') return `${role}: ${block.text}`
        const text = typeof block.content === 'string' ? block.content : JSON.stringify(block.content)
        return `${block.is_error === true ? 'tool error' : 'tool'}: ${text}`
      }),
    ),
  ],
}

export const DIALECTS: readonly Dialect[] = [OPENAI, ANTHROPIC]
