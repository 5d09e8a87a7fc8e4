import type { Json, JsonObject } from '../core/contract.js'
import { BUILT_IN_TOOLS } from '../core/tools.js'
import { Fields } from './fields.js'
import { readEnv } from './read-agents.js'
import type { Reading } from './reading.js'
import type { SourceNode } from './yaml.js'

export const FORMATS = [
  'auto',
  'tap',
  'junit',
  'vitest',
  'jest',
  'pytest',
  'go',
  'cargo',
  'node',
  'mocha',
  'lcov',
  'cobertura',
] as const
const NAME = /^[A-Za-z0-9_-]{1,64}$/

type Reader = (reading: Reading, node: SourceNode, name: string) => JsonObject | null

/** A map from names to entries that `read` understands; null when it is not there or empty. */
export function readNamed(root: Fields, key: string, read: Reader): Record<string, JsonObject> | null {
  const map = root.map(key)
  if (map === null || map.entries.size === 0) return null
  const entries: Record<string, JsonObject> = Object.create(null)
  for (const [name, entry] of map.entries) {
    if (!NAME.test(name)) {
      const message = `The name '${name.slice(0, 80)}' is not accepted.`
      root.reading.report({
        code: 'contract.invalid_id',
        at: entry.keyAt,
        message,
        remedy: 'Use 1 to 64 of A-Z, a-z, 0-9, _ and -.',
      })
    }
    const value = read(root.reading, entry.value, name)
    if (value !== null) entries[name] = value
  }
  return root.reading.made(entries, map)
}

/** A command that Phaselock runs itself to observe facts. */
export const readCommand: Reader = (reading, node) => {
  const fields = Fields.of(reading, node, ['run', 'format', 'report', 'timeout_seconds', 'env'])
  if (fields === null) return null
  const command: Record<string, Json> = {
    run: fields.needText('run', '"npm test"'),
    format: fields.choice('format', FORMATS, 'auto'),
    timeout_seconds: fields.positive('timeout_seconds', 600),
  }
  if (fields.has('report')) command.report = fields.needText('report', 'reports/junit.xml')
  const env = readEnv(fields)
  if (env !== null) command.env = env
  return reading.made(command, node)
}

/** An upstream MCP server. */
export const readMcpServer: Reader = (reading, node) => {
  const fields = Fields.of(reading, node, ['command', 'args', 'env', 'url', 'writable', 'network', 'timeout_seconds'])
  if (fields === null) return null
  const server: Record<string, Json> = {}
  if (fields.has('command') === fields.has('url')) fields.missing('command', 'npx')
  for (const key of ['command', 'url']) if (fields.has(key)) server[key] = fields.needText(key, 'npx')
  const args = fields.texts('args')
  if (args !== null) server.args = args
  const env = readEnv(fields)
  if (env !== null) server.env = env
  const writable = fields.texts('writable')
  if (writable !== null) server.writable = writable
  if (fields.has('network')) server.network = fields.flag('network', false)
  if (fields.has('timeout_seconds')) server.timeout_seconds = fields.positive('timeout_seconds', 60)
  return reading.made(server, node)
}

/** An own tool: a fixed command with typed arguments. */
export const readTool: Reader = (reading, node, name) => {
  const fields = Fields.of(reading, node, ['command', 'args', 'description', 'network', 'timeout_seconds'])
  if (fields === null) return null
  if (BUILT_IN_TOOLS.has(name)) {
    reading.report({
      code: 'contract.duplicate_id',
      at: fields.node.keyAt ?? node.at,
      message: `'${name}' is a built-in tool.`,
    })
  }
  if (!fields.has('command')) fields.missing('command', '["npx", "eslint", "{path}"]')
  const command = fields.texts('command') ?? []
  const args = readToolArgs(reading, fields)
  for (const [index, word] of command.entries()) {
    for (const [, placeholder] of word.matchAll(/\{(\w+)\}/g)) {
      if (placeholder === undefined || Object.hasOwn(args, placeholder)) continue
      const at = reading.about(command, index, 'contract.invalid_value')
      reading.report({
        ...at,
        message: `'{${placeholder}}' is no argument of this tool.`,
        remedy: `Add ${placeholder} under args.`,
      })
    }
  }
  const tool: Record<string, Json> = { command, args, description: fields.text('description') }
  if (fields.has('network')) tool.network = fields.flag('network', false)
  if (fields.has('timeout_seconds')) tool.timeout_seconds = fields.positive('timeout_seconds', 60)
  return reading.made(tool, node)
}

function readToolArgs(reading: Reading, tool: Fields): JsonObject {
  const map = tool.map('args')
  const args: Record<string, Json> = Object.create(null)
  for (const [name, entry] of map?.entries ?? []) {
    const fields = Fields.of(reading, entry.value, ['type', 'path', 'description', 'optional', 'enum'])
    if (fields === null) continue
    const arg: Record<string, Json> = {
      type: fields.choice('type', ['string', 'integer', 'number', 'boolean'], 'string'),
    }
    if (fields.has('path')) arg.path = fields.choice('path', ['read', 'write'], 'read')
    if (fields.has('description')) arg.description = fields.text('description')
    if (fields.has('optional')) arg.optional = fields.flag('optional', false)
    const values = fields.texts('enum')
    if (values !== null) arg.enum = values
    args[name] = reading.made(arg, entry.value)
  }
  return map === null ? args : reading.made(args, map)
}

export function readWebhooks(reading: Reading, root: Fields): JsonObject[] | null {
  const list = root.list('webhooks')
  if (list === null || list.items.length === 0) return null
  const hooks = list.items.flatMap((item) => {
    const fields = Fields.of(reading, item, ['url', 'events', 'secret_env_var'])
    if (fields === null) return []
    const url = fields.needText('url', '"https://example.org/hook"')
    if (url !== '' && !/^https?:\/\/[^\s]+$/.test(url))
      fields.bad('url', 'contract.invalid_value', `'${url}' is not an http(s) address.`)
    if (!fields.has('events')) fields.missing('events', '[approval_requested]')
    const hook: Record<string, Json> = { url, events: fields.texts('events') ?? [] }
    if (fields.has('secret_env_var')) hook.secret_env_var = fields.needText('secret_env_var', 'HOOK_SECRET')
    return [reading.made(hook, item)]
  })
  return reading.made(hooks, list)
}
