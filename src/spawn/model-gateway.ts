import { findBaseUrlProblem } from '../gateway/relay-request.js'

/** The only model endpoint that an agent can reach, and how its key is added. */
export interface ModelEndpoint {
  readonly baseUrl: string
  /** The variables that the agent reads the address from. */
  readonly variables: readonly string[]
  /** Added outside the sandbox, where the agent does not see them. */
  readonly headers: Readonly<Record<string, string>>
  /** Placeholders for the keys: most clients do not start without one. */
  readonly stands: Readonly<Record<string, string>>
}

type Variables = Readonly<Record<string, string>>

interface Key {
  readonly variable: string
  readonly header: (value: string) => Readonly<Record<string, string>>
}

interface Endpoint {
  readonly variable: string
  readonly usual: string
  /** The first one that is set is used. */
  readonly keys: readonly Key[]
}

const STAND_IN = 'added-by-phaselock'
const makeBearerHeader = (value: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${value}` })

const ANTHROPIC: Endpoint = {
  variable: 'ANTHROPIC_BASE_URL',
  usual: 'https://api.anthropic.com',
  keys: [
    { variable: 'ANTHROPIC_API_KEY', header: (value) => ({ 'x-api-key': value }) },
    { variable: 'ANTHROPIC_AUTH_TOKEN', header: makeBearerHeader },
    { variable: 'CLAUDE_CODE_OAUTH_TOKEN', header: makeBearerHeader },
  ],
}
const OPENAI: Endpoint = {
  variable: 'OPENAI_BASE_URL',
  usual: 'https://api.openai.com/v1',
  keys: [{ variable: 'OPENAI_API_KEY', header: makeBearerHeader }],
}
const GEMINI: Endpoint = {
  variable: 'GOOGLE_GEMINI_BASE_URL',
  usual: 'https://generativelanguage.googleapis.com',
  keys: [{ variable: 'GEMINI_API_KEY', header: (value) => ({ 'x-goog-api-key': value }) }],
}

const USUAL: Readonly<Record<string, Endpoint>> = {
  'claude-code': ANTHROPIC,
  codex: OPENAI,
  gemini: GEMINI,
  opencode: OPENAI,
}

/** Every variable with a model key: never passed into the sandbox if the relay adds the key. */
export const KEY_VARIABLES: readonly string[] = [ANTHROPIC, OPENAI, GEMINI].flatMap(({ keys }) =>
  keys.map((key) => key.variable),
)

/**
 * The model address of an agent: for a known agent CLI its default or a variable's value, for other programs only the
 * variable's.
 */
export function findModelEndpoint(
  harness: string,
  variables: Variables,
): ModelEndpoint | { readonly problem: string } | null {
  const known = USUAL[harness]
  const endpoint = known ?? [ANTHROPIC, OPENAI, GEMINI].find(({ variable }) => isSet(variables[variable]))
  if (endpoint === undefined) return null
  const given = variables[endpoint.variable]
  const baseUrl = isSet(given) ? given : endpoint.usual
  const problem = findBaseUrlProblem(baseUrl)
  if (problem !== null) return { problem: `${endpoint.variable} ${problem}` }
  const key = endpoint.keys.find(({ variable }) => isSet(variables[variable]))
  const value = key === undefined ? '' : (variables[key.variable] ?? '')
  return {
    baseUrl,
    variables: [endpoint.variable],
    headers: key === undefined ? {} : key.header(value),
    stands: key === undefined ? {} : { [key.variable]: STAND_IN },
  }
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}
