import { isObject, type Json } from '../core/json.js'
import { AgentFields, type AgentProblem, describeKind, reportInto, shortenText } from './agent-fields.js'
import type { Provider } from './model/model-participant.js'
import type { ScriptStep } from './scripted-participant.js'

export type ModelAgent = {
  readonly id: string
  readonly kind: 'model'
  readonly provider: Provider
  readonly baseUrl: string
  readonly model: string
  /** The environment variable with the key; null if none is sent. */
  readonly apiKeyEnv: string | null
  readonly maxOutputTokens: number | null
  readonly takesToolErrors: boolean
}

export type CommandAgent = {
  readonly id: string
  readonly kind: 'command'
  readonly harness: Harness
  /** The program, if the harness is `command`. */
  readonly command: string | null
  readonly args: readonly string[]
  readonly model: string | null
}

type RemoteAgent = {
  readonly id: string
  readonly kind: 'remote'
}

export type ScriptedAgent = {
  readonly id: string
  readonly kind: 'scripted'
  readonly script: readonly ScriptStep[]
  readonly takesToolErrors: boolean
}

export type CouncilAgent = ModelAgent | CommandAgent | RemoteAgent | ScriptedAgent

type AgentsRead =
  | { readonly ok: true; readonly agents: readonly CouncilAgent[] }
  | { readonly ok: false; readonly problems: readonly AgentProblem[] }

const KINDS = ['model', 'command', 'remote', 'scripted'] as const
const PROVIDERS = ['openai-compatible', 'anthropic'] as const
const HARNESSES = ['claude-code', 'codex', 'gemini', 'opencode', 'command'] as const
type Harness = (typeof HARNESSES)[number]

const ID = /^[A-Za-z0-9_.-]{1,64}$/
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
const ANTHROPIC_URL = 'https://api.anthropic.com/v1'
const ANTHROPIC_KEY_ENV = 'ANTHROPIC_API_KEY'
const AGENTS_MAX = 64
const ARGS_MAX = 100
const STEPS_MAX = 1_000
const CALLS_MAX = 64
const DELAY_MS_MAX = 600_000
const OUTPUT_TOKENS_MAX = 1_000_000

/**
 * The `agents` of a council, from YAML or JSON. All problems are reported at once; one of them refuses the whole list.
 */
export function readAgents(value: Json | undefined): AgentsRead {
  const problems: AgentProblem[] = []
  const report = reportInto(problems)
  if (!Array.isArray(value) || value.length === 0) {
    const found = Array.isArray(value) ? 'an empty one' : describeKind(value)
    const remedy = 'List at least one agent, for example {id: a, kind: remote}.'
    return { ok: false, problems: [{ path: 'agents', message: `Expected a list of agents, found ${found}.`, remedy }] }
  }
  const all = new AgentFields({ agents: value }, '', report).listMaps('agents', AGENTS_MAX)
  const taken = new Set<string>()
  const agents = all.flatMap((fields) => {
    const id = readId(fields, taken)
    return readAgent(fields, id)
  })
  return problems.length === 0 ? { ok: true, agents } : { ok: false, problems }
}

function readId(fields: AgentFields, taken: Set<string>): string {
  const id = fields.needText('id', 'a')
  if (id.trim() !== '' && !ID.test(id))
    fields.reportBad('id', `The id ${shortenText(id)} is not accepted.`, 'Use 1 to 64 of A-Z, a-z, 0-9, _, . and -.')
  if (taken.has(id) && id !== '')
    fields.reportBad('id', `There are two agents ${shortenText(id)}.`, 'Give each its own id.')
  taken.add(id)
  return id
}

function readAgent(fields: AgentFields, id: string): readonly CouncilAgent[] {
  if (!fields.has('kind')) fields.needText('kind', 'model')
  const kind = fields.choice('kind', KINDS)
  if (kind === 'model') return readModel(fields, id)
  if (kind === 'command') return readCommand(fields, id)
  if (kind === 'scripted') return readScripted(fields, id)
  if (kind === 'remote') fields.checkKeys(['id', 'kind'])
  return kind === 'remote' ? [{ id, kind }] : []
}

