import { type ModelLimits, makeModelParticipant } from './model/model-participant.js'
import type { Participant } from './participant.js'
import type { ModelAgent, ScriptedAgent } from './read-agents.js'
import { makeScriptedParticipant } from './scripted-participant.js'

type OpenResult =
  | { readonly ok: true; readonly participant: Participant }
  | { readonly ok: false; readonly message: string; readonly remedy: string }

/** The participant of an agent that Phaselock prompts. The key is read from `env` once, here. */
export function openParticipant(
  agent: ModelAgent | ScriptedAgent,
  env: Readonly<Record<string, string | undefined>>,
  limits: Partial<ModelLimits> = {},
): OpenResult {
  if (agent.kind === 'scripted') return { ok: true, participant: makeScriptedParticipant(agent) }
  const { id, provider, baseUrl, model, takesToolErrors, maxOutputTokens } = agent
  const key = findApiKey(agent, env)
  if (typeof key === 'object' && key !== null) return { ok: false, ...key }
  const options = { id, provider, baseUrl, model, takesToolErrors, limits, apiKey: key }
  return {
    ok: true,
    participant: makeModelParticipant(maxOutputTokens === null ? options : { ...options, maxOutputTokens }),
  }
}

type KeyProblem = { readonly message: string; readonly remedy: string }

function findApiKey(
  { id, apiKeyEnv }: ModelAgent,
  env: Readonly<Record<string, string | undefined>>,
): string | null | KeyProblem {
  if (apiKeyEnv === null) return null
  const key = ((Object.hasOwn(env, apiKeyEnv) ? env[apiKeyEnv] : undefined) ?? '').trim()
  const variable = `The environment variable ${apiKeyEnv}, which holds the key of agent '${id}',`
  if (key === '')
    return { message: `${variable} is not set.`, remedy: `Set ${apiKeyEnv}, or name another with api_key_env.` }
  // Header values are visible characters; anything else would be refused later, with a message that quotes it.
  if (!/^[\x21-\x7e]+$/.test(key))
    return { message: `${variable} contains more than a key.`, remedy: 'Set it to the key alone.' }
  return key
}
