import { isObject, type Json, type JsonObject } from '../../core/json.js'
import { parseArguments } from '../model/parse-arguments.js'
import type { Usage } from '../participant.js'
import { type HarnessName, SERVER } from './agent-cli-recipes.js'

/** The meaning of one line of an agent's output. */
export type OutputItem =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | ({ readonly type: 'usage' } & Usage)
  /** Its model called one of our tools; the call itself arrives over MCP. */
  | { readonly type: 'announced'; readonly name: string; readonly arguments: Json }
  /** Its model called a tool that the agent CLI does not have or has switched off; no call arrives for it. */
  | { readonly type: 'turned_away'; readonly name: string }
  /** Its model is writing a message, which may contain more calls than have arrived. */
  | { readonly type: 'message_began' | 'message_ended' }
  /** It reports that it failed. */
  | { readonly type: 'gave_up'; readonly detail: string }

/** Reads the lines of one process, in order. Unknown lines are ignored. */
export type OutputReader = (line: string) => readonly OutputItem[]

export function makeOutputReader(harness: HarnessName): OutputReader {
  if (harness === 'command') return (line) => [{ type: 'text', text: `${line}\n` }]
  const read = { 'claude-code': makeClaudeCodeReader(), codex: readCodex, gemini: readGemini, opencode: readOpencode }[
    harness
  ]
  return (line) => {
    const value = parseArguments(line)
    return isObject(value) && line.trim() !== '' ? read(value) : []
  }
}

/** Reads the error output of a process, if it contains anything useful. */
export function makeComplaintReader(harness: HarnessName): OutputReader {
  return harness === 'codex' ? readCodexComplaint : () => []
}

type Read = (line: JsonObject) => readonly OutputItem[]

function makeClaudeCodeReader(): Read {
  let streamed = ''
  let hasText = false
  const onEvent = (event: JsonObject): readonly OutputItem[] => {
    if (event.type === 'message_start') {
      const message = asMap(event.message)
      streamed = toText(message.id)
      const gap = hasText ? [{ type: 'text' as const, text: '\n' }] : []
      hasText = false
      return [{ type: 'message_began' }, ...gap, toUsage(asMap(message.usage), 0)]
    }
    if (event.type === 'message_stop') return [{ type: 'message_ended' }]
    if (event.type === 'message_delta') {
      const output = countOf(asMap(event.usage).output_tokens)
      return [{ type: 'usage', input: 0, output, cacheRead: 0, cacheWrite: 0 }]
    }
    if (event.type !== 'content_block_delta') return []
    const delta = asMap(event.delta)
    if (delta.type === 'thinking_delta') return makeTold('reasoning', toText(delta.thinking))
    if (delta.type !== 'text_delta') return []
    hasText = true
    return makeTold('text', toText(delta.text))
  }
  return (line) => {
    // The output of a subagent is not the agent's own.
    if (typeof line.parent_tool_use_id === 'string') return []
    if (line.type === 'stream_event') return onEvent(asMap(line.event))
    if (line.type === 'assistant') return readClaudeMessage(asMap(line.message), streamed)
    if (line.type === 'user') return readClaudeResults(asMap(line.message))
    if (line.type !== 'result' || line.is_error !== true) return []
    return [{ type: 'gave_up', detail: toText(line.result) || toText(line.subtype) }]
  }
}

/** A complete block of a message; its text was reported already if it was streamed. */
function readClaudeMessage(message: JsonObject, streamed: string): readonly OutputItem[] {
  const isStreamed = message.id === streamed
  const blocks = Array.isArray(message.content) ? (message.content as readonly Json[]).map(asMap) : []
  return blocks.flatMap((block): readonly OutputItem[] => {
    if (block.type === 'text' && !isStreamed) return makeTold('text', `${toText(block.text)}\n`)
    if (block.type === 'thinking' && !isStreamed) return makeTold('reasoning', toText(block.thinking))
    const name = toText(block.name)
    if (block.type !== 'tool_use' || !name.startsWith(CLAUDE_PREFIX)) return []
    return [{ type: 'announced', name: name.slice(CLAUDE_PREFIX.length), arguments: block.input ?? {} }]
  })
}

function readClaudeResults(message: JsonObject): readonly OutputItem[] {
  const blocks = Array.isArray(message.content) ? (message.content as readonly Json[]).map(asMap) : []
  return blocks.flatMap((block): readonly OutputItem[] => {
    const [, name] = block.is_error === true ? (CLAUDE_TURNED_AWAY.exec(toText(block.content)) ?? []) : []
    return name === undefined ? [] : [{ type: 'turned_away', name: name.replace(CLAUDE_PREFIX, '') }]
  })
}

const CLAUDE_TURNED_AWAY = /^<tool_use_error>Error: No such tool available: ([\w-]{1,200})/
const CLAUDE_PREFIX = `mcp__${SERVER}__`

