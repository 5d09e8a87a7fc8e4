import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../src/core/json.js'
import { anthropicAnswer, anthropicTalk } from './model-anthropic.js'
import { completionsAnswer, completionsTalk } from './model-completions.js'
import { geminiAnswer, geminiTalk } from './model-gemini.js'
import { openaiAnswer, openaiTalk } from './model-openai.js'
import type { Call, Talk } from './talk.js'

/** The call that comes next; null when the model has nothing more to say. */
export type Script = (talk: Talk) => Call | null | Promise<Call | null>

export interface Model {
  readonly url: string
  readonly talks: Talk[]
  /** Everything that it was sent, whole. */
  readonly sent: string[]
  /** The keys that it was asked with. */
  readonly keys: Set<string>
  /** Answers that were given, titles and the like included. */
  answers: number
  close(): void
}

/** A model on the loopback that does what scripts say, in the words of Anthropic, OpenAI and Gemini. */
export async function openModel(scripts: Readonly<Record<string, Script>>): Promise<Model> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? ''
      model.keys.add(keyOf(request.headers))
      answer(path, Buffer.concat(chunks).toString('utf8'), response).catch(() => response.destroy())
    })
  })
  const answer = async (path: string, text: string, response: ServerResponse): Promise<void> => {
    const dialect = DIALECTS.find(({ ends }) => path.endsWith(ends))
    if (dialect === undefined) return plain(response, path.endsWith('count_tokens') ? { input_tokens: 10 } : {})
    model.sent.push(text)
    const body = JSON.parse(text) as JsonObject
    const talk = dialect.talk(body)
    if (talk.script !== null) model.talks.push(talk)
    const call = talk.script === null ? null : ((await scripts[talk.script]?.(talk)) ?? null)
    model.answers += 1
    dialect.answer(response, body, { call, step: talk.step })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const model: Model = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    talks: [],
    sent: [],
    keys: new Set(),
    answers: 0,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return model
}

const DIALECTS = [
  { ends: '/v1/messages', talk: anthropicTalk, answer: anthropicAnswer },
  { ends: '/v1/responses', talk: openaiTalk, answer: openaiAnswer },
  { ends: '/v1/chat/completions', talk: completionsTalk, answer: completionsAnswer },
  { ends: ':streamGenerateContent', talk: geminiTalk, answer: geminiAnswer },
]

function keyOf(headers: IncomingHttpHeaders): string {
  return String(headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? '').replace(
    /^Bearer /,
    '',
  )
}

function plain(response: ServerResponse, body: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'list', data: [], models: [], ...body }))
}
