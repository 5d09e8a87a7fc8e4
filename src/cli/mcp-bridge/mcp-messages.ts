import { isObject, type JsonObject } from '../../core/json.js'

/** One message of the protocol, or a list of them, as it came over the line. */
export type Message = JsonObject | readonly JsonObject[]

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'

/** Headers in which a client of 2026-07-28 repeats parts of the message; null for an older revision. */
export function buildModernHeaders(message: Message): Record<string, string> | null {
  const params = getMember(message, 'params')
  const version = getMember(getMember(params, '_meta'), VERSION_KEY)
  const method = getMember(message, 'method')
  if (typeof version !== 'string' || typeof method !== 'string') return null
  const field = NAMED[method]
  const name = field === undefined ? undefined : getMember(params, field)
  return {
    'mcp-protocol-version': encodeHeader(version),
    'mcp-method': encodeHeader(method),
    ...(typeof name === 'string' ? { 'mcp-name': encodeHeader(name) } : {}),
  }
}

const NAMED: Readonly<Record<string, string>> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

// A value that a header cannot carry is sent as Base64, as the protocol says.
function encodeHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}

/** The ids that wait for an answer. */
export function listRequestIds(message: Message): readonly (string | number)[] {
  const all = Array.isArray(message) ? (message as readonly JsonObject[]) : [message as JsonObject]
  return all.flatMap((one) => {
    const id = getMember(one, 'id')
    return typeof getMember(one, 'method') === 'string' && (typeof id === 'string' || typeof id === 'number')
      ? [id]
      : []
  })
}

export function getMethod(message: Message): string {
  const method = getMember(message, 'method')
  return typeof method === 'string' ? method : ''
}

export function getMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

export function makeErrorMessage(id: string | number | null, error: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, error }
}