const readCodex: Read = (line) => {
  if (line.type === 'turn.failed') return [{ type: 'gave_up', detail: toText(asMap(line.error).message) }]
  if (line.type === 'turn.completed') {
    const usage = asMap(line.usage)
    const cacheRead = countOf(usage.cached_input_tokens)
    const input = Math.max(0, countOf(usage.input_tokens) - cacheRead)
    return [{ type: 'usage', input, output: countOf(usage.output_tokens), cacheRead, cacheWrite: 0 }]
  }
  if (line.type !== 'item.completed') return []
  const item = asMap(line.item)
  const own = CODEX_OWN.get(toText(item.type))
  if (own !== undefined) return [makeTurnedAway('codex', own)]
  if (item.type === 'agent_message') return makeTold('text', `${toText(item.text)}\n`)
  return item.type === 'reasoning' ? makeTold('reasoning', toText(item.text)) : []
}

/** Tools that cannot be switched off, or return with another version. In the sandbox they have no effect. */
const CODEX_OWN: ReadonlyMap<string, string> = new Map([
  ['file_change', 'apply_patch'],
  ['command_execution', 'exec_command'],
])

const readCodexComplaint: OutputReader = (line) => {
  const [, name] = CODEX_TURNED_AWAY.exec(line) ?? []
  return name === undefined ? [] : [makeTurnedAway('codex', name)]
}

const CODEX_TURNED_AWAY =
  /^\S{1,40} ERROR codex_core::tools::router: error=unsupported (?:custom tool )?call: (.{1,200})/

const readGemini: Read = (line) => {
  if (line.type === 'message' && line.role === 'assistant') return makeTold('text', toText(line.content))
  if (line.type === 'tool_result') {
    const error = asMap(line.error)
    const [, name] = GEMINI_TURNED_AWAY.exec(toText(error.message)) ?? []
    return error.type === 'tool_not_registered' ? [makeTurnedAway('gemini', name ?? '')] : []
  }
  if (line.type !== 'result') return []
  if (line.status === 'error') return [{ type: 'gave_up', detail: toText(asMap(line.error).message) }]
  const stats = asMap(line.stats)
  const cacheRead = countOf(stats.cached)
  const input = Math.max(0, countOf(stats.input_tokens) - cacheRead)
  return [{ type: 'usage', input, output: countOf(stats.output_tokens), cacheRead, cacheWrite: 0 }]
}

const GEMINI_TURNED_AWAY = /^Tool "(.{1,200}?)" not found/

const readOpencode: Read = (line) => {
  const part = asMap(line.part)
  if (line.type === 'tool_use') {
    const isAbsent = toText(asMap(part.state).error).startsWith(OPENCODE_TURNED_AWAY)
    return isAbsent ? [makeTurnedAway('opencode', toText(part.tool))] : []
  }
  if (line.type === 'text') return makeTold('text', `${toText(part.text)}\n`)
  if (line.type === 'reasoning') return makeTold('reasoning', toText(part.text))
  if (line.type === 'error') return [{ type: 'gave_up', detail: toText(asMap(asMap(line.error).data).message) }]
  if (line.type !== 'step_finish') return []
  const tokens = asMap(part.tokens)
  const cache = asMap(tokens.cache)
  return [
    {
      type: 'usage',
      input: countOf(tokens.input),
      output: countOf(tokens.output) + countOf(tokens.reasoning),
      cacheRead: countOf(cache.read),
      cacheWrite: countOf(cache.write),
    },
  ]
}

const OPENCODE_TURNED_AWAY = 'Model tried to call unavailable tool'

/** An unknown tool of Phaselock has its own name; one of the agent CLI may have the name of a tool of the contract. */
function makeTurnedAway(harness: 'codex' | 'gemini' | 'opencode', asked: string): OutputItem {
  const name = asked.replace(/[^\w.-]/g, '_')
  const ours = OURS[harness].exec(name)?.[1]
  return { type: 'turned_away', name: ours ?? `${harness}.${name}` }
}

const OURS = {
  codex: new RegExp(`^mcp__${SERVER}_{0,2}(.+)$`),
  gemini: new RegExp(`^mcp_${SERVER}_(.+)$`),
  opencode: new RegExp(`^${SERVER}_(.+)$`),
}

function toUsage(usage: JsonObject, output: number): OutputItem {
  return {
    type: 'usage',
    input: countOf(usage.input_tokens),
    output,
    cacheRead: countOf(usage.cache_read_input_tokens),
    cacheWrite: countOf(usage.cache_creation_input_tokens),
  }
}

function makeTold(type: 'text' | 'reasoning', text: string): readonly OutputItem[] {
  return text.trim() === '' && type === 'reasoning' ? [] : [{ type, text }]
}

function asMap(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value.toWellFormed() : ''
}

/** The agent writes it: an invalid or absurd number is ignored. */
function countOf(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= COUNT_MAX ? value : 0
}

const COUNT_MAX = 1_000_000_000
