import type { Json, JsonObject } from '../../core/json.js'
import { BUILT_IN_TOOLS, HARNESS_TOOLS } from '../../core/tool-calls/built-in-tools.js'
import { ARG_NAME, findWordProblem, splitWord } from '../command-words.js'
import type { SourceNode } from '../load/yaml.js'
import { findGlobProblem } from '../patterns.js'
import { Fields, reportWrongType } from './fields.js'
import { readEnv } from './read-agents.js'
import type { Reading } from './reading.js'

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
  const fields = Fields.openFields(reading, node, ['run', 'format', 'report', 'timeout_seconds', 'env'])
  if (fields === null) return null
  const command: Record<string, Json> = {
    run: fields.needText('run', '"npm test"'),
    format: fields.choice('format', FORMATS, 'auto'),
    timeout_seconds: fields.getPositive('timeout_seconds', 600),
  }
  if (fields.has('report')) command.report = fields.needText('report', 'reports/junit.xml')
  const env = readEnv(fields)
  if (env !== null) command.env = env
  return reading.made(command, node)
}

/** An upstream MCP server, as it stands in a canonical document. */
export interface McpServerDocument {
  command?: string
  url?: string
  args?: string[]
  env?: Record<string, string>
  writable?: string[]
  network?: boolean
  timeout_seconds?: number
}

const LOCAL_ONLY = ['args', 'env', 'writable', 'network']

/** An upstream MCP server. */
export const readMcpServer: Reader = (reading, node) => {
  const fields = Fields.openFields(reading, node, [
    'command',
    'args',
    'env',
    'url',
    'writable',
    'network',
    'timeout_seconds',
  ])
  if (fields === null) return null
  const server: Record<string, Json> = {}
  if (fields.has('command') === fields.has('url')) fields.reportMissing('command', 'npx')
  for (const key of ['command', 'url']) if (fields.has(key)) server[key] = fields.needText(key, 'npx')
  const args = fields.getTexts('args')
  if (args !== null) server.args = args
  const env = readEnv(fields)
  if (env !== null) server.env = env
  checkReferences(reading, env ?? {})
  const writable = fields.getTexts('writable')
  if (writable !== null) server.writable = writable
  checkGlobs(reading, writable ?? [])
  if (fields.has('network')) server.network = fields.getFlag('network', false)
  if (fields.has('timeout_seconds')) server.timeout_seconds = fields.getPositive('timeout_seconds', 60)
  if (fields.has('url')) checkRemote(fields, fields.getText('url'))
  return reading.made(server, node)
}

function checkRemote(fields: Fields, url: string): void {
  const problem = url === '' ? null : findUrlProblem(url)
  if (problem !== null)
    fields.reportBad(
      'url',
      'contract.invalid_value',
      `The url ${problem}.`,
      'Write an address such as https://example.org/mcp.',
    )
  for (const key of LOCAL_ONLY) {
    if (!fields.has(key)) continue
    const message = `'${key}' has no effect on a server that runs elsewhere.`
    fields.reportBad(key, 'contract.invalid_value', message, `Remove ${key}, or start the server with command.`)
  }
}

function findUrlProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'is not an address'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is not an http(s) address'
  return url.username === '' && url.password === '' ? null : 'carries a user name or a password'
}

function checkReferences(reading: Reading, env: JsonObject): void {
  for (const [name, value] of Object.entries(env)) {
    const at = reading.locateReport(env, name, 'contract.invalid_value')
    // What looks like a reference and is none would reach the server as it is written.
    const rest = String(value).replaceAll(/\$\{env:[A-Za-z_][A-Za-z0-9_]*\}/g, '')
    if (rest.includes('${env:'))
      reading.report({ ...at, message: `The value of ${name} has a broken reference.`, remedy: `Write \${env:NAME}.` })
  }
}

function checkGlobs(reading: Reading, globs: readonly string[]): void {
  for (const [index, glob] of globs.entries()) {
    const problem = findGlobProblem(glob)
    const at = reading.locateReport(globs, index, 'contract.invalid_value')
    if (problem !== null) reading.report({ ...at, message: `The pattern '${glob}' is refused: ${problem}.` })
  }
}

/** An own tool, as it stands in a canonical document. */
export interface ToolDocument {
  command: string[]
  args: Record<string, ToolArgDocument>
  description: string
  network?: boolean
  timeout_seconds?: number
}

export interface ToolArgDocument {
  type: (typeof ARG_TYPES)[number]
  path?: 'read' | 'write'
  description?: string
  optional?: boolean
  enum?: string[]
  min?: number
  max?: number
}

