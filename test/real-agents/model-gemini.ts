import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/core/json.js'
import { about, listOf, type Spoken, type Talk, USAGE } from './talk.js'

export function geminiTalk(body: JsonObject): Talk {
  const contents = listOf(body.contents)
  const tools = listOf(body.tools).flatMap(({ functionDeclarations }) =>
    listOf(functionDeclarations).map(({ name }) => String(name)),
  )
  const parts = contents.flatMap((one) => listOf(one.parts))
  const texts = parts.map(({ text }) => (typeof text === 'string' ? text : ''))
  return {
    ...about(texts, tools.length > 0),
    step: contents.filter(({ role }) => role === 'model').length,
    tools,
    results: parts
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map(({ functionResponse }) => {
        const text = JSON.stringify(functionResponse)
        return { text, isError: text.includes('"error"') }
      }),
  }
}

export function geminiAnswer(response: ServerResponse, _asked: JsonObject, { call }: Spoken): void {
  const part: JsonObject =
    call === null
      ? { text: 'Done.' }
      : { functionCall: { name: call.isOwn === true ? call.name : `mcp_phaselock_${call.name}`, args: call.input } }
  const prompt = USAGE.input + USAGE.cacheRead
  const answer = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      ...{ promptTokenCount: prompt, candidatesTokenCount: USAGE.output, cachedContentTokenCount: USAGE.cacheRead },
      totalTokenCount: prompt + USAGE.output,
    },
    modelVersion: 'scripted',
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`data: ${JSON.stringify(answer)}\n\n`)
}
