import { request } from 'node:http'
import { isObject, type JsonObject } from '../../core/json.js'
import { findSessionSocket } from './session-socket.js'

const ANSWER_CHARS_MAX = 1024 * 1024

interface HookOfSession {
  readonly agentCli: string
  readonly body: JsonObject
  readonly signal: AbortSignal
}

/** Asks the session that this process belongs to about a hook: the MCP server that `connect` configured. */
export async function askSession(hook: HookOfSession, environment = process.env): Promise<JsonObject> {
  const socket = findSessionSocket(process.ppid, environment)
  if (socket === null)
    throw new Error(
      'no session holds this call: the MCP server phaselock of this agent CLI is not running. Start the agent CLI again, or look at `phaselock connect --status`',
    )
  const { status, text } = await post(socket, hook)
  const answer: unknown = JSON.parse(text)
  if (status !== 200 || !isObject(answer)) throw new Error(`the session answered ${status}`)
  return answer
}

function post(
  socketPath: string,
  { agentCli, body, signal }: HookOfSession,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }
    const options = { socketPath, path: `/hooks/${agentCli}`, method: 'POST', headers, signal }
    const asked = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > ANSWER_CHARS_MAX) asked.destroy(new Error('the answer is too long'))
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.once('error', reject)
    })
    asked.once('error', reject)
    asked.end(sent)
  })
}