/** An own tool: a fixed command with typed arguments. */
export const readTool: Reader = (reading, node, name) => {
  const fields = Fields.openFields(reading, node, ['command', 'args', 'description', 'network', 'timeout_seconds'])
  if (fields === null) return null
  if (BUILT_IN_TOOLS.has(name) || HARNESS_TOOLS.has(name)) {
    reading.report({
      code: 'contract.duplicate_id',
      at: fields.node.keyAt ?? node.at,
      message: `'${name}' is a built-in tool.`,
    })
  }
  if (!fields.has('command')) fields.reportMissing('command', '["npx", "eslint", "{path}"]')
  const command = fields.getTexts('command') ?? []
  if (fields.has('command') && command.length === 0)
    fields.reportBad('command', 'contract.invalid_value', 'The command is empty.', 'Write the program and its words.')
  const args = readToolArgs(reading, fields)
  checkWords(reading, command, args)
  const tool: Record<string, Json> = { command, args, description: fields.getText('description') }
  if (fields.has('network')) tool.network = fields.getFlag('network', false)
  if (fields.has('timeout_seconds')) tool.timeout_seconds = fields.getPositive('timeout_seconds', 60)
  return reading.made(tool, node)
}

function checkWords(reading: Reading, command: readonly string[], args: JsonObject): void {
  const argOf = (arg: string): ToolArgDocument | undefined =>
    Object.hasOwn(args, arg) ? (args[arg] as unknown as ToolArgDocument) : undefined
  for (const [index, word] of command.entries()) {
    const message = findWordProblem(word, index, argOf)
    if (message === null) continue
    const remedy = 'A placeholder names an argument under args; a path is a separate word, or the end of one after =.'
    reading.report({ ...reading.locateReport(command, index, 'contract.invalid_value'), message, remedy })
  }
  const used = new Set(command.flatMap(splitWord).flatMap((part) => ('arg' in part ? [part.arg] : [])))
  for (const arg of Object.keys(args)) {
    if (used.has(arg)) continue
    const message = `The argument '${arg.slice(0, 80)}' stands nowhere in the command.`
    const remedy = `Write {${arg.slice(0, 80)}} where it belongs, or remove it.`
    reading.report({ ...reading.locateReport(args, arg, 'contract.invalid_value'), message, remedy })
  }
}

const ARG_TYPES = ['string', 'integer', 'number', 'boolean'] as const

function readToolArgs(reading: Reading, tool: Fields): JsonObject {
  const map = tool.map('args')
  const args: Record<string, Json> = Object.create(null)
  for (const [name, entry] of map?.entries ?? []) {
    if (!ARG_NAME.test(name)) {
      const message = `The name '${name.slice(0, 80)}' is not accepted.`
      const remedy = 'Use 1 to 64 of A-Z, a-z, 0-9 and _.'
      reading.report({ code: 'contract.invalid_id', at: entry.keyAt, message, remedy })
    }
    const fields = Fields.openFields(reading, entry.value, [
      'type',
      'path',
      'description',
      'optional',
      'enum',
      'min',
      'max',
    ])
    if (fields === null) continue
    const arg: Record<string, Json> = { type: fields.choice('type', ARG_TYPES, 'string') }
    if (fields.has('path')) arg.path = fields.choice('path', ['read', 'write'], 'read')
    if (fields.has('description')) arg.description = fields.getText('description')
    if (fields.has('optional')) arg.optional = fields.getFlag('optional', false)
    const values = fields.getTexts('enum')
    if (values !== null) arg.enum = values
    for (const key of ['min', 'max']) {
      const value = readNumber(reading, fields, key)
      if (value !== null) arg[key] = value
    }
    checkArg(fields, arg as unknown as ToolArgDocument)
    args[name] = reading.made(arg, entry.value)
  }
  return map === null ? args : reading.made(args, map)
}

function readNumber(reading: Reading, fields: Fields, key: string): number | null {
  const node = fields.get(key)
  if (node === undefined) return null
  if (node.kind === 'scalar' && typeof node.value === 'number' && Number.isFinite(node.value)) return node.value
  reportWrongType(reading, node, 'a number')
  return null
}

function checkArg(fields: Fields, arg: ToolArgDocument): void {
  const bad = (key: string, message: string): void => fields.reportBad(key, 'contract.invalid_value', message)
  const isNumber = arg.type === 'integer' || arg.type === 'number'
  if (arg.path !== undefined && arg.type !== 'string') bad('path', `A path is a string, not ${arg.type}.`)
  for (const key of ['min', 'max'] as const)
    if (arg[key] !== undefined && !isNumber) bad(key, `'${key}' is for integer and number, not ${arg.type}.`)
  if (arg.min !== undefined && arg.max !== undefined && arg.min > arg.max)
    bad('max', `'max' is ${arg.max}, less than 'min', which is ${arg.min}.`)
  if (arg.enum?.length === 0) bad('enum', 'With an empty enum no value would be accepted.')
}
