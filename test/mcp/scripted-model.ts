import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A model that says what a script says, in the words of the Anthropic API. */
export interface ScriptedModel {
  readonly url: string
  /** What the agent was offered and what its tools answered, turn by turn. */
  readonly turns: Turn[]
  close(): void
}

export interface Turn {
  readonly tools: readonly string[]
  readonly results: readonly { readonly text: string; readonly isError: boolean }[]
}

export interface ToolUse {
  readonly name: string
  readonly input: Record<string, unknown>
}

/** Only requests that carry it are of the script; titles and the like are answered with a word. */
export const MARK = '[[scripted]]'

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: string | readonly Block[]
  readonly is_error?: boolean
}

interface Asked {
  readonly model: string
  readonly stream?: boolean
  readonly tools?: readonly { readonly name: string }[]
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
}

/** What the model does in one message; several calls at once where it is a list. */
export type Step = ToolUse | readonly ToolUse[]

/** The steps, or how they follow from the first thing that the agent was told. */
export type Script = readonly Step[] | ((prompt: string) => readonly Step[])

/** Which step it is follows from the conversation alone: a request that is sent twice is answered the same. */
export async function scriptedModel(script: Script): Promise<ScriptedModel> {
  const turns: Turn[] = []
  const server = createServer((request, response) => {
    void answer(request, response, { script, turns })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turns,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { script, turns }: { readonly script: Script; readonly turns: Turn[] },
): Promise<void> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return json(response, 404, {})
  if (request.url.includes('count_tokens')) return json(response, 200, { input_tokens: 100 })
  const asked = JSON.parse(text) as Asked
  const isScripted = JSON.stringify(asked.messages).includes(MARK)
  const step = asked.messages.filter((one) => one.role === 'assistant').length
  const steps = typeof script === 'function' ? script(JSON.stringify(asked.messages)) : script
  const uses = [(isScripted ? steps[step] : undefined) ?? []].flat()
  if (isScripted) turns[step] = { tools: (asked.tools ?? []).map((one) => one.name), results: resultsOf(asked) }
  const content =
    uses.length === 0
      ? [{ type: 'text', text: 'Done.' }]
      : uses.map(({ name, input }, at) => ({ type: 'tool_use', id: `toolu_${step}_${at}`, name, input }))
  const message = {
    ...{ id: `msg_${step}`, type: 'message', role: 'assistant', model: asked.model, content, stop_sequence: null },
    stop_reason: uses.length === 0 ? 'end_turn' : 'tool_use',
    usage: { input_tokens: 10, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  }
  if (asked.stream === true) return stream(response, message, uses)
  return json(response, 200, message)
}

// What came since the model spoke last; a harness may add words of its own after the results.
function resultsOf(asked: Asked): Turn['results'] {
  const since = asked.messages.slice(asked.messages.findLastIndex((one) => one.role === 'assistant') + 1)
  return since
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({ text: textOf(block.content ?? ''), isError: block.is_error === true }))
}

function textOf(content: string | readonly Block[]): string {
  return typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('\n')
}

function stream(response: ServerResponse, message: Record<string, unknown>, uses: readonly ToolUse[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type: string, data: Record<string, unknown>): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  send('message_start', { message: { ...message, content: [], stop_reason: null } })
  for (const [index, block] of (message.content as readonly Record<string, unknown>[]).entries()) {
    const use = uses[index]
    send('content_block_start', {
      index,
      content_block: use === undefined ? { type: 'text', text: '' } : { ...block, input: {} },
    })
    send('content_block_delta', {
      index,
      delta:
        use === undefined
          ? { type: 'text_delta', text: 'Done.' }
          : { type: 'input_json_delta', partial_json: JSON.stringify(use.input) },
    })
    send('content_block_stop', { index })
  }
  send('message_delta', {
    delta: { stop_reason: message.stop_reason, stop_sequence: null },
    usage: { output_tokens: 10 },
  })
  send('message_stop', {})
  response.end()
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
