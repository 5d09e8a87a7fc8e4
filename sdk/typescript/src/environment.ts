import { InvalidOptions } from './errors.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** The client's settings from the environment that the agent was started with. */
export function readEnvironment(given?: Environment): { url: string; token: string; agentId?: string } {
  const environment = given ?? processEnvironment()
  const url = needed(environment, 'PHASELOCK_URL')
  const token = needed(environment, 'PHASELOCK_TOKEN')
  const agentId = environment.PHASELOCK_AGENT_ID?.trim() ?? ''
  return agentId === '' ? { url, token } : { url, token, agentId }
}

function needed(environment: Environment, name: string): string {
  const value = environment[name]?.trim() ?? ''
  if (value === '') throw new InvalidOptions(`${name} is not set`)
  return value
}

// Some runtimes have no `process`.
function processEnvironment(): Environment {
  return (globalThis as { process?: { env?: Environment } }).process?.env ?? {}
}