function readModel(fields: AgentFields, id: string): readonly CouncilAgent[] {
  const own = ['provider', 'base_url', 'model', 'api_key_env', 'max_output_tokens', 'takes_tool_errors']
  fields.checkKeys(['id', 'kind', ...own])
  if (!fields.has('provider')) fields.needText('provider', 'openai-compatible')
  const provider = fields.choice('provider', PROVIDERS)
  const model = fields.needText('model', provider === 'anthropic' ? 'claude-sonnet-4-5' : 'llama3')
  const maxOutputTokens = fields.getWhole('max_output_tokens', 1, OUTPUT_TOKENS_MAX)
  const takesToolErrors = fields.getFlag('takes_tool_errors', true)
  if (provider === null) return []
  const baseUrl = readBaseUrl(fields, provider)
  const apiKeyEnv = readKeyEnv(fields, provider)
  return [{ id, kind: 'model', provider, baseUrl, model, apiKeyEnv, maxOutputTokens, takesToolErrors }]
}

function readBaseUrl(fields: AgentFields, provider: Provider): string {
  if (provider === 'anthropic' && !fields.has('base_url')) return ANTHROPIC_URL
  const text = fields.needText('base_url', '"http://127.0.0.1:11434/v1"')
  if (text.trim() === '') return ''
  const remedy = 'Write an address as "http://127.0.0.1:11434/v1".'
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    fields.reportBad('base_url', `${shortenText(text)} is not an http or https address.`, remedy)
  } else if (url.username !== '' || url.password !== '') {
    // Not quoted: it holds a password.
    fields.reportBad('base_url', 'The address holds a user or a password.', 'Name a variable with api_key_env instead.')
  } else if (url.search !== '' || url.hash !== '') {
    fields.reportBad('base_url', 'The address has a query or a fragment.', remedy)
  }
  return text
}

function readKeyEnv(fields: AgentFields, provider: Provider): string | null {
  if (!fields.has('api_key_env')) {
    // The default key belongs to the default address: another server gets it only if the entry names it.
    return provider === 'anthropic' && !fields.has('base_url') ? ANTHROPIC_KEY_ENV : null
  }
  const name = fields.needText('api_key_env', 'OPENAI_API_KEY')
  if (name.trim() === '') return null
  // The value is not quoted: people write the key itself here.
  if (!ENV_NAME.test(name))
    fields.reportBad(
      'api_key_env',
      'This is not a valid name of an environment variable.',
      'Write the name, not the key itself.',
    )
  else if (/^PHASELOCK_/i.test(name))
    fields.reportBad('api_key_env', `${name} belongs to Phaselock and is never sent.`, 'Name a variable of your own.')
  return name
}

function readCommand(fields: AgentFields, id: string): readonly CouncilAgent[] {
  fields.checkKeys(['id', 'kind', 'harness', 'command', 'args', 'model'])
  if (!fields.has('harness')) fields.needText('harness', 'claude-code')
  const harness = fields.choice('harness', HARNESSES)
  const needsCommand = harness === 'command' || fields.has('command')
  const command = needsCommand ? fields.needText('command', 'my-agent') : null
  const model = fields.has('model') ? fields.needText('model', 'opus') : null
  const args = fields.list('args', ARGS_MAX).flatMap((arg, index) => {
    if (typeof arg === 'string') return [arg]
    fields.reportBad(
      `args[${index}]`,
      `Expected a text, found ${describeKind(arg)}.`,
      'Write a text; numbers in quotes.',
    )
    return []
  })
  return harness === null ? [] : [{ id, kind: 'command', harness, command, args, model }]
}

function readScripted(fields: AgentFields, id: string): readonly CouncilAgent[] {
  fields.checkKeys(['id', 'kind', 'script', 'takes_tool_errors'])
  const example = '[{text: "Thinking", tool_calls: [{name: new_answer, arguments: {content: "42"}}]}]'
  if (!fields.has('script'))
    fields.report(fields.path, "The field 'script' is missing.", `Add script, for example ${example}.`)
  const script = fields.listMaps('script', STEPS_MAX).map(readStep)
  return [{ id, kind: 'scripted', script, takesToolErrors: fields.getFlag('takes_tool_errors', true) }]
}

function readStep(step: AgentFields): ScriptStep {
  step.checkKeys(['delay_ms', 'text', 'tool_calls'])
  const toolCalls = step.listMaps('tool_calls', CALLS_MAX).map((call) => {
    call.checkKeys(['name', 'arguments'])
    const given = call.get('arguments') ?? {}
    // A text represents arguments that do not parse.
    if (!isObject(given) && typeof given !== 'string')
      call.reportBad(
        'arguments',
        `Expected a map of keys and values, found ${describeKind(given)}.`,
        'Write keys and values.',
      )
    return { name: call.needText('name', 'vote'), arguments: given }
  })
  return { delayMs: step.getWhole('delay_ms', 0, DELAY_MS_MAX) ?? 0, text: step.text('text') ?? '', toolCalls }
}
