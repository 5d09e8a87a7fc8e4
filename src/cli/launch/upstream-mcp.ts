import { setTimeout as wait } from 'node:timers/promises'
import { ProtocolError } from '@modelcontextprotocol/server'
import { framesOf } from 'phaselock/sdk'
import { isObject, type JsonObject } from '../../core/json.js'
import { buildModernHeaders, getMember } from '../mcp-bridge/mcp-messages.js'
import { readProgramVersion } from '../version.js'
import type { SessionServer } from './session-server.js'

const VERSION = '2026-07-28'
const META = 'io.modelcontextprotocol/'
const EVENT_CHARS_MAX = 64 * 1024 * 1024
const AWAY_MS_MAX = 60_000
const AWAY_POLL_MS = 500
const SERVER_ERROR = -32000
/** Nothing was sent, so that sending it again does nothing twice. */
const NOT_SENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT'])

/**
 * The MCP endpoint of the server. Every request stands alone (revision 2026-07-28), so that a server may be restarted
 * without the session noticing.
 */
export class UpstreamMcp {
  #last = 0

  constructor(
    private readonly server: SessionServer,
    private readonly token: string,
  ) {}

  /** The result of a request; throws `ProtocolError` with the server's own words, or when it cannot be reached. */
  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    this.#last += 1
    const message = { jsonrpc: '2.0', id: this.#last, method, params: addMeta(params) }
    const response = await this.#post(message, signal)
    const answer = await readAnswer(response, this.#last)
    if (isObject(answer.error)) {
      const { code, message: said, data } = answer.error
      throw new ProtocolError(typeof code === 'number' ? code : SERVER_ERROR, String(said ?? 'refused'), data)
    }
    if (!isObject(answer.result)) throw new ProtocolError(SERVER_ERROR, 'The server gave no answer.')
    // Clients of the 2025 revisions know nothing of it.
    const { resultType: _type, ...result } = answer.result
    return result
  }

  // A server that is being restarted is waited for.
  async #post(message: JsonObject, signal: AbortSignal): Promise<Response> {
    const deadline = Date.now() + AWAY_MS_MAX
    const headers = { accept: 'application/json, text/event-stream', ...buildModernHeaders(message) }
    for (;;) {
      try {
        return await this.server.send(this.token, { path: '/mcp', body: JSON.stringify(message), headers, signal })
      } catch (error) {
        if (signal.aborted) throw error
        if (!isNotSent(error) || Date.now() > deadline) throw new ProtocolError(SERVER_ERROR, formatUnreachable(error))
      }
      await wait(AWAY_POLL_MS, undefined, { signal })
    }
  }
}

function addMeta(params: JsonObject): JsonObject {
  const meta = isObject(params._meta) ? params._meta : {}
  return {
    ...params,
    _meta: {
      ...meta,
      [`${META}protocolVersion`]: VERSION,
      [`${META}clientInfo`]: { name: 'phaselock-session', version: readProgramVersion() },
      [`${META}clientCapabilities`]: {},
    },
  }
}

async function readAnswer(response: Response, id: number): Promise<JsonObject> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream') && response.body !== null) {
    for await (const { data } of framesOf(response.body, EVENT_CHARS_MAX)) {
      const message: unknown = data === '' ? null : JSON.parse(data)
      if (isObject(message) && message.id === id) return message
    }
    throw new ProtocolError(SERVER_ERROR, 'The connection to the server ended before the answer.')
  }
  const text = await response.text()
  const said = parseObject(text)
  if (said !== null && ('result' in said || 'error' in said)) return said
  // A problem document: the token is no longer good, or the server is stopping.
  const detail = getMember(said, 'detail') ?? `The server answered ${response.status}.`
  return {
    error: {
      code: SERVER_ERROR,
      message: `${String(detail)} [${String(getMember(said, 'code') ?? response.status)}]`,
      data: said,
    },
  }
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    // Not an answer of Phaselock.
    return null
  }
}

/** What to tell an agent whose call could not be decided. */
export function formatUnreachable(error: unknown): string {
  return `Phaselock's server does not answer (${formatReason(error)}). Nothing was allowed.`
}

/** Whether nothing was sent, so that sending it again does nothing twice. */
export function isNotSent(error: unknown): boolean {
  const exit = Object(error) as { exit?: unknown }
  // The server's note is gone, or what answers there is not the server: no token was sent.
  if (exit.exit === 3) return true
  return NOT_SENT.has(getCode(error))
}

function formatReason(error: unknown): string {
  return String(getCode(error) ?? (error instanceof Error ? error.message.split('\n')[0] : 'fault'))
}

function getCode(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return (Object(cause) as NodeJS.ErrnoException).code
}
