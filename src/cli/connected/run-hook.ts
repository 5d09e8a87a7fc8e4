import { request } from 'node:http'
import type { Readable } from 'node:stream'
import { isObject, type JsonObject } from '../../core/json.js'
import { connect } from '../client/connection.js'
import { findSessionSocket } from './session-socket.js'

const BODY_BYTES_MAX = 8 * 1024 * 1024
const ANSWER_CHARS_MAX = 1024 * 1024
/** Below the time limit that `connect` writes: the refusal must be out before the agent CLI gives up. */
const ANSWER_MS_MAX = 50_000
/** The exit code that every agent CLI takes for a refusal. */
const REFUSED = 2

const NO_SESSION =
  'Phaselock: no session holds this call. Its MCP server phaselock is not running: start the agent CLI again in the connected repository, or run `phaselock connect --status`.'

/** What a hook command prints and exits with. */
export interface HookEnd {
  readonly stdout: string
  readonly stderr: string
  readonly exit: number
}

/**
 * Answers one hook of an agent CLI: its JSON comes in, the server's answer goes out. Whatever goes wrong is a refusal,
 * within the time limit.
 */
export async function runHook(
  agentCli: string,
  input: Readable,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<HookEnd> {
  const timer = AbortSignal.timeout(ANSWER_MS_MAX)
  let event: unknown = null
  try {
    const text = await readAll(input, timer)
    if (text === null) return refuse(`Phaselock: the hook's input is larger than ${BODY_BYTES_MAX} bytes.`, event)
    const body = parseObject(text)
    if (body === null) return refuse("Phaselock: the hook's input is not a JSON object.", event)
    event = body.hook_event_name
    const sent = { timestamp: new Date().toISOString(), ...body }
    const answer = await send(agentCli, sent, { environment, signal: timer })
    if (answer === null) return refuse(NO_SESSION, event)
    const said = parseObject(answer.text)
    if (answer.status !== 200 || said === null)
      return refuse(
        `Phaselock: ${String(said?.detail ?? said?.error ?? `the server answered ${answer.status}`)}`,
        event,
      )
    return { stdout: `${JSON.stringify(said)}\n`, stderr: '', exit: 0 }
  } catch (error) {
    return refuse(`Phaselock: nothing answers (${formatReason(error)}), so that nothing is allowed.`, event)
  }
}

/** What happens anyway, or must be able to end: a refusal there would keep a session from ending for ever. */
const OPEN: ReadonlySet<unknown> = new Set([
  ...['Stop', 'SubagentStop', 'SessionEnd', 'SessionStart', 'SubagentStart', 'UserPromptSubmit', 'PreCompact'],
])

function refuse(reason: string, event: unknown): HookEnd {
  if (OPEN.has(event)) return { stdout: `${JSON.stringify({ systemMessage: reason })}\n`, stderr: '', exit: 0 }
  return { stdout: '', stderr: `${reason}\n`, exit: REFUSED }
}

interface HookAnswer {
  readonly status: number
  readonly text: string
}

interface HookWay {
  readonly environment: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

// With an agent's token in the environment straight to the server; otherwise through the session that this belongs to.
async function send(agentCli: string, body: JsonObject, way: HookWay): Promise<HookAnswer | null> {
  const { environment, signal } = way
  const token = environment.PHASELOCK_TOKEN?.trim() ?? ''
  const text = JSON.stringify(body)
  if (token === '') {
    const socket = findSessionSocket(process.ppid, environment)
    return socket === null ? null : postToSocket(socket, { path: `/hooks/${agentCli}`, text, signal })
  }
  const { url, stateDir } = connect({ token })
  if (stateDir !== null) await (await import('../client/prove-server.js')).requireProof(stateDir, url)
  const answer = await fetch(`${url}/api/v1/hooks/${agentCli}`, {
    ...{ method: 'POST', redirect: 'error', body: text, signal },
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  })
  return { status: answer.status, text: (await answer.text()).slice(0, ANSWER_CHARS_MAX) }
}

function postToSocket(
  socketPath: string,
  { path, text, signal }: { readonly path: string; readonly text: string; readonly signal: AbortSignal },
): Promise<HookAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const asked = request({ socketPath, path, method: 'POST', headers, signal }, (response) => {
      let said = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        said += chunk
        if (said.length > ANSWER_CHARS_MAX) asked.destroy(new Error('the answer is too long'))
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text: said }))
      response.once('error', reject)
    })
    asked.once('error', reject)
    asked.end(text)
  })
}

async function readAll(input: Readable, signal: AbortSignal): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  signal.addEventListener('abort', () => input.destroy(new Error('timeout')))
  for await (const chunk of input as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function formatReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return (Object(cause) as NodeJS.ErrnoException).code ?? (cause instanceof Error ? cause.message : 'fault')
}
